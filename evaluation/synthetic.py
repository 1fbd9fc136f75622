"""Generated pages for measuring speed: seeded, Chinese and English, built like real ones.

They say nothing; they have headings, paragraphs, steps, tables and code in usual proportions, and
words as frequent as in running text, so that chunking, indexes and posting lists behave.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evaluation.vocabulary import Language, Vocabulary, build_vocabulary

PAGE_BYTES = 4_000
SENTENCE_WORDS = (8, 22)
PARAGRAPH_SENTENCES = (2, 5)
SECTION_BLOCKS = (1, 3)
STEPS = (3, 7)
TABLE_ROWS = (3, 6)
TABLE_COLUMNS = 3
CODE_LINES = (3, 8)
HEADING_WORDS = 3
QUESTION_WORDS = 5
# Of ten blocks, about six are prose.
BLOCK_SHARES = (0.6, 0.2, 0.1, 0.1)


@dataclass(frozen=True, slots=True, kw_only=True)
class SyntheticPage:
    """A generated page; `codes` are exact codes that occur on it and nowhere else."""

    number: int
    language: Language
    title: str
    markdown: str
    codes: tuple[str, ...]


def build_page(seed: int, number: int, *, size_bytes: int = PAGE_BYTES) -> SyntheticPage:
    """Write page `number`; even ones are Chinese, odd ones English. Equal seeds, equal pages.

    The text has at least `size_bytes` bytes of UTF-8, headings not counted, and at most one block
    more.
    """
    writer = _Writer(seed, number)
    return writer.write_page(size_bytes)


def build_pages(seed: int, count: int, *, size_bytes: int = PAGE_BYTES) -> Iterator[SyntheticPage]:
    """Write pages 0..count-1."""
    return (build_page(seed, number, size_bytes=size_bytes) for number in range(count))


def build_question(seed: int, number: int, page: SyntheticPage) -> str:
    """Ask about a page: words of one of its lines, one in ten by a code of it."""
    random = np.random.default_rng((seed, number, 1))
    if page.codes and random.random() < 0.1:  # noqa: PLR2004
        code = page.codes[0]
        return f"{code} 是什么意思？" if page.language == "zh" else f"What does {code} mean?"
    lines = [line for line in page.markdown.splitlines() if len(line) > 30 and line[0].isalnum()]  # noqa: PLR2004
    line = lines[int(random.integers(len(lines)))]
    if page.language == "zh":
        start = int(random.integers(max(1, len(line) - 16)))
        return f"{line[start : start + 14].strip('，。')}怎么处理？"
    words = line.rstrip(".").split()
    start = int(random.integers(max(1, len(words) - QUESTION_WORDS)))
    return f"How do we {' '.join(words[start : start + QUESTION_WORDS])}?"


class _Writer:
    def __init__(self, seed: int, number: int) -> None:
        self._random = np.random.default_rng((seed, number))
        self._number = number
        self._language: Language = "en" if number % 2 else "zh"
        self._vocabulary: Vocabulary = build_vocabulary(self._language)
        self._codes: list[str] = []

    def write_page(self, size_bytes: int) -> SyntheticPage:
        title = self._write_heading()
        blocks = [f"# {title}"]
        size = left = 0
        while size < size_bytes:
            if left == 0:
                blocks.append(f"## {self._write_heading()}")
                left = self._between(SECTION_BLOCKS)
            block = self._write_block()
            blocks.append(block)
            size += len(block.encode()) + 2
            left -= 1
        return SyntheticPage(
            number=self._number,
            language=self._language,
            title=title,
            markdown="\n\n".join(blocks) + "\n",
            codes=tuple(self._codes),
        )

    def _write_block(self) -> str:
        writers: tuple[Callable[[], str], ...] = (
            self._write_paragraph,
            self._write_steps,
            self._write_table,
            self._write_code,
        )
        return writers[int(self._random.choice(len(writers), p=BLOCK_SHARES))]()

    def _write_heading(self) -> str:
        words = self._vocabulary.draw(self._random, HEADING_WORDS)
        return "".join(words) if self._language == "zh" else " ".join(words).capitalize()

    def _write_sentence(self) -> str:
        words = self._vocabulary.draw(self._random, self._between(SENTENCE_WORDS))
        if self._random.random() < 0.15:  # noqa: PLR2004
            words.append(str(self._random.integers(1, 5000)))
        if self._language == "en":
            return f"{' '.join(words).capitalize()}."
        middle = len(words) // 2
        return f"{''.join(words[:middle])}，{''.join(words[middle:])}。"

    def _write_paragraph(self) -> str:
        sentences = [self._write_sentence() for _ in range(self._between(PARAGRAPH_SENTENCES))]
        if self._random.random() < 0.2:  # noqa: PLR2004
            code = f"K{self._number % 97}-{self._number:05d}{len(self._codes)}"
            self._codes.append(code)
            sentences.append(f"错误码 {code}。" if self._language == "zh" else f"Error {code}.")
        return ("" if self._language == "zh" else " ").join(sentences)

    def _write_steps(self) -> str:
        steps = range(1, self._between(STEPS) + 1)
        return "\n".join(f"{step}. {self._write_sentence()}" for step in steps)

    def _write_table(self) -> str:
        rows = [self._vocabulary.draw(self._random, TABLE_COLUMNS)]
        rows += [
            [
                *self._vocabulary.draw(self._random, TABLE_COLUMNS - 1),
                f"{self._random.random():.2f}",
            ]
            for _ in range(self._between(TABLE_ROWS))
        ]
        lines = [f"| {' | '.join(row)} |" for row in rows]
        return "\n".join([lines[0], "|" + " --- |" * TABLE_COLUMNS, *lines[1:]])

    def _write_code(self) -> str:
        english = build_vocabulary("en")
        lines = [
            f"{'_'.join(english.draw(self._random, 2))} --{english.draw(self._random, 1)[0]} "
            f"{self._random.integers(1, 9999)}"
            for _ in range(self._between(CODE_LINES))
        ]
        return "\n".join(["```bash", *lines, "```"])

    def _between(self, bounds: tuple[int, int]) -> int:
        return int(self._random.integers(*bounds, endpoint=True))
