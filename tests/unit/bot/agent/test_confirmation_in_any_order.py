"""Whatever order of clicks, restarts, time-outs and repetitions: nothing is done twice or lost."""

import asyncio
import shutil
from collections import Counter, defaultdict
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any, ClassVar

import pytest
from hypothesis import settings
from hypothesis import strategies as st
from hypothesis.stateful import (
    RuleBasedStateMachine,
    initialize,
    invariant,
    precondition,
    rule,
    run_state_machine_as_test,
)
from pydantic import JsonValue
from sqlalchemy import Connection, select

from bot.agent.action_store import ActionStore, build_action, pending_actions
from bot.agent.actions import ActionId, ActionState, Parameters, PendingAction
from bot.agent.audit import AuditLog
from bot.agent.card_store import CardPlace, CardStore, action_cards
from bot.agent.confirmation import Confirmation
from bot.agent.verdicts import Decision
from bot.agent.write_skill import SkillResult
from core.database import Database, open_database

PEOPLE = ("anna", "bo", "cy")
ASKER = PEOPLE[0]
DEADLINE = timedelta(minutes=5)
# What may follow what, by the event that leads there.
NEXT: Mapping[str, frozenset[str]] = {
    "": frozenset({"proposed"}),
    "proposed": frozenset({"confirmed", "rejected", "replaced", "expired", "voided"}),
    "confirmed": frozenset({"done", "failed", "unknown", "interrupted"}),
    "repeated": frozenset({"done", "failed", "unknown", "interrupted"}),
    "unknown": frozenset({"arrived", "not_arrived", "repeated"}),
    "interrupted": frozenset({"arrived", "not_arrived", "repeated"}),
}
STATES: Mapping[str, ActionState] = {
    "proposed": ActionState.PENDING,
    "confirmed": ActionState.RUNNING,
    "repeated": ActionState.RUNNING,
    "done": ActionState.DONE,
    "arrived": ActionState.DONE,
    "failed": ActionState.FAILED,
    "not_arrived": ActionState.FAILED,
    "unknown": ActionState.UNKNOWN,
    "interrupted": ActionState.UNKNOWN,
    "rejected": ActionState.REJECTED,
    "replaced": ActionState.REPLACED,
    "expired": ActionState.EXPIRED,
    "voided": ActionState.VOID,
}


class KilledError(BaseException):
    """The process ends here, as far as everything after it can tell."""


@dataclass
class Clock:
    moment: datetime = datetime(2026, 3, 2, 9, tzinfo=UTC)

    def now(self) -> datetime:
        return self.moment


@dataclass
class LetterSkill:
    """Writes letters into the world, and then may tell, be silent or end with its process."""

    effects: Counter[str] = field(default_factory=Counter)
    ending: str = "done"
    definition_hash: str = "v1"
    name: str = "letter"

    def normalise(self, parameters: Mapping[str, JsonValue]) -> Parameters:
        return dict(parameters)

    async def run(self, parameters: Parameters, *, idempotency_key: str) -> SkillResult:
        assert parameters
        ending = self.ending
        self.effects[idempotency_key] += 1
        await asyncio.sleep(0)
        match ending:
            case "killed":
                raise KilledError
            case "silent":
                await asyncio.sleep(60)
            case "broken":
                raise RuntimeError(ending)
        return SkillResult(state=ActionState(ending), text=ending)


@dataclass(frozen=True)
class Button:
    action_id: ActionId
    nonce: str


clicks = st.tuples(
    st.sampled_from(["confirm", "again", "edit", "confirm", "reject", "arrived", "not_arrived"]),
    st.sampled_from(PEOPLE),
    # Counted from the latest button.
    st.integers(0, 5),
)
ENDINGS = st.sampled_from(["done", "failed", "unknown", "silent", "broken", "killed"])


class Desk(RuleBasedStateMachine):
    """Two processes at work on the same actions."""

    template: ClassVar[Path]

    def __init__(self) -> None:
        super().__init__()
        self.folder = TemporaryDirectory()
        path = Path(self.folder.name) / "state.sqlite3"
        shutil.copy(self.template, path)
        self.loop = asyncio.Runner()
        self.database: Database = self.run(open_database(f"sqlite:///{path}"))
        self.clock, self.skill = Clock(), LetterSkill()
        self.buttons: list[Button] = []
        self.edits = 0

    def run(self, work: Awaitable[Any]) -> Any:
        async def wait() -> Any:
            return await work

        return self.loop.run(wait())

    @property
    def audit(self) -> AuditLog:
        return AuditLog(self.database, self.clock, b"k" * 32)

    def open_cards(self) -> CardStore:
        return CardStore(self.database, self.clock, platform="slack")

    @initialize()
    def start(self) -> None:
        self.restart()

    @rule()
    def restart(self) -> None:
        """Begin anew; what was known in memory is gone."""
        self.processes = [
            Confirmation(
                ActionStore(self.database),
                self.audit,
                {"letter": self.skill},
                self.clock,
                run_timeout_s=0.01,
            )
            for _ in range(2)
        ]
        self.cards = self.open_cards()

    @rule(needs_second=st.booleans(), twice=st.booleans())
    def propose(self, *, needs_second: bool, twice: bool) -> None:
        chosen = ActionId(f"{len(self.buttons):032d}")
        for process in self.processes[: 1 + twice]:
            action = self.run(
                process.propose(
                    "letter",
                    {"text": "hello"},
                    asker=ASKER,
                    place="dm",
                    deciders=PEOPLE[1:] if needs_second else (),
                    action_id=chosen,
                    announce=self.announce,
                )
            )
        self.remember(action)

    @precondition(lambda self: self.buttons)
    @rule(several=st.lists(clicks, min_size=1, max_size=3), times=st.integers(1, 3), ending=ENDINGS)
    def press(self, several: list[tuple[str, str, int]], times: int, ending: str) -> None:
        """Press buttons at the same time, old and new ones, in both processes, repeatedly."""
        self.skill.ending = ending
        several = several * times

        async def press_all() -> list[Any]:
            works = [
                self.press_one(self.processes[number % 2], *click)
                for number, click in enumerate(several)
            ]
            return await asyncio.gather(*works, return_exceptions=True)

        for decision in self.run(press_all()):
            if isinstance(decision, Decision):
                if decision.action is not None:
                    self.remember(decision.action)
            elif not isinstance(decision, KilledError):
                raise decision
        self.run(self.look_up_buttons())

    async def press_one(
        self, process: Confirmation, kind: str, person: str, number: int
    ) -> Decision:
        button = self.buttons[-1 - number % len(self.buttons)]
        where = (button.action_id, button.nonce, person)
        steps: dict[str, Callable[[], Awaitable[Decision]]] = {
            "confirm": partial(process.confirm, *where),
            "reject": partial(process.reject, *where),
            "again": partial(process.send_again, *where),
            "arrived": partial(process.settle_unknown, *where, has_arrived=True),
            "not_arrived": partial(process.settle_unknown, *where, has_arrived=False),
        }
        if kind != "edit":
            return await steps[kind]()
        self.edits += 1
        return await process.edit(
            *where,
            {"text": f"edit {self.edits}"},
            fresh_id=ActionId(f"edit{self.edits:028d}"),
            announce=self.announce,
        )

    @rule(minutes=st.sampled_from([1, 6, 31]))
    def wait(self, minutes: int) -> None:
        self.clock.moment += timedelta(minutes=minutes)

    @rule(both=st.booleans())
    def expire(self, *, both: bool) -> None:
        async def expire() -> None:
            await asyncio.gather(*(one.expire() for one in self.processes[: 1 + both]))

        self.run(expire())

    @rule()
    def recover(self) -> None:
        async def recover() -> None:
            await asyncio.gather(*(one.recover() for one in self.processes))

        self.run(recover())
        self.run(self.look_up_buttons())

    @rule()
    def change_the_skill(self) -> None:
        self.skill.definition_hash += "'"

    @rule(outcome=st.sampled_from(["shown", "put off", "killed"]))
    def refresh_cards(self, outcome: str) -> None:
        async def refresh() -> None:
            for card in await self.cards.claim_stale():
                if outcome == "shown":
                    await self.cards.save_posts(card, "D1", ["1.0"])
                    await self.cards.note_shown(card)
                elif outcome == "put off":
                    await self.cards.put_off(card, seconds=30)

        self.run(refresh())

    @invariant()
    def what_was_done_is_what_was_confirmed(self) -> None:
        self.check()

    def teardown(self) -> None:
        self.clock.moment += timedelta(hours=1)
        self.expire(both=True)
        self.recover()
        self.refresh_cards("shown")
        self.check()
        for action in self.load():
            assert action.state.is_final or action.state is ActionState.UNKNOWN
        query = select(action_cards.c.shown_version, pending_actions.c.version).join_from(
            action_cards, pending_actions
        )
        rows = self.run(
            self.database.read(lambda connection: [tuple(one) for one in connection.execute(query)])
        )
        assert all(shown == version for shown, version in rows)
        assert len(rows) == len(self.load())
        self.run(self.database.close())
        self.loop.close()
        self.folder.cleanup()

    def check(self) -> None:
        assert self.run(self.audit.verify()).broken_at is None
        events = defaultdict(list)
        for entry in self.run(self.audit.load()):
            events[str(entry.details["action"])].append((entry.event, entry.details["person"]))
        actions = self.load()
        # None is lost, and none was made by nobody.
        assert {one.action_id for one in actions} == events.keys()
        for action in actions:
            self.check_story(action, [*events[action.action_id]])
        replaced = sum(action.state is ActionState.REPLACED for action in actions)
        assert replaced == sum(action.action_id.startswith("edit") for action in actions)

    def check_story(self, action: PendingAction, story: list[tuple[str, JsonValue]]) -> None:
        last = ""
        begun = 0
        for event, person in story:
            if event in {"done", "failed", "unknown"} and last not in {"confirmed", "repeated"}:
                # A run that was given up, and told later what became of it.
                assert "interrupted" in {name for name, _ in story}
                continue
            assert event in NEXT.get(last, ()), story
            if event in {"confirmed", "repeated"}:
                assert person in action.deciders
                begun += 1
            if event == "replaced":
                assert person == ASKER
            last = event
        assert self.skill.effects[action.idempotency_key] == begun == action.runs
        assert action.state is STATES[last], story

    def announce(self, action_id: ActionId) -> Callable[[Any], None]:
        place = CardPlace(account="U1", language="en")
        return self.cards.build_announcement(action_id, [place])

    def remember(self, action: PendingAction) -> None:
        button = Button(action.action_id, action.nonce)
        if button not in self.buttons:
            self.buttons.append(button)

    async def look_up_buttons(self) -> None:
        """See the buttons that stand there now, also of actions whose process was killed."""
        for action in await self.load_async():
            self.remember(action)

    def load(self) -> list[PendingAction]:
        found: list[PendingAction] = self.run(self.load_async())
        return found

    async def load_async(self) -> list[PendingAction]:
        def load(connection: Connection) -> list[PendingAction]:
            rows = connection.execute(pending_actions.select()).mappings()
            return [build_action(row) for row in rows]

        return await self.database.read(load)


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a database with all tables, which need not be made anew for every run."""
    path = tmp_path_factory.mktemp("desk") / "template.sqlite3"

    async def make() -> None:
        database = await open_database(f"sqlite:///{path}")
        await database.purge()
        await database.close()

    asyncio.run(make())
    Desk.template = path
    return path


@pytest.mark.usefixtures("template")
def test_no_order_of_things_does_anything_twice_or_loses_it() -> None:
    run_state_machine_as_test(
        Desk, settings=settings(max_examples=15, stateful_step_count=20, deadline=None)
    )


@pytest.mark.slow
@pytest.mark.usefixtures("template")
def test_no_order_of_things_does_so_in_a_thousand_runs() -> None:
    run_state_machine_as_test(
        Desk, settings=settings(max_examples=1_000, stateful_step_count=25, deadline=None)
    )
