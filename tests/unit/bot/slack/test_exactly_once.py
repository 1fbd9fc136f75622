"""Each question is answered exactly once, whatever Slack and the network do."""

from collections import Counter

import pytest

from playground.slack.server import serve_slack
from playground.slack.workspace import Message
from tests.unit.bot.office import LEAVE_QUESTION, OPS, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    Workplace,
    build_workspace,
    is_placeholder,
    open_workplace,
    words_of,
)


def mention_many(workplace: Workplace, count: int) -> list[Message]:
    return [workplace.people.mention(OPS, MIXED, LEAVE_QUESTION) for _ in range(count)]


def check_each_answered_once(workplace: Workplace, questions: list[Message]) -> None:
    said = workplace.people.from_bot(MIXED)
    assert Counter(one.thread_ts for one in said) == Counter(one.ts for one in questions)
    assert not any(map(is_placeholder, said))
    assert all("5 天" in words_of(one) for one in said)
    assert workplace.slack.delivery.record.lost == []


async def test_a_hundred_mentions_delivered_three_times_each(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.deliveries = 3
        questions = mention_many(workplace, 100)
        await workplace.settle()
        check_each_answered_once(workplace, questions)


async def test_acknowledgements_that_get_lost(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.delivery.ack_timeout_s = 0.5
        workplace.slack.faults.unanswered_acks = 12
        questions = mention_many(workplace, 10)
        await workplace.settle()
        check_each_answered_once(workplace, questions)


async def test_a_socket_that_is_cut_and_one_that_is_refreshed(office: Office) -> None:
    async with open_workplace(office) as workplace:
        questions = mention_many(workplace, 15)
        await workplace.wait_until(lambda: len(workplace.people.from_bot(MIXED)) > 3)
        workplace.slack.delivery.sockets.drop()
        questions += mention_many(workplace, 5)
        await workplace.settle()
        await workplace.slack.delivery.sockets.disconnect("refresh_requested")
        questions += mention_many(workplace, 5)
        await workplace.settle()
        check_each_answered_once(workplace, questions)


async def test_calls_that_slack_asks_to_wait_for(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.limit = {"chat.postMessage": 4, "chat.update": 4, "users.list": 1}
        questions = mention_many(workplace, 8)
        await workplace.settle()
        check_each_answered_once(workplace, questions)


@pytest.mark.parametrize("method", ["chat.postMessage", "chat.update", "conversations.members"])
async def test_calls_that_fail_or_whose_reply_is_lost(office: Office, method: str) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.fail[method] = 2
        workplace.slack.faults.lose[method] = 3
        questions = mention_many(workplace, 6)
        await workplace.settle()
        check_each_answered_once(workplace, questions)


async def test_a_post_that_stays_in_doubt_ends_in_one_message(office: Office) -> None:
    async with open_workplace(office, lease_s=0.3) as workplace:
        workplace.slack.faults.fail["chat.postMessage"] = 9
        questions = mention_many(workplace, 1)
        await workplace.settle()
        assert len(workplace.people.from_bot(MIXED)) == len(questions)


async def test_two_processes_share_the_questions(office: Office) -> None:
    async with (
        serve_slack(build_workspace()) as slack,
        open_workplace(office, slack=slack) as first,
        open_workplace(office, slack=slack),
    ):
        await first.wait_until(lambda: slack.delivery.sockets.opened == 2)
        slack.faults.deliveries = 2
        questions = mention_many(first, 20)
        await first.settle()
        check_each_answered_once(first, questions)


async def test_what_a_stopped_process_left_is_answered_by_the_next(office: Office) -> None:
    async with serve_slack(build_workspace()) as slack:
        async with open_workplace(office, slack=slack, stop_timeout_s=0.0) as first:
            questions = mention_many(first, 10)
            await first.wait_until(lambda: len(slack.people.from_bot(MIXED)) > 2)
        async with open_workplace(office, slack=slack) as second:
            await second.settle()
            check_each_answered_once(second, questions)


async def test_a_process_that_is_told_to_stop_finishes_what_it_began(office: Office) -> None:
    async with serve_slack(build_workspace()) as slack:
        async with open_workplace(office, slack=slack) as first:
            questions = mention_many(first, 5)
            await slack.delivery.settle()
        said = slack.people.from_bot(MIXED)
        assert len(said) == len(questions)
        assert not any(map(is_placeholder, said))
