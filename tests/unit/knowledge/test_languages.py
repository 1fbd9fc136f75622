from knowledge.languages import Language, detect_language


def test_language_is_told_by_what_prevails() -> None:
    assert detect_language("重启 kubelet 服务即可，不要直接 kill 进程") is Language.CHINESE
    mostly_english = "The word 换盆 stands for a planned switch of the primary database"
    assert detect_language(mostly_english) is Language.OTHER


def test_each_language_is_foreign_to_the_other() -> None:
    assert [one.foreign for one in Language] == [Language.OTHER, Language.CHINESE]
