"""A small company's folder, with pages that show rights, edits and hostile words."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from playground.notion.editor import Editor
from playground.notion.workspace import Workspace

ANN, BEN, KIM, GUEST = "U1", "U2", "U3", "U4"
"""HR, operations, operations, and somebody from outside."""
OPEN, MIXED, HR_ONLY = "C1", "C2", "C3"

LEAVE_QUESTION, LEAVE = "年假最多可以结转几天？", "结转 5 天"
SALARY_QUESTION, SALARY = "What is the upper salary limit of band L4?", "38,000"
GATE_QUESTION, GATE, NEW_GATE = "What is the code of the Ravenwood gate?", "4711", "9932"
HOSTILE_TITLE = "<img src=x onerror=\"document.title='broken'\"> Ravenwood gate"
KIOSK = "kiosk"
NOTE_TITLE, NOTE = "Release notes", "The firmware of October is release 8.14.2."
NOTE_QUESTION = "Which release is the firmware of October?"
DISK_QUESTION = "How do I clean up a full disk?"

Json = dict[str, Any]
_WHEN = "2026-09-01T10:00:00+08:00"
_PAGES: Sequence[tuple[str, str, str, Mapping[str, Any] | None]] = (
    (
        "101",
        "休假制度",
        "<h2>年假结转</h2><p>未休完的年假最多可以结转 5 天，须在次年 3 月 31 日之前休完。</p>",
        None,
    ),
    (
        "102",
        "Salary bands",
        "<h2>Band L4</h2><p>The upper salary limit of band L4 is CNY 38,000 a month.</p>",
        {"read": {"groups": ["hr"], "users": []}},
    ),
    (
        "103",
        HOSTILE_TITLE,
        "<h2>Code &lt;script&gt;document.title='broken'&lt;/script&gt;</h2>"
        "<p>The code of the Ravenwood gate is 4711. [Reset it](javascript:alert(1)) "
        "&lt;!channel&gt; ![x](http://pictures.example/x.png)</p>",
        None,
    ),
    (
        "104",
        "Full disks",
        "<h2>How to clean up a full disk</h2><ol><li><p>Find what is large: "
        "<code>du -xh / | sort -h</code>.</p></li><li><p>Delete old builds.</p></li>"
        "<li><p>Tell the owner of what is left.</p></li></ol>"
        "<table><tbody><tr><th>Share used</th><th>What to do</th></tr>"
        "<tr><td>80 %</td><td>Plan a clean-up</td></tr>"
        "<tr><td>95 %</td><td>Clean up now</td></tr></tbody></table>",
        None,
    ),
    *(
        (
            str(200 + number),
            f"Kiosk guide {number}",
            f"<h2>Kiosk {number}</h2><p>The kiosk of branch {number} starts at {number}:00.</p>",
            None,
        )
        for number in range(1, 9)
    ),
)


def write_company(folder: Path) -> Path:
    """Write the folder and return it."""
    people = [
        _person("ann.li", "安丽", ANN, ["staff", "hr"]),
        _person("ben.ode", "Ben Ode", BEN, ["staff"]),
        _person("kim.sol", "Kim Sol", KIM, ["staff"]),
        {**_person("gia.out", "Gia Out", GUEST, []), "employment_type": "guest"},
    ]
    groups = [
        {"id": "staff", "name": "Staff", "members": ["ann.li", "ben.ode", "kim.sol"]},
        {"id": "hr", "name": "HR", "members": ["ann.li"]},
    ]
    channels = [
        _channel(OPEN, "everyone", "public", ["ann.li", "ben.ode", "kim.sol"]),
        _channel(MIXED, "mixed", "private", ["ann.li", "ben.ode"]),
        _channel(HR_ONLY, "hr-room", "private", ["ann.li"]),
    ]
    space: Json = {
        "key": "HB",
        "name": "Handbook",
        "homepage_id": "101",
        "permissions": {"view": {"groups": ["staff"], "users": []}},
    }
    pages = [_page(*page) for page in _PAGES]
    notes = Workspace(objects={}, blocks={}, users=[], access={})
    editor = Editor(notes)
    note = editor.add_page(NOTE_TITLE)
    editor.add_text(note, NOTE)
    notion = {"pages": list(notes.objects.values()), "block_children": notes.blocks}
    access = {note: {"inherit": False, "users": [], "groups": ["staff"]}}
    for name, content in (
        ("people", people),
        ("groups", groups),
        ("channels", channels),
        ("confluence", {"site": "https://wiki.example/wiki", "spaces": [space], "pages": pages}),
        ("attachments", []),
        ("notion", notion),
        ("notion_access", {"pages": access}),
    ):
        (folder / f"{name}.json").write_text(json.dumps(content, ensure_ascii=False), "utf-8")
    return folder


def _person(person_id: str, name: str, slack_id: str, groups: Sequence[str]) -> Json:
    return {
        "id": person_id,
        "slack_id": slack_id,
        "email": f"{person_id}@small.example",
        "name": name,
        "groups": list(groups),
        "employment_type": "employee",
        "active": True,
        "confluence_account_id": f"acc:{person_id}",
    }


def _channel(native_id: str, name: str, visibility: str, members: Sequence[str]) -> Json:
    return {
        "id": f"c-{name}",
        "name": name,
        "platform": "slack",
        "native_id": native_id,
        "visibility": visibility,
        "has_external_member": False,
        "topic": "",
        "members": list(members),
    }


def _page(page_id: str, title: str, body: str, restrictions: Mapping[str, Any] | None) -> Json:
    version = {
        "number": 1,
        "when": _WHEN,
        "by": "ann.li",
        "message": "",
        "title": title,
        "body_storage": body,
    }
    return {
        "id": page_id,
        "space": "HB",
        "title": title,
        "parent_id": None,
        "status": "current",
        "labels": [],
        "restrictions": restrictions,
        "versions": [version],
    }
