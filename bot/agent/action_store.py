"""The table of pending actions: every step is one conditional UPDATE, so nobody does it twice."""

import json
from collections.abc import Collection
from datetime import datetime

from sqlalchemy import JSON, Column, RowMapping, String, Table, Text, and_, select, update
from sqlalchemy.engine import Connection

from bot.agent.actions import ActionId, ActionState, PendingAction, canonical_json
from core.database import Database
from core.tables import UtcDateTime, metadata

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
)


class ActionStore:
    """Keeps actions; moves them from state to state."""

    def __init__(self, database: Database) -> None:
        self._database = database

    async def add(self, action: PendingAction) -> None:
        """Keep a new action."""
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
        }
        await self._database.write(
            lambda connection: connection.execute(pending_actions.insert().values(values))
        )

    async def find(self, action_id: ActionId) -> PendingAction | None:
        """Return an action, or None when there is none of this id."""
        query = select(pending_actions).where(pending_actions.c.action_id == action_id)

        def load(connection: Connection) -> PendingAction | None:
            row = connection.execute(query).mappings().one_or_none()
            return None if row is None else _build(row)

        return await self._database.read(load)

    async def list_in(self, state: ActionState) -> list[PendingAction]:
        """Return all actions in a state, oldest first."""
        table = pending_actions.c
        query = select(pending_actions).where(table.state == state.value)
        query = query.order_by(table.created_at, table.action_id)
        return await self._database.read(
            lambda connection: [_build(row) for row in connection.execute(query).mappings()]
        )

    async def move(
        self,
        action_id: ActionId,
        *,
        sources: Collection[ActionState],
        to: ActionState,
        nonce: str | None = None,
        not_after: datetime | None = None,
        decided_by: str | None = None,
        result: str | None = None,
    ) -> bool:
        """Move an action on if it still is in one of the states; who gets True has moved it.

        Args:
            nonce: Must be the action's; None = not asked for.
            not_after: The action must not have expired by then.
            decided_by: Noted when given.
            result: Noted when given.
        """
        table = pending_actions.c
        conditions = [
            table.action_id == action_id,
            table.state.in_([state.value for state in sources]),
        ]
        if nonce is not None:
            conditions.append(table.nonce == nonce)
        if not_after is not None:
            conditions.append(table.expires_at > not_after)
        values: dict[str, str] = {"state": to.value}
        if decided_by is not None:
            values["decided_by"] = decided_by
        if result is not None:
            values["result"] = result
        statement = update(pending_actions).where(and_(*conditions)).values(values)
        return await self._database.write(
            lambda connection: connection.execute(statement).rowcount == 1
        )

    async def expire(self, now: datetime) -> list[ActionId]:
        """Expire what nobody has decided in time; returns what has."""
        table = pending_actions.c
        due = and_(table.state == ActionState.PENDING.value, table.expires_at <= now)

        def work(connection: Connection) -> list[ActionId]:
            ids = list(connection.scalars(select(table.action_id).where(due)))
            connection.execute(
                update(pending_actions).where(due).values(state=ActionState.EXPIRED.value)
            )
            return [ActionId(one) for one in ids]

        return await self._database.write(work)


def _build(row: RowMapping) -> PendingAction:
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
    )
