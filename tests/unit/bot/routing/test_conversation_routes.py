"""What becomes of ways: no answer is lost to small talk, what is too vague is asked back."""

from dataclasses import dataclass, replace

import pytest

from bot.conversation import Conversation
from bot.routing import Route, Routing
from bot.texts import get_texts
from bot.trace_steps import TraceSteps
from core.messages import Answer, Outcome
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office

VAGUE = "qwerty asdf zxcv"


@dataclass(frozen=True)
class _FixedRouter:
    routing: Routing

    async def route(self, question: str, *, leans_on_earlier: bool) -> Routing:  # noqa: ARG002
        return self.routing

    async def settle(
        self,
        routing: Routing,
        question: str,  # noqa: ARG002
        steps: TraceSteps,  # noqa: ARG002
    ) -> Routing:
        return routing

    def start(self) -> None:
        return None

    async def close(self) -> None:
        return None


def _doubt(route: Route) -> Routing:
    return Routing(
        route=Route.FAQ,
        reason=f"searched, though it may be {route}",
        confidence=0.3,
        by="examples",
        is_sure=False,
        if_nothing=route,
    )


async def _ask(office: Office, question: str, routing: Routing) -> Answer:
    async with office.open() as product:
        parts = replace(product.conversation.parts, router=_FixedRouter(routing))
        return await Conversation(parts).ask(question, await product.resolve_reader(as_=OPS))


@pytest.mark.parametrize("route", [Route.CHITCHAT, Route.HELP, Route.CLARIFY])
async def test_an_answer_that_pages_hold_is_not_lost_to_small_talk(
    office: Office, route: Route
) -> None:
    answer = await _ask(office, LEAVE_QUESTION, _doubt(route))
    assert answer.outcome is Outcome.ANSWERED
    assert answer.route == Route.FAQ


async def test_where_nothing_is_found_a_vague_message_is_asked_back(office: Office) -> None:
    answer = await _ask(office, VAGUE, _doubt(Route.CLARIFY))
    assert answer.outcome is Outcome.CLARIFY
    assert answer.text == get_texts("en").too_vague


async def test_a_clear_question_without_an_answer_is_not_found(office: Office) -> None:
    clear = Routing(route=Route.FAQ, reason="clear", confidence=0.9, by="examples")
    assert (await _ask(office, VAGUE, clear)).outcome is Outcome.NOT_FOUND


async def test_the_trace_tells_way_reason_and_confidence(office: Office) -> None:
    async with office.open() as product:
        reader = await product.resolve_reader(as_=OPS)
        answer = await product.conversation.ask("Hello!", reader)
        trace = await product.state.traces.get(answer.trace_id)
    assert trace.route == Route.CHITCHAT
    assert "chitchat: greeting (rules, 1.00)" in str(trace.payload["steps"])
