import json
import os
from pathlib import Path

import pytest

from connectors.notion.blocks import Segment, Surroundings, SyncedText, write_blocks
from connectors.notion.body import hash_content, parse_nodes, prune_block
from connectors.notion.payloads import NotionObject
from connectors.notion.properties import write_property
from connectors.notion.rich_text import References
from tests.unit.connectors.notion.blocks_of import an_id, block, nodes, span
from tests.unit.connectors.notion.golden_pages import GOLDEN_PAGES, OTHER, PAGE, PERSON

GOLDEN = Path(__file__).parent / "golden"
# Real replies to convert, one JSON file each; the golden files are written anew when asked for.
SAMPLES = os.environ.get("NOTION_SAMPLES", "")
WRITES_GOLDEN = bool(os.environ.get("WRITE_GOLDEN", ""))


def surround() -> Surroundings:
    titles = {OTHER: "Guide"}
    shared = SyncedText(page=OTHER, nodes=nodes(block("paragraph", "shared text")))
    return Surroundings(
        page=PAGE,
        references=References(find_title=titles.get, people={PERSON: "程麓 Cheng Lu"}),
        synced={an_id(50): shared},
        files={},
    )


def write(*blocks: dict[str, object], around: Surroundings | None = None) -> list[Segment]:
    return write_blocks(nodes(*blocks), around or surround())


@pytest.mark.parametrize("name", GOLDEN_PAGES)
def test_pages_read_as_their_golden_files(name: str) -> None:
    around = surround()
    segments = write(*GOLDEN_PAGES[name], around=around)
    lines = [
        f"<!-- from {', '.join(one.origins) or 'itself'} -->\n{one.markdown}" for one in segments
    ]
    lines += [f"<!-- note: {note} -->" for note in around.references.notes]
    text = "\n".join(lines) + "\n"
    path = GOLDEN / f"{name}.md"
    if WRITES_GOLDEN:
        path.write_text(text, encoding="utf-8")
    assert text == path.read_text(encoding="utf-8")


def test_a_title_that_not_every_reader_may_see_is_not_written() -> None:
    segments = write(*GOLDEN_PAGES["mentions"], *GOLDEN_PAGES["children"])
    assert "Secret plan" not in segments[0].markdown


def test_the_signature_of_a_file_is_neither_written_nor_hashed() -> None:
    def page(signature: str) -> dict[str, object]:
        url = f"https://s3.example.com/a/plan.csv?X-Amz-Signature={signature}"
        return block("file", type="file", file={"url": url, "expiry_time": signature}) | {
            "id": PAGE
        }

    assert "X-Amz" not in write(page("abc"))[0].markdown
    assert hash_content(page("abc")) == hash_content(page("def"))


def test_the_text_of_a_file_hangs_below_the_heading_it_stands_under() -> None:
    raw = block("file", type="file", name="plan.md", file={"url": "https://s3.example.com/p"})
    around = surround()
    around.files = {raw["id"]: "# Plan\n\n```\n# not a heading\n```"}
    text = write(block("heading_2", "Files"), raw, around=around)[0].markdown
    assert "### Plan" in text
    assert "\n# not a heading" in text


def test_text_synced_within_synced_text_names_all_its_pages() -> None:
    inner = SyncedText(page=an_id(7), nodes=nodes(block("paragraph", "innermost")))
    outer_block = block("synced_block", synced_from={"block_id": an_id(61)})
    outer = SyncedText(page=an_id(6), nodes=nodes(block("paragraph", "outer"), outer_block))
    around = surround()
    around.synced = {an_id(60): outer, an_id(61): inner}
    segments = write(block("synced_block", synced_from={"block_id": an_id(60)}), around=around)
    assert [(one.markdown, one.origins) for one in segments] == [
        ("outer", (an_id(6),)),
        ("innermost", (an_id(6), an_id(7))),
    ]


def test_synced_blocks_that_contain_each_other_end() -> None:
    one = block("synced_block", synced_from={"block_id": an_id(71)})
    other = block("synced_block", synced_from={"block_id": an_id(70)})
    around = surround()
    around.synced = {
        an_id(70): SyncedText(page=an_id(8), nodes=nodes(block("paragraph", "a"), one)),
        an_id(71): SyncedText(page=an_id(9), nodes=nodes(block("paragraph", "b"), other)),
    }
    segments = write(block("synced_block", synced_from={"block_id": an_id(70)}), around=around)
    assert [one.markdown for one in segments] == ["a", "b"]
    assert around.references.notes


def test_a_copy_on_the_page_of_its_original_is_the_pages_own_text() -> None:
    around = surround()
    around.synced = {an_id(80): SyncedText(page=PAGE, nodes=nodes(block("paragraph", "own")))}
    segments = write(block("synced_block", synced_from={"block_id": an_id(80)}), around=around)
    assert segments == [Segment(markdown="own")]


def test_marks_do_not_stand_back_to_back() -> None:
    spans = [span("a", bold=True), span("b", bold=True), span(" ", bold=True), span("c")]
    assert write(block("paragraph", spans))[0].markdown == "**ab** c"


@pytest.mark.skipif(not SAMPLES, reason="NOTION_SAMPLES names no folder of replies")
def test_real_replies_convert() -> None:
    converted = 0
    for path in sorted(Path(SAMPLES).rglob("*.json")):
        sample = json.loads(path.read_text(encoding="utf-8"))
        for found in _objects(sample.get("response", sample)):
            kind = found["object"]
            if kind == "block":
                write_blocks(parse_nodes([prune_block(found)]), surround())
            elif kind in {"page", "database", "data_source"}:
                for value in NotionObject.model_validate(found).properties.values():
                    write_property(value, References())
            elif kind == "property_item":
                write_property(found, References())
            converted += kind in {"block", "page", "database", "data_source", "property_item"}
    assert converted


def _objects(value: object) -> list[dict[str, object]]:
    if isinstance(value, list):
        return [found for one in value for found in _objects(one)]
    if not isinstance(value, dict):
        return []
    own = [value] if "object" in value else []
    return own + [found for one in value.values() for found in _objects(one)]
