"""Texts of every kind, in every locale: read back as they were given, and harmless on a terminal."""

from __future__ import annotations

import json

import pytest

from tests.integration.cli.conftest import Ask, Lines, Run

LOCALES = {
    "ascii": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "ascii"},
    "cp1252": {"LC_ALL": "C", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0", "PYTHONIOENCODING": "cp1252"},
    "utf-8": {"LC_ALL": "C.UTF-8", "PYTHONUTF8": "1"},
}
EMOJI = "\u2705 gr\u00fc\u00dfe \U0001f600"
WILD = 'l1\nl2\t\x1b[31mred\x07\u2028x\r\n"q" \\ end'

every_locale = pytest.mark.parametrize("locale", LOCALES)


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


@every_locale
def test_a_name_with_emoji_is_kept_and_shown(locale: str, run: Run, lines: Lines) -> None:
    settings = LOCALES[locale]
    assert lines(("group create", {"id": "E", "session_id": "S1", "name": EMOJI}))[0]["success"] is True
    shown = run("group", "show", "E", "-s", "S1", "--json", **settings)
    assert (shown.returncode, shown.stdout.isascii(), json.loads(shown.stdout)["group"]["name"]) == (0, True, EMOJI)
    for words in (("group", "list", "-s", "S1"), ("group", "show", "E", "-s", "S1"), ("audit", "timeline", "-s", "S1")):
        done = run(*words, **settings)
        assert (done.returncode, done.stderr) == (0, b"")
    listed = run("group", "list", "-s", "S1", **settings).stdout
    wanted = {"ascii": rb"\u2705 gr\xfc\xdfe \U0001f600", "cp1252": b"\\u2705 gr\xfc\xdfe", "utf-8": EMOJI.encode()}
    assert wanted[locale] in listed


@every_locale
def test_help_fits_every_locale(locale: str, run: Run) -> None:
    done = run("route", "--help", **LOCALES[locale])
    assert (done.returncode, done.stderr, b"--current-agent" in done.stdout) == (0, b"", True)


def test_an_argument_in_the_locales_own_bytes_is_kept(ask: Ask) -> None:
    answer = ask("group", "create", "E", "-s", "S1", "--name", EMOJI, **LOCALES["utf-8"])
    assert answer["group"]["name"] == EMOJI


@pytest.mark.parametrize(
    "words",
    [
        pytest.param(("group", "create", "E", "-s", "S1", "--name", b"x\xff"), id="a name"),
        pytest.param(("session", "pause", "S1", "--by", "project_manager", "--reason", b"\xff"), id="a reason"),
        pytest.param(("route", "developer", b"PA\xffSS", "-s", "S1", "-g", "A"), id="a status"),
        pytest.param(("route", b"\xff", "PASS", "-s", "S1", "-g", "A"), id="a role"),
        pytest.param(("group", "list", "-s", "S1", "--status", b"\xff"), id="a filter"),
        pytest.param(("session", "create", "S2", "--request-id", b"\xff"), id="a request id"),
    ],
)
def test_bytes_that_are_no_text_are_refused(words: tuple[str | bytes, ...], ask: Ask) -> None:
    answer = ask(*words, **LOCALES["utf-8"])
    assert (answer["code"], answer["_exit"]) == ("INVALID_TEXT", 64)
    assert "U+DCFF" in answer["error"]


def test_bytes_that_are_no_id_are_refused(ask: Ask) -> None:
    assert ask("group", "show", b"A\xff", "-s", "S1", **LOCALES["utf-8"])["code"] == "INVALID_ID"


@pytest.mark.parametrize("text", ["\ud800", "a\0b"], ids=["lone surrogate", "NUL"])
def test_no_text_of_a_batch_breaks_later_lists(text: str, run: Run, lines: Lines) -> None:
    answers = lines(
        ("group create", {"id": "E", "session_id": "S1", "name": text}),
        ("route", {"session_id": "S1", "group_id": "A", "current_agent": "developer", "status": "PARTIAL",
                   "details": {"note": [text]}}),
        ("group list", {"session_id": "S1"}),
    )  # fmt: skip
    assert [answer["success"] for answer in answers] == [False, False, True]
    assert [answer["exit_code"] for answer in answers] == [4, 4, 0]
    assert answers[0]["op"] is None


def test_a_wild_text_is_read_back_equal_and_cannot_move_the_cursor(run: Run, ask: Ask, lines: Lines) -> None:
    lines(("group create", {"id": "W", "session_id": "S1", "name": WILD}))
    assert ask("group", "show", "W", "-s", "S1")["group"]["name"] == WILD
    for words in (("group", "list", "-s", "S1"), ("group", "show", "W", "-s", "S1")):
        shown = run(*words).stdout.decode()
        assert not any(sign in shown for sign in "\x1b\x07\r\t\u2028"), words
        assert r"l1\nl2\t\x1b[31mred\x07" in shown


def test_every_answer_of_a_batch_is_one_line(run: Run, lines: Lines) -> None:
    lines(("group create", {"id": "W", "session_id": "S1", "name": WILD}))
    done = run("batch", stdin=b'{"op": "group show", "args": {"id": "W", "session_id": "S1"}}\n' * 3)
    assert [json.loads(line)["group"]["name"] for line in done.stdout.split(b"\n")[:-1]] == [WILD] * 3


def test_json_is_not_wrapped_on_a_narrow_terminal(run: Run) -> None:
    name = "n" * 500
    run("group", "create", "L", "-s", "S1", "--name", name)
    done = run("group", "show", "L", "-s", "S1", "--json", COLUMNS="40")
    assert (done.stdout.count(b"\n"), json.loads(done.stdout)["group"]["name"]) == (1, name)
    assert name.encode() in run("group", "list", "-s", "S1", COLUMNS="40").stdout


def test_warnings_are_in_the_answer_or_on_stderr(run: Run, ask: Ask) -> None:
    answer = ask("group", "create", "X", "-s", "S1", "--name", "jwt login")
    assert answer["warnings"][0].startswith("The name speaks of jwt")
    done = run("group", "create", "Y", "-s", "S1", "--name", "jwt login")
    assert done.stderr.startswith(b"warning: The name speaks of jwt")
    assert b"warning" not in done.stdout


def test_a_warning_of_python_is_not_on_stdout(run: Run) -> None:
    done = run("session", "list", "--json", PYTHONWARNINGS="always", PYTHONDEVMODE="1")
    assert json.loads(done.stdout)["success"] is True
