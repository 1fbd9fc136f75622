from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.errors import SettingsError
from core.settings import AnalysisSettings
from knowledge.analysis import PART_WEIGHT, Analyser
from knowledge.stemming import stem
from knowledge.word_files import load_analyser


@pytest.fixture(scope="module")
def analyser() -> Analyser:
    return Analyser()


def test_chinese_is_cut_into_words_and_the_words_inside_them(analyser: Analyser) -> None:
    terms = analyser.index_terms("磁盘空间不足")
    assert {"磁盘", "空间", "磁盘空间", "不足"} <= set(terms)


def test_two_character_words_are_found_inside_a_run(analyser: Analyser) -> None:
    assert "报销" in analyser.index_terms("请在三十天内提交差旅费用报销申请")


@pytest.mark.parametrize(
    ("question", "text"),
    [
        ("How are expenses reimbursed?", "Reimbursing an expense takes a week"),
        ("configure policies", "The policy is configured here"),
        ("install boxes", "installing the box"),
        ("ＶＰＮ 配置", "vpn配置"),
        ("STRASSE", "Straße"),
        ("employee's laptop", "laptops of employees"),
    ],
)
def test_forms_of_a_word_meet(analyser: Analyser, question: str, text: str) -> None:
    asked = set(analyser.query_terms(question))
    assert asked <= set(analyser.index_terms(text))


@pytest.mark.parametrize(
    ("text", "whole", "parts"),
    [
        ("报错K8-023怎么办", "k8-023", {"023"}),
        ("see 10.0.3.7", "10.0.3.7", {"10"}),
        ("SIGNALS_PTR is static", "signals_ptr", {"signal", "ptr"}),
        ("parseJSON2Html()", "parsejson2html", {"pars", "json", "html"}),
        ("edit /etc/nginx/nginx.conf", "/etc/nginx/nginx.conf", {"etc", "nginx", "conf"}),
        ("DiffExecutor::new", "diffexecutor::new", {"diff", "executor", "new"}),
        ("ORA-00600", "ora-00600", {"ora", "00600"}),
    ],
)
def test_a_code_is_kept_whole_and_split(
    analyser: Analyser, text: str, whole: str, parts: set[str]
) -> None:
    weights = analyser.query_terms(text)
    assert weights[whole] == 1.0
    assert all(weights[part] == PART_WEIGHT for part in parts)
    assert {whole, *parts} <= set(analyser.index_terms(text))


@pytest.mark.parametrize(
    ("text", "codes"),
    [
        ("告警 K8-023 与 10.0.3.7", ["k8-023", "10.0.3.7"]),
        ("按 GB/T 34944-2017 执行", ["gb/t34944-2017"]),
        ("ISO 9001 and ISO9001", ["iso9001"]),
        ("`max_connections` in /etc/my.cnf", ["max_connections", "/etc/my.cnf"]),
        ("an ordinary, well-known sentence", []),
        ("24/7 support", []),
        ("https://example.com/a_b", []),
    ],
)
def test_codes_are_found(analyser: Analyser, text: str, codes: list[str]) -> None:
    assert sorted(analyser.codes(text)) == sorted(codes)


def test_codes_of_text_and_question_are_equal(analyser: Analyser) -> None:
    assert analyser.codes("错误Ｋ８－０２３！") == analyser.codes("what is k8-023?")


def test_numbers_with_separators_are_one_number(analyser: Analyser) -> None:
    assert "5000" in analyser.index_terms("a limit of $5,000 a day")
    assert "5000" in analyser.index_terms("上限5000元")


def test_question_words_are_left_out_of_a_question_only(analyser: Analyser) -> None:
    assert "怎么办" not in analyser.query_terms("磁盘满了怎么办")
    assert "where" not in analyser.query_terms("where is the disk")
    assert stem("where") not in analyser.query_terms("where is the disk")
    assert "怎么办" in analyser.index_terms("磁盘满了怎么办")


@pytest.mark.parametrize(
    ("question", "misread", "kept"),
    [
        ("图纸归档后要保留多少年？", "后要", {"图纸", "归档", "保留", "年"}),
        ("今年的保险签了多少家？", "签了", {"今年", "保险", "签", "家"}),
        ("目录价是多少？", "价是", {"目录", "价"}),
        ("域名哪天到期，谁续？", "谁续", {"域名", "到期", "续"}),
        ("报销单有什么要求？", "单有", {"报销", "要求"}),
    ],
)
def test_a_particle_read_into_its_neighbour_is_taken_out_of_a_question(
    analyser: Analyser, question: str, misread: str, kept: set[str]
) -> None:
    assert misread not in analyser.query_terms(question)
    assert kept <= set(analyser.query_terms(question))
    assert misread not in analyser.words(question)


@pytest.mark.parametrize(
    ("question", "kept"),
    [
        ("lol what is the parking fee today", {"park", "fee"}),
        ("目前车位有几个", {"车位"}),
    ],
)
def test_fillers_and_the_present_are_not_asked_for(
    analyser: Analyser, question: str, kept: set[str]
) -> None:
    assert analyser.query_terms(question).keys() <= kept


def test_a_question_of_question_words_alone_keeps_them(analyser: Analyser) -> None:
    assert analyser.query_terms("怎么办?")
    assert not analyser.query_terms("")


def test_stop_words_are_in_neither(analyser: Analyser) -> None:
    assert analyser.index_terms("the disk of the server 的 是") == ["disk", "server"]


def test_repetitions_stay_in_the_index(analyser: Analyser) -> None:
    assert analyser.index_terms("disk disk 磁盘 磁盘").count("disk") == 2


def test_synonyms_widen_a_question_with_less_weight() -> None:
    analyser = Analyser(synonyms=[["年假", "带薪休假", "annual leave", "PTO"]])
    terms = analyser.query_terms("年假有几天")
    assert terms["年假"] == 1.0
    assert 0 < terms["带薪休假"] < 1
    assert 0 < terms["annual"] < 1
    assert analyser.query_terms("How much PTO do I get?")["年假"] < 1


def test_many_synonyms_count_less_each() -> None:
    many = Analyser(synonyms=[["kiosk", "自助机", "terminal", "automat", "booth"]])
    weights = many.query_terms("Where is the kiosk?")
    assert weights["kiosk"] == 1.0
    assert weights["automat"] == weights["booth"] == pytest.approx(0.3)


def test_an_english_synonym_is_heard_as_a_whole_word_only() -> None:
    analyser = Analyser(synonyms=[["IT", "信息技术部"]])
    assert "信息技术部" not in analyser.query_terms("the committee's item")
    assert "信息技术部" in analyser.query_terms("ask the it team")


def test_dictionary_words_and_chinese_synonyms_stay_whole() -> None:
    plain = Analyser()
    own = Analyser(dictionary=["云栖盒子"], synonyms=[["知行合一码", "ZX-1"]])
    assert "云栖盒子" not in plain.index_terms("重启云栖盒子后重试")
    assert "云栖盒子" in own.index_terms("重启云栖盒子后重试")
    assert "知行合一码" in own.index_terms("输入知行合一码登录")


def test_weights_count_terms_more_or_less() -> None:
    analyser = Analyser(weights={"磁盘": 2.0, "server": 0.5})
    terms = analyser.query_terms("磁盘 server")
    assert terms == {"磁盘": 2.0, "server": 0.5}


def test_fingerprint_follows_the_words_that_change_segmentation() -> None:
    assert Analyser().fingerprint == Analyser(weights={"a": 2}).fingerprint
    assert Analyser().fingerprint != Analyser(dictionary=["云栖盒子"]).fingerprint


def test_words_are_whole_and_carry_meaning(analyser: Analyser) -> None:
    words = analyser.words("How do I clean the disk on K8-023 磁盘空间怎么清理")
    assert words == ["clean", "disk", "k8-023", "磁盘空间", "清理"]


def test_scripts_without_a_dictionary_are_cut_into_pairs(analyser: Analyser) -> None:
    assert analyser.index_terms("カタカナ") == ["カタ", "タカ", "カナ"]


@given(st.text(max_size=200))
def test_any_text_gives_terms_without_blanks(text: str) -> None:
    analyser = _SHARED
    for term in (*analyser.index_terms(text), *analyser.query_terms(text), *analyser.codes(text)):
        assert term
        assert not any(letter.isspace() for letter in term)
    analyser.words(text)


_SHARED = Analyser()


@pytest.mark.parametrize(
    ("word", "expected"),
    [
        ("policies", "policy"),
        ("classes", "class"),
        ("running", "run"),
        ("string", "string"),
        ("need", "need"),
        ("applied", "apply"),
        ("status", "status"),
        ("installed", "install"),
        ("bus", "bus"),
        ("sha256s", "sha256s"),
        ("磁盘", "磁盘"),
    ],
)
def test_stems(word: str, expected: str) -> None:
    assert stem(word) == expected


def test_word_files_are_read(tmp_path: Path) -> None:
    (tmp_path / "s.txt").write_text("# ours\n年假，带薪休假, PTO\n\n", encoding="utf-8-sig")
    (tmp_path / "d.txt").write_text("云栖盒子\n", encoding="utf-8")
    (tmp_path / "w.txt").write_text("annual leave 1.5\n", encoding="utf-8")
    settings = AnalysisSettings(synonyms=("s.txt",), dictionary=("d.txt",), weights=("w.txt",))
    analyser = load_analyser(settings, folder=tmp_path)
    assert "带薪休假" in analyser.query_terms("pto")
    assert "云栖盒子" in analyser.index_terms("云栖盒子")
    assert analyser.query_terms("annual leave")["annual"] == 1.5


def test_a_missing_word_file_is_named(tmp_path: Path) -> None:
    with pytest.raises(SettingsError, match=r"absent\.txt"):
        load_analyser(AnalysisSettings(synonyms=("absent.txt",)), folder=tmp_path)


def test_a_line_without_a_weight_is_named(tmp_path: Path) -> None:
    (tmp_path / "w.txt").write_text("annual leave\n", encoding="utf-8")
    with pytest.raises(SettingsError, match="line 1"):
        load_analyser(AnalysisSettings(weights=("w.txt",)), folder=tmp_path)
