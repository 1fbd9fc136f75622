"""The HTML page of a run stands alone and says what was measured."""

import re
from dataclasses import replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from xml.etree import ElementTree

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.settings import RetrievalSettings
from evaluation.charts import Bar, Line, draw_bars, draw_curves, draw_dots
from evaluation.page import build_page
from evaluation.records import QueryRecord
from evaluation.results import RunInfo
from evaluation.runner import Plan, run_evaluation
from evaluation.summary import build_summary
from evaluation.variants import build_ablations
from knowledge.progress import NoProgress
from tests.fakes.overlap_index import OverlapIndexer
from tests.unit.evaluation.sets import ENGINES, GARDEN

VARIANTS = build_ablations(RetrievalSettings())
INFO = RunInfo(
    made_at=datetime(2026, 11, 30, 9, 30, tzinfo=UTC),
    seconds=12,
    embedder="words<only>",
    index="v1",
    cores=2,
    concurrency=1,
    part="report",
    is_cross=True,
    variants=VARIANTS,
)
HOSTILE = "<script>alert('x')</script> & more"
LABELS = st.text(
    st.characters(exclude_categories=["Cs", "Cc", "Cn", "Co"]), min_size=1, max_size=12
)
SHARES = st.floats(min_value=0, max_value=1)


def parse_svg(svg: str) -> ElementTree.Element:
    return ElementTree.fromstring(svg)  # noqa: S314  # written by us, a moment ago


class Tags(HTMLParser):
    def __init__(self) -> None:
        super().__init__()
        self.names: list[str] = []
        self.links: list[str] = []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.names.append(tag)
        self.links += [value or "" for name, value in attrs if name in ("src", "href")]


@pytest.fixture
async def records() -> list[QueryRecord]:
    hostile = replace(ENGINES.queries[0], query_id="q<9>", question=HOSTILE)
    engines = replace(ENGINES, queries=(*ENGINES.queries, hostile))
    plan = Plan(variants=VARIANTS, foreign_questions=2, has_answers=True)
    return await run_evaluation([engines, GARDEN], plan, OverlapIndexer(), NoProgress())


def test_the_page_loads_nothing_and_runs_nothing(records: list[QueryRecord]) -> None:
    page = build_page(build_summary(records, main_variant="shipped"), records, INFO)
    tags = Tags()
    tags.feed(page)
    assert not tags.links
    assert not {"script", "link", "img", "iframe"} & set(tags.names)
    assert "http://" not in page
    assert "https://" not in page
    assert "url(" not in page
    assert tags.names.count("svg") == 4


def test_text_from_the_data_stays_text(records: list[QueryRecord]) -> None:
    page = build_page(build_summary(records, main_variant="shipped"), records, INFO)
    assert "&lt;script&gt;" in page
    assert "words&lt;only&gt;" in page


def test_every_part_of_the_run_is_on_the_page(records: list[QueryRecord]) -> None:
    page = build_page(build_summary(records, main_variant="shipped"), records, INFO)
    for heading in ("By set", "Ablations", "Refusals", "Answers", "Time", "By kind of question"):
        assert f"<h2>{heading}</h2>" in page
    for name in (*VARIANTS, "engines", "garden", "2026-11-30 09:30 UTC"):
        assert name in page
    assert "“report”" in page
    assert "passages in the other" in page


async def test_a_run_of_one_variant_without_refusals_has_a_shorter_page() -> None:
    plan = Plan(variants={"shipped": RetrievalSettings()}, foreign_questions=0)
    garden = replace(GARDEN, queries=GARDEN.queries[:1])
    records = await run_evaluation([garden], plan, OverlapIndexer(), NoProgress())
    page = build_page(build_summary(records, main_variant="shipped"), records, INFO)
    for heading in ("Ablations", "Refusals", "Answers", "By kind of question"):
        assert f"<h2>{heading}</h2>" not in page


@given(st.lists(st.tuples(LABELS, st.floats(min_value=0, max_value=1e6)), max_size=6))
def test_bars_are_well_formed_and_stay_inside(rows: list[tuple[str, float]]) -> None:
    bars = [Bar(label=label, value=value, mark=value * 1.5) for label, value in rows]
    svg = draw_bars(bars, unit="ms")
    if not bars:
        assert svg == ""
        return
    root = parse_svg(svg)
    right = [float(rect.attrib["x"]) + float(rect.attrib["width"]) for rect in root.iter("rect")]
    assert len(right) == len(bars)
    assert max(right) <= 720


@given(
    st.dictionaries(LABELS, st.fixed_dictionaries({"a": SHARES, "b": SHARES}), max_size=4),
    st.sampled_from([0.0, 0.4]),
)
def test_dots_are_well_formed(rows: dict[str, dict[str, float]], low: float) -> None:
    svg = draw_dots(rows, {"a": 0, "b": 1}, low=low)
    if rows:
        assert len(list(parse_svg(svg).iter("circle"))) == 2 * len(rows)


def test_a_curve_ends_at_the_edge_and_marks_its_highlight() -> None:
    points = [(place / 10, place / 10) for place in range(11)]
    line = Line(label="own & other", points=points, series=1, highlight=(0.2, 0.2))
    nothing = Line(label="none", points=[(0.9, 1.0)], series=2)
    svg = draw_curves([line, nothing], x_title="x", y_title="y", x_most=0.5, x_guide=0.05)
    root = parse_svg(svg)
    (polyline,) = root.iter("polyline")
    assert len(polyline.attrib["points"].split()) == 6
    (spot,) = root.iter("circle")
    assert "own & other" in (spot.findtext("title") or "")
    assert re.search("guide", svg)
