"""Every accepted question ends in a message that people see, also when all goes wrong."""

import asyncio

from bot.handlers.slack.api import open_slack_api
from bot.handlers.slack.publishing import Publisher
from bot.handlers.slack.rendering import render_answer
from bot.handlers.slack.roster import SYSTEM
from bot.inbox.questions import IncomingQuestion, Question
from bot.inbox.references import find_by_reference
from bot.inbox.store import Inbox
from core.clock import SystemClock
from core.messages import Answer, Outcome
from playground.slack.workspace import BOT_USER_ID
from tests.unit.bot.office import HR, LEAVE_QUESTION, OPS, SALARY, SALARY_QUESTION, Office
from tests.unit.bot.slack.answers import ANSWERS, NOW, cite
from tests.unit.bot.slack.workplace import MIXED, OPEN, Workplace, open_workplace, words_of


async def test_an_answer_that_takes_too_long_is_said_to_have_failed(office: Office) -> None:
    async with open_workplace(office, answer_timeout_s=0.000_001) as workplace:
        answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        assert "没能回答成功" in answer.text
        reference = answer.text.rsplit("：", 1)[1]
        found = await find_by_reference(workplace.product.state.database, reference)
    assert found is not None
    assert found.question.text == LEAVE_QUESTION
    told = await asyncio.to_thread(office.run_json, "trace", reference)
    assert told["chat"]["outcome"] == "failed"
    assert "TimeoutError" in told["chat"]["failure"]
    words = await asyncio.to_thread(office.run, "trace", reference)
    assert "failed: TimeoutError" in words.stdout
    others = await asyncio.to_thread(office.run, "trace", reference, "--as", OPS)
    assert others.exit_code != 0
    assert LEAVE_QUESTION not in others.output


async def test_an_answered_question_is_traced_by_its_reference_by_whoever_asked(
    office: Office,
) -> None:
    async with open_workplace(office) as workplace:
        await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        reference = str(await workplace.scalar("SELECT question_id FROM chat_questions"))[:12]
    told = await asyncio.to_thread(office.run_json, "trace", reference, "--as", OPS)
    assert told["chat"]["outcome"] == told["outcome"] == "answered"
    assert told["steps"]
    others = await asyncio.to_thread(office.run, "trace", reference, "--as", HR)
    assert LEAVE_QUESTION not in others.output
    unknown = await asyncio.to_thread(office.run, "trace", "0" * 12)
    assert "there is no trace" in str(unknown.exception)


async def test_blocks_that_slack_refuses_are_said_as_plain_text(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.refuse_blocks = 1
        answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        assert answer.blocks == []
        assert "5 天" in answer.text
        assert len(workplace.people.from_bot(MIXED)) == 1


async def test_a_placeholder_that_somebody_deleted_is_posted_anew(office: Office) -> None:
    async with open_workplace(office) as workplace:
        await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        room = workplace.slack.workspace.find_room(MIXED)
        answer = workplace.people.from_bot(MIXED)[0]
        room.messages.remove(answer)
        assert await workplace.people.press(OPS, answer, "answer_again")
        await workplace.wait_until(lambda: len(workplace.finished(MIXED)) == 1)


async def test_a_channel_that_was_closed_meanwhile_is_told_about_directly(office: Office) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.workspace.find_room(MIXED).is_archived = True
        workplace.people.mention(OPS, MIXED, LEAVE_QUESTION)
        await workplace.settle()
        [told] = workplace.people.from_bot("dm", viewer=OPS)
        assert "没能回答成功" in told.text


async def test_who_is_not_in_the_channel_is_told_directly_what_only_they_may_read(
    office: Office,
) -> None:
    async with open_workplace(office) as workplace:
        question = workplace.people.mention(HR, OPEN, SALARY_QUESTION)
        workplace.slack.workspace.find_room(OPEN).members.remove("U1")
        await workplace.settle()
        assert SALARY not in words_of(workplace.finished(OPEN)[0])
        assert workplace.finished(OPEN)[0].thread_ts == question.ts
        [told] = workplace.people.from_bot("dm", viewer=HR)
        assert SALARY in words_of(told)


async def test_without_word_from_slack_about_the_channel_only_what_is_public_is_said(
    office: Office,
) -> None:
    async with open_workplace(office) as workplace:
        workplace.slack.faults.fail["conversations.info"] = 99
        answer = await workplace.ask(OPS, MIXED, LEAVE_QUESTION)
        assert "5 天" not in words_of(answer)


async def accept(workplace: Workplace, inbox: Inbox) -> Question:
    root = workplace.people.say(OPS, MIXED, "root")
    incoming = IncomingQuestion(
        event_id="Ev-own",
        channel="C1",
        ts=root.ts,
        thread=root.ts,
        account="U3",
        text="?",
        is_direct=False,
    )
    question = await inbox.accept(incoming)
    assert question is not None
    return question


async def test_long_answers_arrive_whole_in_the_thread_and_shrink_again(office: Office) -> None:
    paragraphs = [f"第 {n} 段：" + "内容" * 100 for n in range(70)]
    long = Answer(
        outcome=Outcome.ANSWERED, text="\n\n".join(paragraphs), citations=(cite(1, "长"),)
    )
    tables, _ = ANSWERS["tables"]
    async with open_workplace(office) as workplace:
        state = workplace.product.state
        # Its clock is that of the process that serves, so nobody takes the question over.
        inbox = Inbox(state.database, SystemClock(), platform=SYSTEM, lease_s=600)
        async with open_slack_api(state.settings.slack) as api:
            publisher = Publisher(api, inbox, bot_user_id=BOT_USER_ID)
            question = await accept(workplace, inbox)
            posts: tuple[str, ...] = ()
            for answer, wanted in (
                (long, [*paragraphs, "1. 长"]),
                (tables, ["城市149", "值23", "完"]),
                (ANSWERS["cited-en-private"][0], ["120 EUR"]),
            ):
                messages = render_answer(
                    answer, question_id=question.question_id, language="zh", now=NOW
                )
                posts = await publisher.publish(question, posts, messages)
                said = workplace.people.from_bot(MIXED)
                assert [one.ts for one in said] == list(posts)
                assert all(one.thread_ts == question.thread for one in said)
                whole = "\n\n".join(words_of(one) for one in said)
                assert all(one in whole for one in wanted)
            assert len(posts) == 1
            await inbox.finish(question, outcome="answered", trace_id="")
