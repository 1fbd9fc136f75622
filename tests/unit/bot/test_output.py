import json

import pytest

from bot.commands.output import print_error, print_json, print_notice, print_result, show_address

STEERING = "\x1b[31mred\x1b]0;title\x07\x9b2J\u202egnp.exe"


def test_pages_cannot_steer_the_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    print_result(STEERING)
    print_notice(STEERING)
    print_error(STEERING)
    said = capsys.readouterr()
    for text in (said.out, said.err):
        assert not set(text) & set("\x1b\x07\x9b\u202e")
        assert "title" in text


def test_text_comes_out_as_it_is(capsys: pytest.CaptureFixture[str]) -> None:
    text = "1:skull:2 [bold]x[/bold] 年假 十五天"
    print_result(text)
    assert capsys.readouterr().out == f"{text}\n"


def test_half_characters_are_no_crash(capsys: pytest.CaptureFixture[str]) -> None:
    print_result("a\ud800b")
    print_json({"id": "a\ud800b", "text": "年假"})
    last = capsys.readouterr().out.splitlines()[-1]
    assert json.loads(last)["text"] == "年假"


def test_a_file_is_shown_by_the_name_people_gave_it() -> None:
    assert show_address("hr/%E6%8A%A5%E9%94%80.md") == "hr/报销.md"
    assert show_address("https://wiki.example/a%20b") == "https://wiki.example/a%20b"
