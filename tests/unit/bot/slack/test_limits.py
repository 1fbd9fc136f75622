"""Many questions at once: the others wait and are told so, very many are refused, none is lost."""

from playground.slack.server import serve_slack
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, Office
from tests.unit.bot.slack.workplace import (
    MIXED,
    Workplace,
    build_workspace,
    open_workplace,
    words_of,
)


def count(workplace: Workplace, word: str) -> int:
    return sum(word in words_of(one) for one in workplace.people.from_bot(MIXED))


async def test_over_the_limit_a_question_waits_and_is_answered(office: Office) -> None:
    async with open_workplace(
        office, questions_per_person=2, limit_window_s=2.5, waiting_per_person=2
    ) as workplace:
        for _ in range(5):
            workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
        await workplace.wait_until(lambda: count(workplace, "秒后开始处理") == 2)
        await workplace.wait_until(lambda: count(workplace, "没有接收") == 1)
        workplace.people.mention(HR, MIXED, LEAVE_QUESTION)
        await workplace.settle()
        assert count(workplace, "5 天") == 5
        assert count(workplace, "没有接收") == 1
        assert len(workplace.people.from_bot(MIXED)) == 6


async def test_processes_share_the_limit_and_take_over_those_that_wait(office: Office) -> None:
    limits = {"questions_per_channel": 1, "limit_window_s": 3.0}
    async with serve_slack(build_workspace()) as slack:
        async with open_workplace(office, slack=slack, **limits) as first:
            for _ in range(2):
                first.people.mention(OPS, MIXED, LEAVE_QUESTION)
            await first.wait_until(lambda: count(first, "秒后开始处理") == 1)
            await first.wait_until(lambda: count(first, "5 天") == 1)
        async with open_workplace(office, slack=slack, **limits) as second:
            assert count(second, "5 天") == 1
            await second.settle()
            assert count(second, "5 天") == 2
            assert len(second.people.from_bot(MIXED)) == 2


async def test_responses_wait_as_long_as_slack_asks(office: Office) -> None:
    async with open_workplace(office, rate_limit_retries=2) as workplace:
        workplace.slack.faults.limit["response_url"] = 2
        await workplace.people.slash(OPS, MIXED, "/kb 年假")
        await workplace.wait_until(
            lambda: any(one.ephemeral_to for one in workplace.people.messages(MIXED, viewer=OPS))
        )
