from dataclasses import replace

from bot.answer_filter import AnswerFilter
from bot.texts import get_texts
from core.messages import Answer, Outcome, ProposedAction
from knowledge.documents import DocumentId
from tests.fakes.evidence import build_hit

EN = get_texts("en")
SECRET = "Hx7#mm2024"
ANSWER = Answer(outcome=Outcome.ANSWERED, text=f"password: {SECRET} [1]")


async def find_owner(document_id: DocumentId) -> str:
    return f"owner of {document_id}"


async def test_the_owner_of_the_cited_page_is_named() -> None:
    hit = build_hit("text")
    reply = await AnswerFilter(find_owner).filter(ANSWER, [hit], "What is the password?")
    assert EN.page_owner in reply.answer.text
    private = replace(ANSWER, text="nothing", private_answer=ANSWER.text)
    reply = await AnswerFilter(find_owner).filter(private, [hit], "What is the password?")
    assert reply.answer.private_answer is not None
    assert f"owner of {hit.document_id}" in reply.answer.private_answer
    assert SECRET not in reply.answer.private_answer


async def test_a_draft_holds_no_secret_but_the_persons_own() -> None:
    action = ProposedAction(
        skill="send_email",
        params={"to": ["a@b.example"], "body": f"password: {SECRET}", "cc": ["token: q1w2e3r4"]},
    )
    draft = Answer(outcome=Outcome.PROPOSED, text="Draft", proposed_action=action)
    guard = AnswerFilter(find_owner)
    filtered = (await guard.filter(draft, [], "Mail them the password")).answer.proposed_action
    assert filtered is not None
    assert SECRET not in str(filtered.params)
    assert "q1w2e3r4" not in str(filtered.params)
    assert filtered.params["to"] == ["a@b.example"]
    own = await guard.filter(draft, [], f"Mail them: password: {SECRET} and token: q1w2e3r4")
    assert own.answer.proposed_action == action


async def test_a_harmless_answer_is_left_as_it_is() -> None:
    harmless = replace(ANSWER, text="Lunch is at noon. [1]")
    assert (await AnswerFilter(find_owner).filter(harmless, [], "Lunch?")).answer is harmless
