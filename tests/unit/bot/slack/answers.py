"""Answers of every form that rendering has to deal with."""

from collections.abc import Mapping
from datetime import UTC, datetime, timedelta

from core.messages import Answer, Citation, Outcome

NOW = datetime(2026, 11, 30, 12, tzinfo=UTC)


def cite(n: int, title: str, *, url: str = "", days: int = 0, page: int | None = None) -> Citation:
    return Citation(
        n=n,
        document_id=f"wiki:{n}",
        passage_id=f"p{n}",
        title=title,
        heading_path=("住宿", "Hotels [EU]"),
        url=url,
        page=page,
        version=3,
        version_label="2026-08" if page else "",
        updated_at=NOW - timedelta(days=days),
    )


TABLE = "\n".join(
    ["| 城市 | 上限 |", "| --- | --- |", *(f"| 城市{n} | {n * 10} 元 |" for n in range(150))]
)
WIDE_TABLE = "\n".join(
    (
        "|" + "|".join(f" 列{n} " for n in range(24)) + "|",
        "|" + " --- |" * 24,
        "|" + "|".join(f" 值{n} " for n in range(24)) + "|",
    )
)
CODE = "```bash\n" + "\n".join(f"echo step {n} <!channel>" for n in range(40)) + "\n```"

ANSWERS: Mapping[str, tuple[Answer, str]] = {
    "cited-zh": (
        Answer(
            outcome=Outcome.ANSWERED,
            text="杭州的**住宿标准**为每晚 480 元 [1][2](不含早餐)，见 [附件](files/a.csv)。",
            citations=(
                cite(1, "差旅_制度 *新*", url="https://wiki.example/x (1)", days=14),
                cite(2, "差旅手册", url="handbook/差旅.pdf", days=1, page=7),
            ),
        ),
        "zh",
    ),
    "cited-en-private": (
        Answer(
            outcome=Outcome.ANSWERED,
            text="The limit is 120 EUR [1].",
            citations=(cite(1, "Travel", url="https://wiki.example/t", days=400),),
            private_answer="The limit for HR is 150 EUR [1]\n\n[1] Travel › HR",
        ),
        "en",
    ),
    "mentions": (
        Answer(
            outcome=Outcome.ANSWERED,
            text=(
                "Ask <@U123> or <!channel> in <#C1|ops>, `<!here>`; see "
                "<https://evil.example|https://bank.example>, <https://ok.example>, a < b & c > d"
            ),
        ),
        "en",
    ),
    "not-found": (
        Answer(
            outcome=Outcome.NOT_FOUND,
            text="知识库里没有找到。\n最接近的页面：\n- [休假制度](handbook/leave.md)\n- [A](https://a.example/b)",
        ),
        "zh",
    ),
    "tables": (
        Answer(
            outcome=Outcome.ANSWERED, text=f"两张表：\n\n{TABLE}\n\n又一张：\n{WIDE_TABLE}\n\n完"
        ),
        "zh",
    ),
    "code": (Answer(outcome=Outcome.ANSWERED, text=f"Run this:\n\n{CODE}\n\nDone."), "en"),
    "greeting": (Answer(outcome=Outcome.CHITCHAT, text="你好！"), "zh"),
    "empty": (Answer(outcome=Outcome.ANSWERED, text=""), "en"),
}
