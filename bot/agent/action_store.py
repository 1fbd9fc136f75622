"""The table of pending actions: every step is one conditional UPDATE, so nobody does it twice."""

import json
from collections.abc import Callable, Collection, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from sqlalchemy import (
    JSON,
    Column,
    ColumnElement,
    Integer,
    RowMapping,
    String,
    Table,
    Text,
    Update,
    and_,
    delete,
    or_,
    select,
    update,
)
from sqlalchemy.engine import Connection

from bot.agent.actions import ActionId, ActionState, PendingAction, canonical_json
from core.database import Database
from core.tables import UtcDateTime, insert_into, metadata

ACTIONS_KEPT_FOR = timedelta(days=30)

Alongside = Callable[[Connection], None]
"""What is done in the transaction of a step, if that step is taken."""

pending_actions = Table(
    "pending_actions",
    metadata,
    Column("action_id", String(64), primary_key=True),
    Column("skill", String(255), nullable=False),
    Column("parameters", Text, nullable=False),
    Column("parameters_hash", String(64), nullable=False),
    Column("skill_hash", String(64), nullable=False),
    Column("asker", String(255), nullable=False, index=True),
    Column("place", String(255), nullable=False),
    Column("deciders", JSON, nullable=False),
    Column("nonce", String(64), nullable=False),
    Column("idempotency_key", String(64), nullable=False, unique=True),
    Column("from_pages", JSON, nullable=False),
    Column("created_at", UtcDateTime, nullable=False),
    Column("expires_at", UtcDateTime, nullable=False, index=True),
    Column("state", String(16), nullable=False, index=True),
    Column("decided_by", String(255), nullable=False),
    Column("result", Text, nullable=False),
    Column("version", Integer, nullable=False, server_default="1"),
    Column("runs", Integer, nullable=False, server_default="0"),
    # Who does it, and by when that process must have told what became of it.
    Column("runner", String(255), nullable=False, server_default=""),
    Column("run_until", UtcDateTime),
)
_table = pending_actions.c


@dataclass(frozen=True, slots=True, kw_only=True)
class Run:
    """A process that begins to do an action.

    Attributes:
        until: After that it counts as dead if it has not told what became of it.
        nonce: For the buttons there will be; those that stand there now stop working.
    """

    runner: str
    until: datetime
    nonce: str


class ActionStore:
    """Keeps actions; moves them from state to state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, action: PendingAction, alongside: Sequence[Alongside]) -> bool:
        """Keep a new action; False when there is one of this id already."""

        def work(connection: Connection) -> bool:
            return _add(connection, action, alongside)

        return await self._database.write(work)

    async def replace(
        self,
        old: PendingAction,
        new: PendingAction,
        *,
        decided_by: str,
        now: datetime,
        alongside: Sequence[Alongside],
    ) -> bool:
        """Put a new draft in the place of one that is still undecided, both or neither."""
        is_open = and_(
            _is_in(old.action_id, (ActionState.PENDING,)),
            _table.nonce == old.nonce,
            _table.expires_at > now,
        )
        closing = _step(is_open, {"state": ActionState.REPLACED.value, "decided_by": decided_by})

        def work(connection: Connection) -> bool:
            if connection.execute(closing).rowcount != 1:
                return False
            return _add(connection, new, alongside)

        return await self._database.write(work)

    async def find(self, action_id: ActionId) -> PendingAction | None:
        """Return an action, or None when there is none of this id."""
        query = select(pending_actions).where(_table.action_id == action_id)

        def load(connection: Connection) -> PendingAction | None:
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else build_action(row)

        return await self._database.read(load)

    async def list_open(self, person: str) -> list[PendingAction]:
        """Return what somebody asked for or may decide and is not over, latest first."""
        still_open = [one.value for one in ActionState if not one.is_final]
        query = select(pending_actions).where(_table.state.in_(still_open))
        query = query.order_by(_table.created_at.desc(), _table.action_id)
        found = await self._database.read(
            lambda connection: [build_action(row) for row in connection.execute(query).mappings()]
        )
        return [one for one in found if person == one.asker or person in one.deciders]

    async def list_running(self) -> list[tuple[PendingAction, str, datetime | None]]:
        """Return what is being done, with who does it and until when, oldest first."""
        query = select(pending_actions).where(_table.state == ActionState.RUNNING.value)
        query = query.order_by(_table.created_at, _table.action_id)
        return await self._database.read(
            lambda connection: [
                (build_action(row), str(row["runner"]), row["run_until"])
                for row in connection.execute(query).mappings()
            ]
        )

    async def move(
        self,
        action: PendingAction,
        *,
        sources: Collection[ActionState],
        to: ActionState,
        alongside: Sequence[Alongside] = (),
        decided_by: str | None = None,
        result: str | None = None,
    ) -> bool:
        """Move an action on if it still is in one of the states; who gets True has moved it.

        Args:
            action: As the buttons that were pressed show it: its nonce must still be that one.
            sources: The states.
            to: The next state.
            alongside: Done with it.
            decided_by: Noted when given.
            result: Noted when given.
        """
        condition = and_(_is_in(action.action_id, sources), _table.nonce == action.nonce)
        values: dict[str, object] = {"state": to.value}
        if decided_by is not None:
            values["decided_by"] = decided_by
        if result is not None:
            values["result"] = result
        return await self._take_step(condition, values, alongside)

    async def begin(
        self,
        action: PendingAction,
        run: Run,
        *,
        alongside: Sequence[Alongside],
        decided_by: str,
        now: datetime,
    ) -> bool:
        """Let one process do an action that still is as given; who gets True does it.

        A draft must not have expired by now; what was done before does not expire.
        """
        condition = and_(_is_in(action.action_id, (action.state,)), _table.nonce == action.nonce)
        if action.state is ActionState.PENDING:
            condition = and_(condition, _table.expires_at > now)
        values: dict[str, object] = {
            "state": ActionState.RUNNING.value,
            "decided_by": decided_by,
            "runner": run.runner,
            "run_until": run.until,
            "nonce": run.nonce,
            "runs": action.runs + 1,
        }
        return await self._take_step(condition, values, alongside)

    async def end(
        self,
        action: PendingAction,
        *,
        to: ActionState,
        result: str,
        alongside: Sequence[Alongside],
    ) -> bool:
        """Note what became of a run, also when it was given up meanwhile; not of a later run."""
        condition = and_(
            _is_in(action.action_id, (ActionState.RUNNING, ActionState.UNKNOWN)),
            _table.runs == action.runs,
        )
        return await self._take_step(condition, {"state": to.value, "result": result}, alongside)

    async def expire(
        self, now: datetime, build_alongside: Callable[[PendingAction], Alongside]
    ) -> list[ActionId]:
        """Expire what nobody has decided in time; returns what this call has expired."""
        due = and_(_table.state == ActionState.PENDING.value, _table.expires_at <= now)
        query = select(pending_actions).where(due).order_by(_table.created_at).with_for_update()

        def work(connection: Connection) -> list[ActionId]:
            found = [build_action(row) for row in connection.execute(query).mappings()]
            for one in found:
                step = _step(
                    _is_in(one.action_id, (ActionState.PENDING,)),
                    {"state": ActionState.EXPIRED.value},
                )
                connection.execute(step)
                build_alongside(one)(connection)
            return [one.action_id for one in found]

        return await self._database.write(work)

    async def _take_step(
        self,
        condition: ColumnElement[bool],
        values: dict[str, object],
        alongside: Sequence[Alongside],
    ) -> bool:
        step = _step(condition, values)

        def work(connection: Connection) -> bool:
            if connection.execute(step).rowcount != 1:
                return False
            for one in alongside:
                one(connection)
            return True

        return await self._database.write(work)


def _is_in(action_id: ActionId, states: Collection[ActionState]) -> ColumnElement[bool]:
    return and_(
        _table.action_id == action_id, or_(*(_table.state == state.value for state in states))
    )


def _step(condition: ColumnElement[bool], values: dict[str, object]) -> Update:
    return update(pending_actions).where(condition).values(**values, version=_table.version + 1)


def _add(connection: Connection, action: PendingAction, alongside: Sequence[Alongside]) -> bool:
    values = {
        "action_id": action.action_id,
        "skill": action.skill,
        "parameters": canonical_json(action.parameters),
        "parameters_hash": action.parameters_hash,
        "skill_hash": action.skill_hash,
        "asker": action.asker,
        "place": action.place,
        "deciders": sorted(action.deciders),
        "nonce": action.nonce,
        "idempotency_key": action.idempotency_key,
        "from_pages": sorted(action.from_pages),
        "created_at": action.created_at,
        "expires_at": action.expires_at,
        "state": action.state.value,
        "decided_by": action.decided_by,
        "result": action.result,
        "version": action.version,
        "runs": action.runs,
    }
    statement = insert_into(connection, pending_actions).values(values)
    key = [_table.action_id]
    if connection.execute(statement.on_conflict_do_nothing(index_elements=key)).rowcount != 1:
        return False
    for one in alongside:
        one(connection)
    return True


async def purge_actions(database: Database, now: datetime) -> int:
    """Delete actions that are over for longer than they are kept, with their cards."""
    over = [one.value for one in ActionState if one.is_final]
    old = delete(pending_actions).where(
        _table.state.in_(over), _table.expires_at <= now - ACTIONS_KEPT_FOR
    )
    return await database.write(lambda connection: connection.execute(old).rowcount)


def build_action(row: RowMapping) -> PendingAction:
    """Return the action of a row."""
    return PendingAction(
        action_id=ActionId(row["action_id"]),
        skill=row["skill"],
        parameters=json.loads(row["parameters"]),
        skill_hash=row["skill_hash"],
        asker=row["asker"],
        place=row["place"],
        deciders=frozenset(row["deciders"]),
        nonce=row["nonce"],
        idempotency_key=row["idempotency_key"],
        from_pages=frozenset(row["from_pages"]),
        created_at=row["created_at"],
        expires_at=row["expires_at"],
        state=ActionState(row["state"]),
        decided_by=row["decided_by"],
        result=row["result"],
        version=row["version"],
        runs=row["runs"],
    )
