"""What holds for every document: nothing is lost, nothing too long, nothing left to chance."""

import re

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.unit.knowledge.chunk_samples import count_tokens, cut, prose, texts

_RUN = re.compile(r"[a-z0-9]+|[\u3400-\u9fff]+")
# Every `@` becomes a word of its own, so that a lost one is noticed.
_PIECES = [
    "@", "@ @ ", "词@字", "# ", "## ", "### ", "\n", "\n", "\n\n", "\n\n", "- ", "1. ", "2. ",
    "3、", "（1）", "第一步", "步骤 2：", "    ", "\t", "| ", "|", "---", "|---|---|", "===",
    "\n```\n", "\n~~~\n", "> ", "*", "**", "_", "`", "。", ".", "! ", "：", ": ", "[^1]", "[^1]: ",
    "(@)", "1", "Step 1: ", "\\", "•", "\r\n", "\u200b", "é", "@。@。@。", "@ " * 40,
]  # fmt: skip


def _number_words(pieces: list[str]) -> str:
    parts = "".join(pieces).split("@")
    return "".join(f"{part}w{number}q" for number, part in enumerate(parts[:-1])) + parts[-1]


markdowns = st.lists(st.sampled_from(_PIECES), max_size=120).map(_number_words)


def _squeeze(text: str) -> str:
    return re.sub(r"[\W_]+", "", text.lower())


@given(markdowns, st.sampled_from([32, 220]), st.sampled_from([64, 1200]))
def test_every_word_of_a_document_is_in_a_passage_or_heading(
    markdown: str, passage_tokens: int, section_tokens: int
) -> None:
    chunks = cut(markdown, passage_tokens=passage_tokens, section_tokens=section_tokens)
    found = " ".join(
        _squeeze(part) for each in chunks.passages for part in (each.text, *each.heading_path)
    )
    lost = [run for run in _RUN.findall(markdown.replace("\u200b", "")) if run not in found]
    assert lost == []


@given(markdowns, st.sampled_from([40, 90, 500]), st.sampled_from([32, 220, 512]))
def test_no_passage_exceeds_the_limit(markdown: str, limit: int, passage_tokens: int) -> None:
    chunks = cut(
        markdown,
        title="A title of some words",
        breadcrumbs=("Above", "Near"),
        max_tokens=limit,
        passage_tokens=passage_tokens,
    )
    assert all(count_tokens(passage.indexed_text) <= limit for passage in chunks.passages)
    assert all(passage.text.strip() for passage in chunks.passages)


@given(markdowns)
def test_keys_and_positions_are_unique_and_chunks_repeatable(markdown: str) -> None:
    chunks = cut(markdown, title="T")
    assert chunks == cut(markdown, title="T")
    assert len({passage.key for passage in chunks.passages}) == len(chunks.passages)
    assert [passage.position for passage in chunks.passages] == list(range(len(chunks.passages)))
    by_section = {section.section_id for section in chunks.sections}
    counts = [passage.section_id for passage in chunks.passages]
    assert by_section == {each for each in counts if counts.count(each) > 1}


@given(st.integers(0, 5), st.integers(1, 60))
def test_a_paragraph_put_into_one_section_changes_no_other(section: int, words: int) -> None:
    sections = [f"## S{n}\n\n{prose(130, start=200 * n)}\n\n- a{n}\n- b{n}" for n in range(6)]
    before = cut("\n\n".join(sections))
    sections[section] = sections[section].replace("\n\n", f"\n\n{prose(words, start=9000)}\n\n", 1)
    after = cut("\n\n".join(sections))
    path = (f"S{section}",)
    assert [each.key for each in before.passages if each.heading_path != path] == [
        each.key for each in after.passages if each.heading_path != path
    ]


@pytest.mark.parametrize(
    "markdown",
    [
        " " * 300_000 + "x",
        "a" * 300_000,
        "好" * 100_000,
        "今天天气好。" * 20_000,
        "#" * 100_000,
        "|" * 100_000,
        "| a " * 20_000 + "|\n" + "|---" * 20_000 + "|\n" + "| b " * 20_000 + "|",
        "> a\n" * 20_000,
        "\n".join(">" * depth + " a" for depth in range(300)),
        "\n".join("  " * depth + f"- item {depth}" for depth in range(400)),
        "\n".join("   " * depth + f"1. item {depth}" for depth in range(300)),
        "```\n" * 30_000 + "x",
        "\n".join("`" * depth + "x\n" for depth in range(3, 400)),
        "- a\n  ```\n" * 10_000,
        "<!-- \n" * 30_000,
        "<div>" * 30_000 + "x",
        "<pre>\n" * 20_000 + "x",
        "a\n---\n" * 10_000,
        "".join(f"[^{n}]: n\n\nx[^{n}]\n\n" for n in range(3_000)),
        "\n".join(f"{n}、做{n}" for n in range(1, 5_000)),
        "\n\n".join(f"{n}. do\n\n```\nx\n```" for n in range(1, 2_000)),
        "```py\n" + "x = 1\n" * 50_000 + "```",
        "```\n" + "x=1;" * 50_000 + "\n```",
        "[a](b" * 20_000,
        "。**" * 20_000,
    ],
    ids=range(25),
)
def test_huge_and_crooked_documents_are_read_in_one_pass(markdown: str) -> None:
    chunks = cut(markdown, title="T")
    assert all(count_tokens(passage.indexed_text) <= 500 for passage in chunks.passages)
    assert texts(chunks)
