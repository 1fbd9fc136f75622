"""Who is told what: nothing that one listener may not read is ever said to them."""

from asyncio import to_thread

import pytest

from core.messages import Outcome
from knowledge.directory_import import import_directory
from tests.unit.bot.office import (
    DISK_QUESTION,
    FORMER,
    GROUPS,
    GUEST,
    HOTEL_QUESTION,
    HR,
    LEAVE_QUESTION,
    OPS,
    SALARY,
    SALARY_QUESTION,
    Office,
    ask,
    write_directory,
)

# The last ones have pages in common with what may be read, so that near pages are named.
SECRET_QUESTIONS = (
    SALARY_QUESTION,
    "薪酬带宽页面里写了什么？",
    "杭州办公室 L4 的薪酬带宽上限是多少？",
    "What is the upper end of the L4 salary band for build servers?",
)


@pytest.mark.parametrize("question", SECRET_QUESTIONS)
async def test_a_page_one_may_not_read_is_as_if_it_did_not_exist(
    office: Office, open_office: Office, question: str
) -> None:
    async with office.open() as product:
        refused = await ask(product, question, OPS)
    async with open_office.open() as product:
        unknown = await ask(product, question, OPS)
    assert refused.outcome is unknown.outcome is Outcome.NOT_FOUND
    assert refused.text == unknown.text
    assert refused.near_pages == unknown.near_pages
    assert not refused.citations
    assert refused.private_answer is None


async def test_whoever_may_read_it_is_answered_with_the_source(office: Office) -> None:
    async with office.open() as product:
        answer = await ask(product, SALARY_QUESTION, HR)
    assert answer.outcome is Outcome.ANSWERED
    assert SALARY in answer.text
    assert [one.document_id for one in answer.citations] == ["files:hr/薪酬带宽.md"]


@pytest.mark.parametrize("person", [GUEST, FORMER])
async def test_guests_and_people_who_left_are_told_nothing_of_the_members_pages(
    office: Office, person: str
) -> None:
    async with office.open() as product:
        for question in (LEAVE_QUESTION, DISK_QUESTION, SALARY_QUESTION):
            answer = await ask(product, question, person)
            assert answer.outcome is Outcome.NOT_FOUND
            assert not answer.near_pages


async def test_in_a_channel_what_one_listener_may_not_read_goes_to_the_asker_alone(
    office: Office,
) -> None:
    async with office.open() as product:
        asked_by_hr = await ask(product, SALARY_QUESTION, HR, in_="c-mixed")
        asked_by_ops = await ask(product, SALARY_QUESTION, OPS, in_="c-mixed")
    assert asked_by_hr.outcome is Outcome.NO_ACCESS
    assert asked_by_hr.text == asked_by_ops.text
    assert asked_by_hr.citations == asked_by_ops.citations == ()
    assert asked_by_hr.private_answer is not None
    assert SALARY in asked_by_hr.private_answer
    assert asked_by_ops.outcome is Outcome.NOT_FOUND
    assert asked_by_ops.private_answer is None


async def test_in_a_channel_the_public_part_is_said_and_the_rest_is_private(
    office: Office, open_office: Office
) -> None:
    async with office.open() as product:
        answer = await ask(product, HOTEL_QUESTION, HR, in_="c-mixed")
    async with open_office.open() as product:
        public = await ask(product, HOTEL_QUESTION, OPS)
    assert answer.outcome is Outcome.ANSWERED
    assert answer.text == public.text
    assert "480" in answer.text
    assert "650" not in answer.text
    assert [one.document_id for one in answer.citations] == ["files:handbook/差旅制度.md"]
    assert answer.private_answer is not None
    assert "650" in answer.private_answer


async def test_where_everybody_may_read_it_nothing_is_private(office: Office) -> None:
    async with office.open() as product:
        among_hr = await ask(product, SALARY_QUESTION, HR, in_="c-hr")
        common = await ask(product, LEAVE_QUESTION, HR, in_="c-mixed")
    assert SALARY in among_hr.text
    assert "5 天" in common.text
    for answer in (among_hr, common):
        assert answer.outcome is Outcome.ANSWERED
        assert answer.private_answer is None


async def test_the_operator_too_says_in_a_channel_only_what_all_may_read(office: Office) -> None:
    async with office.open() as product:
        alone = await ask(product, SALARY_QUESTION, None)
        in_channel = await ask(product, SALARY_QUESTION, None, in_="c-mixed")
    assert SALARY in alone.text
    assert SALARY not in in_channel.text
    assert in_channel.outcome is Outcome.NO_ACCESS


async def test_a_right_that_is_taken_away_holds_at_once_without_a_sync(office: Office) -> None:
    async with office.open() as product:
        assert SALARY in (await ask(product, SALARY_QUESTION, HR)).text
        write_directory(office.company, groups=GROUPS[1:])
        await import_directory(product.state.directory, office.company)
        answer = await ask(product, SALARY_QUESTION, HR)
    assert answer.outcome is Outcome.NOT_FOUND
    assert SALARY not in answer.text


async def test_an_access_file_that_is_narrowed_holds_after_the_next_sync(office: Office) -> None:
    async with office.open() as product:
        assert (await ask(product, LEAVE_QUESTION, OPS)).outcome is Outcome.ANSWERED
    (office.files / "handbook" / ".access.yaml").write_text("read:\n  - group:company/hr\n")
    assert (await to_thread(office.run_json, "sync"))["passages"]["embedded"] == 0
    async with office.open() as product:
        assert (await ask(product, LEAVE_QUESTION, OPS)).outcome is Outcome.NOT_FOUND
        assert (await ask(product, LEAVE_QUESTION, HR)).outcome is Outcome.ANSWERED


async def test_an_access_file_nobody_can_read_closes_its_folder(office: Office) -> None:
    (office.files / "handbook" / ".access.yaml").write_text("read: [group:\n")
    await to_thread(office.run_json, "sync")
    async with office.open() as product:
        assert (await ask(product, LEAVE_QUESTION, OPS)).outcome is Outcome.NOT_FOUND
        assert (await ask(product, DISK_QUESTION, OPS)).outcome is Outcome.ANSWERED
