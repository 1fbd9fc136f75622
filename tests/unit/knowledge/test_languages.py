import pytest

from knowledge.languages import Language, detect_language, is_all_foreign


def test_language_is_told_by_what_prevails() -> None:
    assert detect_language("重启 kubelet 服务即可，不要直接 kill 进程") is Language.CHINESE
    mostly_english = "The word 换盆 stands for a planned switch of the primary database"
    assert detect_language(mostly_english) is Language.OTHER


def test_each_language_is_foreign_to_the_other() -> None:
    assert [one.foreign for one in Language] == [Language.OTHER, Language.CHINESE]


@pytest.mark.parametrize(
    ("text", "language", "is_foreign"),
    [
        ("Up to two days a week at home", Language.CHINESE, True),
        ("Copyright 新浪公司 All Rights Reserved", Language.CHINESE, False),
        ("重启 kubelet 服务即可，不要直接结束进程，否则要重新登记节点", Language.OTHER, True),
        ("部门 Department | 人数 Headcount | 说明 Remarks", Language.OTHER, False),
    ],
)
def test_a_bilingual_text_is_foreign_to_nobody(
    text: str, language: Language, *, is_foreign: bool
) -> None:
    assert is_all_foreign(text, language) is is_foreign
