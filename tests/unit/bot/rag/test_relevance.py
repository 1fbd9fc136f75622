"""A near page is not an answer: what is asked for may be gone, or not for this reader."""

from dataclasses import replace

import pytest

from bot.rag.answerer import Answerer
from bot.rag.replies import Reply
from core.messages import Outcome
from knowledge.analysis import Analyser
from knowledge.retrieval import Evidence
from tests.fakes.evidence import ANALYSER, build_evidence, build_retrieval

BONUS = build_evidence(
    "Grade K2 gets a parking space. Lockers are on the second floor.",
    title="Offices",
    scores={"vector": 0.79},
)
BONUS_ZH = build_evidence(
    "K2 级可以申请车位。储物柜在二楼。", title="办公", scores={"vector": 0.86}
)
NEAR = ("What is the upper salary band of grade K2?", BONUS)
NEAR_ZH = ("K2 的薪酬带宽上限是多少？", BONUS_ZH)
LEAVE = build_evidence(
    "Employees have 15 days of annual leave.", title="Leave", scores={"vector": 0.88}
)
LEAVE_ZH = build_evidence("员工每年有 15 天年假。", title="休假", scores={"vector": 0.91})


async def answer(question: str, evidence: Evidence, *, is_fitted: bool = True) -> Reply:
    retrieval = build_retrieval(question, [evidence])
    features = {"cosine": 0.9} if is_fitted else {}
    sufficiency = replace(retrieval.sufficiency, features=features)
    return await Answerer(ANALYSER).answer(question, replace(retrieval, sufficiency=sufficiency))


@pytest.mark.parametrize(("question", "evidence"), [NEAR, NEAR_ZH])
async def test_a_quote_that_shares_a_word_with_the_question_is_no_answer(
    question: str, evidence: Evidence
) -> None:
    reply = await answer(question, evidence)
    assert reply.answer.outcome is Outcome.NOT_FOUND
    assert reply.answer.citations == ()
    assert "the best quote hardly speaks of what is asked" in reply.notes


@pytest.mark.parametrize(
    ("question", "evidence"),
    [("How many days of annual leave do employees have?", LEAVE), ("员工年假有几天？", LEAVE_ZH)],
)
async def test_a_quote_that_speaks_of_the_matter_is_given(
    question: str, evidence: Evidence
) -> None:
    reply = await answer(question, evidence)
    assert reply.answer.outcome is Outcome.ANSWERED


async def test_a_quote_in_other_words_is_given_when_the_page_is_near_in_meaning() -> None:
    near = build_evidence(
        "Lost cards are replaced for a fee.", title="Offices", scores={"vector": 0.91}
    )
    reply = await answer("My badge went missing, must I pay for another card?", near)
    assert reply.answer.outcome is Outcome.ANSWERED


@pytest.mark.parametrize(("question", "evidence"), [NEAR, NEAR_ZH])
async def test_cosines_of_an_embedder_it_was_not_fitted_on_decide_nothing(
    question: str, evidence: Evidence
) -> None:
    reply = await answer(question, evidence, is_fitted=False)
    assert reply.answer.outcome is Outcome.ANSWERED


async def test_a_page_in_the_other_language_is_not_measured_by_its_words() -> None:
    reply = await answer("What is the upper salary band of grade K2?", BONUS_ZH)
    assert reply.answer.outcome is Outcome.ANSWERED


@pytest.mark.parametrize(
    ("question", "evidence", "group"),
    [
        (
            "How much is the kiosk deposit?",
            build_evidence("The kiosk deposit is EUR 40.", title="Kiosks", scores={"vector": 0.84}),
            ("kiosk", "terminal", "automat", "self-service lending desk"),
        ),
        (
            "自助机的押金是多少？",
            build_evidence("自助机的押金为 40 欧元。", title="设备", scores={"vector": 0.87}),
            ("自助机", "终端", "借还台", "self-service lending desk"),
        ),
    ],
)
async def test_synonyms_that_are_not_said_take_nothing_away(
    question: str, evidence: Evidence, group: tuple[str, ...]
) -> None:
    analyser = Analyser(synonyms=[group])
    retrieval = build_retrieval(question, [evidence])
    heavy = {
        term: 1.0 if term in ANALYSER.query_terms(question) else 9.0
        for term in analyser.query_terms(question)
    }
    sufficiency = replace(retrieval.sufficiency, features={"cosine": 0.9})
    retrieval = replace(retrieval, terms=heavy, sufficiency=sufficiency)
    reply = await Answerer(analyser).answer(question, retrieval)
    assert reply.answer.outcome is Outcome.ANSWERED
