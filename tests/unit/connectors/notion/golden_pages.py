"""Pages whose Markdown is kept beside the tests, by name of the file."""

from typing import Any

from tests.unit.connectors.notion.blocks_of import an_id, block, mention, span, table

PAGE, OTHER, SECRET, PERSON = an_id(1), an_id(2), an_id(3), an_id(4)

GOLDEN_PAGES: dict[str, list[dict[str, Any]]] = {
    "headings": [
        block("heading_1", "第一章 Scope"),
        block("paragraph", "Text\nover two lines"),
        block("heading_2", "细节"),
        block("heading_3", "Deep"),
        block("heading_4", "Deeper", block("paragraph", "folded away"), is_toggleable=True),
    ],
    "looks": [
        block(
            "paragraph",
            [
                span("Launch: "),
                span("2027-01-19", bold=True),
                span(" was "),
                span("2026-12-08", strikethrough=True),
                span(", run "),
                span("make all", code=True),
                span("粗", bold=True),
                span("体", bold=True),
            ],
        )
    ],
    "links": [
        block(
            "paragraph",
            [
                span("see "),
                span("the guide", href=f"/{OTHER.replace('-', '')}"),
                span(", "),
                span("the site", href="https://example.com/a"),
                span(" and "),
                span("https://example.com/b", href="https://example.com/b"),
            ],
        )
    ],
    "mentions": [
        block(
            "paragraph",
            [
                mention("@Old Name", "user", {"object": "user", "id": PERSON}),
                span(" wrote "),
                mention("Guide", "page", {"id": OTHER}),
                span(" and "),
                mention("Secret plan", "page", {"id": SECRET}),
                span(" on "),
                mention("2026-12-15", "date", {"start": "2026-12-15", "end": "2026-12-18"}),
            ],
        )
    ],
    "equations": [
        block("equation", expression="E = mc^2"),
        block(
            "paragraph",
            [
                span("inline "),
                {"type": "equation", "plain_text": "x_1", "equation": {"expression": "x_1"}},
            ],
        ),
    ],
    "nested_lists": [
        block(
            "bulleted_list_item",
            "one",
            block("bulleted_list_item", "one point one", block("bulleted_list_item", "deepest")),
            block("paragraph", "and a word on it"),
        ),
        block("bulleted_list_item", "two"),
    ],
    "numbered_steps": [
        block("numbered_list_item", "打开控制台"),
        block("numbered_list_item", "重启网关", block("code", "reboot now", language="shell")),
        block("numbered_list_item", "等待 5 分钟"),
        block("paragraph", "Then:"),
        block("numbered_list_item", "again from one"),
        block("numbered_list_item", "from seven", list_start_index=7),
        block("numbered_list_item", "eight"),
    ],
    "tasks": [
        block("to_do", "signed", checked=True),
        block("to_do", "待审批", block("to_do", "by finance", checked=False), checked=False),
    ],
    "toggles_as_sections": [
        block("heading_2", "Questions"),
        block("toggle", "为什么没响？", block("paragraph", "静默时段。")),
        block("toggle", "Why twice?", block("bulleted_list_item", "two rules match")),
    ],
    "toggle_before_text": [
        block("toggle", "More", block("paragraph", "folded")),
        block("paragraph", "not part of it"),
    ],
    "quotes": [
        block("quote", "first\nsecond", block("paragraph", "below")),
        block("callout", "注意电压", block("bulleted_list_item", "230 V"), icon={"emoji": "⚠️"}),
    ],
    "code": [
        block("code", "a = 1\n\n```\nnot the end", language="python", caption=[span("Listing 1")]),
        block("code", "plain", language="plain text"),
    ],
    "tables": [
        table(("级别", "奖金"), ("P4–P5", [span("3,000", bold=True), span(" 元")])),
        table(("a|b", ""), ("c", "d"), header=False),
    ],
    "columns": [
        block(
            "column_list",
            "",
            block("column", "", block("heading_2", "Left"), block("paragraph", "one")),
            block("column", "", block("heading_2", "Right"), block("paragraph", "two")),
        )
    ],
    "addresses": [
        block("bookmark", url="https://example.com/status", caption=[span("状态页")]),
        block("embed", url="https://example.com/board"),
        block("link_preview", url="https://example.com/issue/7"),
    ],
    "files": [
        block(
            "image",
            type="external",
            external={"url": "https://img.example.com/x.png?sig=1"},
            caption=[span("六种颜色")],
        ),
        block(
            "file", type="file", file={"url": "https://s3.example.com/a/plan.csv?X-Amz-A=secret"}
        ),
        block("video", type="file", name="tour.mp4", file={"url": "https://s3.example.com/t?X=1"}),
    ],
    "children": [
        block("child_page", title="Guide") | {"id": OTHER},
        block("child_page", title="Secret plan") | {"id": SECRET},
        block("link_to_page", type="page_id", page_id=OTHER),
    ],
    "silent": [
        block("table_of_contents"),
        block("breadcrumb"),
        block("divider"),
        block("paragraph", "only this"),
        block("unsupported", block_type="ai_block"),
    ],
    "unknown_type": [
        block("meeting_notes", "", block("paragraph", "said aloud"), title=[span("周会 Weekly")]),
        block("tab", "", block("paragraph", "in a tab")),
        block("from_the_future", "kept anyway"),
    ],
    "synced": [
        block("paragraph", "before"),
        block("synced_block", synced_from={"block_id": an_id(50)}),
        block("paragraph", "after"),
        block("synced_block", "", block("paragraph", "original here"), synced_from=None),
        block("synced_block", synced_from={"block_id": an_id(51)}),
    ],
}
