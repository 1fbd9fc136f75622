"""Both gates, with hits made by hand; the numbers themselves are fitted elsewhere."""

from collections.abc import Mapping, Sequence
from dataclasses import replace

import pytest

from knowledge.analysis import Analyser
from knowledge.documents import Hit, PassageId
from knowledge.ledger_records import TermStatistics
from knowledge.retrieval import Sufficiency
from knowledge.retrieval.coverage import LITTLE
from knowledge.retrieval.sufficiency import SECTIONS_READ, Judged, judge_sufficiency
from tests.unit.knowledge.retrieval.hit_samples import make_hit

ANALYSER = Analyser()
# Every word is as rare as the others.
STATISTICS = TermStatistics(rows=1000, average_length=20.0, document_frequency={})
NEAR, FAR = 0.95, 0.70


def hit_of(text: str, *, title: str = "Page", passage: str = "p") -> Hit:
    terms = " ".join(ANALYSER.index_terms(f"{title} {text}"))
    return make_hit(passage, 1.0, title=title, text=text, terms=terms)


def judge(
    question: str,
    hits: Sequence[Hit],
    *,
    cosine: float | None = None,
    sections: Mapping[PassageId, Hit] | None = None,
    foreign: Sequence[float] = (),
) -> Sufficiency:
    judged = Judged(
        question=question,
        terms=ANALYSER.query_terms(question),
        hits=hits,
        sections=sections or {},
        statistics=STATISTICS,
        cosine=cosine,
        foreign=foreign,
    )
    return judge_sufficiency(judged, ANALYSER)


def test_nothing_found_is_never_enough() -> None:
    judged = judge("How long is annual leave?", [], cosine=NEAR)
    assert (judged.is_enough, judged.confidence) == (False, 0.0)
    assert judged.reasons == ("nothing was found",)


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How many days of annual leave?", "Annual leave is fifteen days a year."),
        ("年假有多少天", "年假每年十五天。"),
    ],
)
def test_words_alone_are_enough_when_a_section_holds_them(question: str, text: str) -> None:
    judged = judge(question, [hit_of(text)])
    assert judged.is_enough
    assert judged.confidence > 0.5
    assert judged.reasons == ()
    assert "cosine" not in judged.features


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("Which penguins winter in Patagonia?", "Annual leave is fifteen days a year."),
        ("企鹅在哪里过冬", "年假每年十五天。"),
    ],
)
def test_words_alone_are_not_enough_off_topic(question: str, text: str) -> None:
    judged = judge(question, [hit_of(text)])
    assert not judged.is_enough
    assert judged.confidence < 0.5
    assert judged.reasons[0].startswith("off topic")


def test_the_best_single_section_counts_not_the_sum_of_them() -> None:
    question = "alpha beta gamma delta"
    words = ["alpha", "beta", "gamma", "delta"]
    scattered = [hit_of(word, passage=word) for word in words]
    assert judge(question, scattered).features["coverage"] == pytest.approx(0.25)
    together = judge(question, [*scattered[:2], hit_of("alpha beta gamma", passage="all")])
    assert together.features["coverage"] == pytest.approx(0.75)
    assert LITTLE > 0.25
    assert (judge(question, scattered).is_enough, together.is_enough) == (False, True)


def test_only_the_best_sections_are_read() -> None:
    filler = [hit_of("other words", passage=f"f{n}") for n in range(SECTIONS_READ)]
    answer = hit_of("alpha beta", passage="answer")
    assert judge("alpha beta", [*filler, answer]).features["coverage"] == 0
    assert judge("alpha beta", [*filler[1:], answer]).features["coverage"] == pytest.approx(1)


def test_the_whole_section_is_read_not_the_passage_alone() -> None:
    hit = hit_of("alpha")
    section = hit_of("alpha beta gamma delta")
    judged = judge("alpha beta gamma delta", [hit], sections={hit.passage_id: section})
    assert judged.features["coverage"] == pytest.approx(1)


def test_rare_words_weigh_more() -> None:
    common = TermStatistics(
        rows=1000, average_length=20.0, document_frequency={"alpha": 900, "beta": 1}
    )
    judged = Judged(
        question="alpha beta",
        terms={"alpha": 1.0, "beta": 1.0},
        hits=[hit_of("alpha")],
        sections={},
        statistics=common,
        cosine=None,
    )
    assert judge_sufficiency(judged, ANALYSER).features["coverage"] < 0.1


def test_nearness_makes_up_for_other_words() -> None:
    """Question in one language, page in the other: no word is shared."""
    hits = [hit_of("年假每年十五天。")]
    question = "How long may one be away on holiday?"
    near, far = judge(question, hits, cosine=NEAR), judge(question, hits, cosine=FAR)
    assert near.is_enough
    assert not far.is_enough
    assert near.features["cosine"] == NEAR
    assert "cosine 0.700" in far.reasons[0]


def test_confidence_grows_with_nearness_and_with_coverage() -> None:
    hits = [hit_of("alpha beta")]
    by_cosine = [
        judge("alpha gamma", hits, cosine=cosine).confidence for cosine in (0.8, 0.85, 0.9)
    ]
    assert by_cosine == sorted(by_cosine)
    some, all_of_it = judge("alpha gamma", hits), judge("alpha beta", hits)
    assert some.confidence < all_of_it.confidence


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        (
            "What is the warranty period of Falcon Router?",
            "Falcon Router",
            "Falcon Router has four antennas and weighs two kilos.",
        ),
        ("猎鹰路由器的保修期是多久", "猎鹰路由器", "猎鹰路由器有四根天线，重两公斤。"),
    ],
)
def test_a_detail_that_stands_nowhere_is_missing_though_its_page_was_found(
    question: str, title: str, text: str
) -> None:
    judged = judge(question, [hit_of(text, title=title)], cosine=NEAR)
    assert not judged.is_enough
    assert judged.confidence < 0.5
    assert judged.reasons[-1].startswith("what is asked of the named page is missing")


@pytest.mark.parametrize(
    ("question", "title", "text"),
    [
        (
            "What is the warranty period of Falcon Router?",
            "Falcon Router",
            "The warranty period is three years.",
        ),
        ("猎鹰路由器的保修期是多久", "猎鹰路由器", "保修期为三年。"),
        ("猎鹰路由器是什么", "猎鹰路由器", "猎鹰路由器有四根天线。"),
    ],
)
def test_a_detail_that_stands_there_is_not_missing(question: str, title: str, text: str) -> None:
    judged = judge(question, [hit_of(text, title=title)], cosine=NEAR)
    assert judged.features["missing"] == 0
    assert judged.is_enough


def test_nothing_is_missing_of_a_page_that_the_question_does_not_name() -> None:
    hits = [hit_of("It has four antennas.", title="Falcon Router")]
    judged = judge("What is the warranty period?", hits, cosine=NEAR)
    assert judged.features["missing"] == 0


def test_a_detail_counts_in_part_when_part_of_the_word_stands_there() -> None:
    def missing(text: str) -> float:
        hit = hit_of(text, title="猎鹰路由器")
        return judge("猎鹰路由器 防火墙", [hit], cosine=NEAR).features["missing"]

    assert missing("有防火墙") == 0
    assert 0 < missing("很防火") < missing("有天线")


def test_another_form_of_a_long_english_word_is_no_miss() -> None:
    hit = hit_of("It was certificated last year.", title="Falcon Router")
    judged = judge("Falcon Router certification", [hit], cosine=NEAR)
    assert judged.features["missing"] == 0


def test_words_that_only_ask_or_give_a_task_are_not_missed() -> None:
    hit = hit_of("有四根天线", title="猎鹰路由器")
    assert judge("请概括猎鹰路由器", [hit], cosine=NEAR).features["missing"] == 0
    assert judge("猎鹰路由器哪些", [hit], cosine=NEAR).features["missing"] == 0


def test_both_gates_give_their_reasons() -> None:
    hit = hit_of("four antennas", title="Falcon Router")
    question = "Falcon Router warranty insurance penguin Patagonia winter"
    judged = judge(question, [hit], cosine=0.5)
    assert len(judged.reasons) == 2


@pytest.mark.parametrize(("codes", "is_enough"), [(1, True), (2, False), (0, False)])
def test_a_passage_with_every_code_of_the_question_is_on_topic(codes: int, is_enough: bool) -> None:  # noqa: FBT001 - a parameter of the test
    hit = hit_of("TN-118 tunnel closed by the far side")
    hit = replace(hit, scores={"code": 1.0})
    question = "The tunnel shows TN-118 again, what now, and whom may we call about it tonight?"
    judged = Judged(
        question=question,
        terms=ANALYSER.query_terms(question),
        hits=[hit],
        sections={},
        statistics=STATISTICS,
        cosine=FAR,
        codes=codes,
    )
    assert judge_sufficiency(judged, ANALYSER).is_enough is is_enough


@pytest.mark.parametrize(("nearest", "is_enough"), [(0.86, True), (0.81, False)])
def test_across_languages_a_page_must_stand_out_among_its_own(
    nearest: float, *, is_enough: bool
) -> None:
    hits = [hit_of("Annual leave is fifteen days a year.")]
    found = judge("年假有多少天", hits, cosine=FAR, foreign=[nearest, *[0.80] * 19])
    assert found.is_enough is is_enough
    assert found.features["lead"] > 0


def test_too_few_pages_in_the_other_language_tell_nothing() -> None:
    hits = [hit_of("Annual leave is fifteen days a year.")]
    found = judge("年假有多少天", hits, cosine=FAR, foreign=[0.95, 0.70])
    assert not found.is_enough
    assert "lead" not in found.features
