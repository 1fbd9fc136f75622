"""The pages say everything in both languages."""

import re
from pathlib import Path

import pytest

import admin
from admin.texts import LANGUAGES, Texts, choose_language
from bot.routing import Route
from core.messages import Outcome
from knowledge.retrieval import Fate
from knowledge.runs import RunKind, RunStatus

TEMPLATES = Path(admin.__file__).parent / "templates"
_KEY = re.compile(r"\bt\.([a-z]\w*)(?!\w*\()")
_HAN = re.compile(r"[\u4e00-\u9fff]")


def list_keys() -> set[str]:
    text = "".join(path.read_text("utf-8") for path in TEMPLATES.glob("*.j2"))
    return {key for key in _KEY.findall(text) if key not in {"name", "language", "retell"}}


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_of_the_templates_exists(language: str) -> None:
    texts = Texts(choose_language(language, ""))
    assert len(list_keys()) > 80
    for key in list_keys():
        assert texts[key]


def test_every_name_of_the_product_is_said_in_chinese() -> None:
    texts = Texts("zh")
    kinds = {"outcome": Outcome, "route": Route, "fate": Fate, "kind": RunKind, "status": RunStatus}
    for kind, names in kinds.items():
        for name in names:
            assert _HAN.search(texts.name(kind, name.value)), (kind, name)
    assert texts.name("step", "agent: step 3") == "智能体第 3 步"
    assert texts.name("step", "unheard of") == "unheard of"


@pytest.mark.parametrize(
    ("chosen", "accepted", "expected"),
    [
        ("", "zh-CN,zh;q=0.9,en;q=0.8", "zh"),
        ("", "de, en;q=0.5, zh;q=0.7", "zh"),
        ("", "fr", "en"),
        ("", "zh;q=abc", "en"),
        ("", "", "en"),
        ("en", "zh-CN", "en"),
        ("zh", "en", "zh"),
        ("xx", "zh", "zh"),
    ],
)
def test_the_language_is_the_chosen_one_else_the_browsers(
    chosen: str, accepted: str, expected: str
) -> None:
    assert choose_language(chosen, accepted) == expected


def test_notes_are_retold_as_far_as_they_are_known() -> None:
    note = "not enough, 0.12; nothing was found; else"
    assert Texts("zh").retell(note) == "证据不足，0.12；什么也没有找到；else"
    assert Texts("en").retell(note) == note
    routed = "faq: like labelled examples (examples, 0.92)"
    assert Texts("zh").retell(routed) == "检索问答：与标注示例相近 (examples, 0.92)"
