"""Bodies in storage format against the Markdown they become, pair by pair."""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from connectors.confluence.storage import convert_excerpt, convert_storage
from connectors.confluence.storage_text import IncludedPage, StorageContext, StorageText
from core.errors import UnsupportedContentError

GOLDEN = Path(__file__).parent / "golden"
SAMPLES = os.environ.get("ZX_CONFLUENCE_SAMPLES", "")
CONTEXT = StorageContext(
    title="This page",
    site="https://wiki.example.com",
    names={"acc:mei": "梅雨", "key-of-bo": "Bo Lind", "bo": "Bo Lind"},
)


def write(text: StorageText) -> str:
    """Return a converted body as it is kept in the golden files."""
    parts = [
        piece if isinstance(piece, str) else f"<<{piece.page.space}/{piece.page.title}>>"
        for piece in text.pieces
    ]
    return "\n\n".join(parts) + "\n"


@pytest.mark.parametrize("source", sorted(GOLDEN.glob("*.xml")), ids=lambda path: path.stem)
def test_body_reads_as_written_down(source: Path) -> None:
    body = source.read_text(encoding="utf-8")
    expected = source.with_suffix(".md").read_text(encoding="utf-8")
    assert write(convert_storage(body, CONTEXT)) == expected


def convert(body: str) -> str:
    return "\n\n".join(
        piece for piece in convert_storage(body, CONTEXT).pieces if isinstance(piece, str)
    )


def code(text: str) -> str:
    return (
        '<ac:structured-macro ac:name="code"><ac:plain-text-body>'
        f"<![CDATA[{text.replace(']]>', ']]]]><![CDATA[>')}]]></ac:plain-text-body>"
        "</ac:structured-macro>"
    )


@given(st.text(st.characters(exclude_categories=("Cs", "Cc")), min_size=1).filter(str.strip))
def test_code_is_exact_to_the_character(text: str) -> None:
    lines = convert(code(text)).split("\n")
    assert "\n".join(lines[1:-1]) == text


def test_code_keeps_lines_brackets_and_the_end_of_a_section() -> None:
    text = "if (a[b[0] ]> 1 && c < 2) {\n\n\treturn '<p>&nbsp;</p>';  // ]]>\n}"
    assert convert(code(text)) == f"```\n{text}\n```"


def test_code_with_fences_gets_a_longer_fence() -> None:
    assert convert(code("```\nx\n```")) == "````\n```\nx\n```\n````"


@given(st.text(max_size=300))
def test_no_text_breaks_the_converter(body: str) -> None:
    convert_storage(body, CONTEXT)


names = st.sampled_from(
    ["p", "table", "tr", "td", "ul", "li", "ac:structured-macro", "ac:link", "ri:page", "h2",
     "ac:task-list", "ac:task", "ac:task-body", "ac:image", "time", "s", "ac:rich-text-body"]
)  # fmt: skip


@given(st.lists(st.tuples(names, st.booleans(), st.text("ab<&] ", max_size=4)), max_size=25))
def test_no_nesting_breaks_the_converter(parts: list[tuple[str, bool, str]]) -> None:
    body = "".join(f"<{'' if is_open else '/'}{name}>{text}" for name, is_open, text in parts)
    convert_storage(body, CONTEXT)


def test_parameters_of_no_macro_are_shown() -> None:
    for name in ("toc", "panel", "chart", "children", "gallery", "info", "made-up"):
        body = (
            f'<p>a</p><ac:structured-macro ac:name="{name}" ac:macro-id="mid-1">'
            '<ac:parameter ac:name="bgColor">#SECRET</ac:parameter>'
            '<ac:parameter ac:name="page"><ri:page ri:content-title="SECRET"/></ac:parameter>'
            "<ac:rich-text-body><p>kept</p></ac:rich-text-body></ac:structured-macro>"
        )
        assert convert(body) == "a\n\nkept"


def test_text_for_some_readers_only_is_left_out_and_noted() -> None:
    body = (
        '<p>a</p><ac:structured-macro ac:name="show-if"><ac:parameter ac:name="group">boss'
        "</ac:parameter><ac:rich-text-body><p>bonus</p></ac:rich-text-body>"
        "</ac:structured-macro>"
    )
    text = convert_storage(body)
    assert text.pieces == ("a",)
    assert "'show-if'" in text.notes[0]


def test_a_mark_of_ours_in_a_body_includes_nothing() -> None:
    assert convert("<p>a\x000\x00b</p>") == "a0b"


def test_an_excerpt_that_is_not_there_is_none() -> None:
    assert convert_excerpt("<p>a</p>", "") is None


def test_too_deep_a_body_is_refused_with_a_reason() -> None:
    with pytest.raises(UnsupportedContentError, match="nested too deeply"):
        convert_storage("<ul><li>" * 3000)


def test_links_mentions_and_files_are_gathered() -> None:
    body = (
        '<p><ac:link><ri:page ri:content-title="A" ri:space-key="S"/></ac:link>'
        '<ac:link><ri:attachment ri:filename="f.pdf"/></ac:link>'
        '<ac:image><ri:attachment ri:filename="i.png"/></ac:image></p>'
    )
    text = convert_storage(body)
    assert [(one.page.space, one.page.title) for one in text.links] == [("S", "A")]
    assert text.files == ("f.pdf", "i.png")


@pytest.mark.skipif(not SAMPLES, reason="ZX_CONFLUENCE_SAMPLES names no folder of real bodies")
def test_real_bodies_are_converted_and_leak_no_parameter() -> None:
    paths = sorted(Path(SAMPLES).rglob("*.xml"))
    assert paths
    for path in paths:
        text = convert_storage(path.read_text(encoding="utf-8"))
        for piece in text.pieces:
            assert isinstance(piece, IncludedPage) or "<ac:" not in piece, path.name
