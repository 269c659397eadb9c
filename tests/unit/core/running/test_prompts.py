"""What is a prompt: the last line alone, and only when it stays the last one."""

from __future__ import annotations

import itertools

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import prompts, terminal_output
from tests.cases import every
from tests.unit.core import growth

OPEN = {
    "a question mark at the start": ("? Project name: ", "start"),
    "a coloured question mark": ("\x1b[32m?\x1b[39m \x1b[1mProject name\x1b[22m \u203a ", "start"),
    "Enter": ("Enter your name: ", "start"),
    "Enter after blanks": ("  Enter a value: ", "start"),
    "Press": ("Press any key to continue . . .", "start"),
    "[Y/n]": ("Do you want to continue? [Y/n] ", "pair"),
    "[y/N]": ("Overwrite? [y/N] ", "pair"),
    "(yes/no)": ("Are you sure (yes/no)? ", "pair"),
    "[Y/n] before words": ("[Y/n] to continue with the installation", "pair"),
    "[y/n]": ("Go on [y/n]", "pair"),
    "[Y/N]": ("Go on [Y/N]:", "pair"),
    "(y)": ("Ok to proceed? (y) ", "pair"),
    "[J/n]": ("Fortfahren? [J/n] ", "pair"),
    "(ja/nein)": ("Wirklich? (ja/nein) ", "pair"),
    "(yes/no/[fingerprint])": ("Are you sure you want to continue connecting (yes/no/[fingerprint])? ", "pair"),
    "(YES/NO)": ("REALLY? (YES/NO) ", "pair"),
    "(yes/no/all)": ("Replace it? (yes/no/all): ", "pair"),
    "[y,n,q,a,d,e,?]": ("(1/2) Stage this hunk [y,n,q,a,d,e,?]? ", "pair"),
    "(Y/I/N/O/D/Z)": ("*** sshd_config (Y/I/N/O/D/Z) [default=N] ? ", "pair"),
    "(y or n)": ("Make it pending? (y or [n]) (y or n) ", "pair"),
    "[o/N]": ("Continuer ? [o/N] ", "pair"),
    "y/n without brackets": ("Continue? y/n: ", "pair"),
    "Username": ("Username: ", "secret"),
    "Username for an address": ("Username for 'https://github.com': ", "secret"),
    "Password": ("Password: ", "secret"),
    "password of sudo": ("[sudo] password for x: ", "secret"),
    "password of ssh": ("git@example.com's password: ", "secret"),
    "New password": ("New password:", "secret"),
    "passphrase": ("Enter passphrase for key: ", "start"),
    "passphrase with a path": ("passphrase for key '/home/x/.ssh/id_ed25519': ", "secret"),
    "passphrase in brackets": ("New passphrase (empty for no passphrase): ", "secret"),
    "login": ("debian login: ", "secret"),
    "Select": ("Select 1-3> ", "choice"),
    "Choose": ("Choose an option > ", "choice"),
    "select at the start": ("select one> ", "choice"),
    "--More--": ("--More--", "pager"),
    "--More--(45%)": ("--More--(45%)", "pager"),
    "(END)": ("\x1b[7mlines 1-20/20 (END)\x1b[27m", "pager"),
    "(END) alone": ("(END)", "pager"),
    "a spinner behind": ("Ok to proceed? (y) |\b/\b-\b\\", "pair"),
    "a spinner over the first letter": ("Press any key\r|\r/\r-", "start"),
    "a spinner over a secret": ("Password: \r⠋\r⠙", "secret"),
    "a spinner that erases": ("Ok to proceed? (y) \x1b[1G\x1b[0K⠙\x1b[1G\x1b[0K⠹", "pair"),
    "a spinner before": ("\r⠋ Enter a value: \r⠙ Enter a value: ", "start"),
    "a spinner of strokes before": ("| Press Enter\r/ Press Enter\r- Press Enter", "start"),
    "dots behind": ("Overwrite? [y/N] ....", "pair"),
    "a progress bar that is gone": ("Loading 98%\r\x1b[KOverwrite? [y/N] ", "pair"),
    "a long line before it": ("." * 5000 + " Overwrite? [y/N] ", "pair"),
}

FINISHED = {
    "a pair": ("Overwrite? [y/N]", "pair"),
    "a pair and a colon": ("Continue (yes/no):", "pair"),
    "a single yes": ("Ok to proceed? (y)", "pair"),
    "a carriage return": ("Overwrite? [y/N] \r", "pair"),
    "a password": ("Password:", "secret"),
    "a password of somebody": ("[sudo] password for x: ", "secret"),
    "a username": ("Username for 'https://github.com':", "secret"),
}

NO_PROMPT = {
    "nothing": "",
    "blanks": "   ",
    "a dot": ".",
    "a compiler": "Compiling foo? yes",
    "a question of the text": "Do you want to know more? See docs:",
    "waiting": "waiting",
    "Entering": "Entering directory /x",
    "enter in lower case": "enter the loop",
    "Pressed": "Pressed on",
    "a question mark inside": "what ? no",
    "not applicable": "Coverage [N/A]",
    "a function of n": "It takes O(n)",
    "a function of y": "f(y)",
    "an index": "a[y]",
    "a fraction": "done (1/2)",
    "an extra": "pip install foo[yaml/json]",
    "passwordless": "passwordless login works",
    "a password that is told": "password: 12 characters",
    "a setting": "db_password: ",
    "passwords": "Passwords: ",
    "select in SQL": "a select > b",
    "generics": "Map<Select, List<A>>",
    "a comparison": "if a > ",
    "more in a text": "--More-- is a pager, see there",
    "(END) in a text": "the (END) of it",
    "a pair in double quotes": 'it asks "Overwrite? [y/N] " here',
    "a pair in backticks": "it asks `Overwrite? [y/N]`",
    "a pair in typographic quotes": "it asks “Overwrite? [y/N]”",
    "a pair in single quotes": "it doesn't ask 'Overwrite? [y/N]'",
    "a pair in Japanese quotes": "「続行しますか [y/N]」",
    "a sentence about a pair": "Answer [y/N] when you are asked.",
    "JSON": '{"result": "Overwrite? [y/N] ',
    "a list in JSON": '["Overwrite? [y/N] ',
    "a key in JSON": '  "password": ',
    "an erased prompt": "Overwrite? [y/N] \r\x1b[K",
    "a prompt that was answered": "Overwrite? [y/N] \r\x1b[KOverwriting",
    "a title": "\x1b]0;Password: \x07",
    "a pair in the middle of much text": "Overwrite? [y/N] " + "word " * 200,
    "a start of much text": "Enter " + "word " * 200,
}

ONLY_UNFINISHED = {
    "a start": "Enter your name:",
    "a pager": "--More--",
    "a choice": "Select 1-3> ",
    "a pair before words": "[Y/n] to continue",
    "a pair without brackets": "Continue? y/n",
    "a listed prompt": "- Overwrite? [y/N]",
    "a quoted prompt": "> Overwrite? [y/N]",
    "a commented prompt": "# Password:",
    "a numbered prompt": "3. Overwrite? [y/N]",
    "a heading with a password": "I change the password handler next:",
    "a heading for many": "The password for the following:",
    "a login": "last login:",
}


def ids(table: dict[str, object]) -> list[object]:
    return [pytest.param(*(row if isinstance(row, tuple) else (row,)), id=name) for name, row in table.items()]


def watched(text: str) -> prompts.Watch:
    watch = prompts.Watch()
    watch.feed("out", text, 100.0)
    return watch


@every(("line", "kind"), ids(OPEN))
def test_an_unfinished_last_line_is_a_prompt_after_two_seconds(line: str, kind: str) -> None:
    found = watched("some text\n" + line).look()
    assert found is not None
    assert (found.kind, found.finished, found.since, found.due) == (kind, False, 100.0, 102.0)


@pytest.mark.parametrize(("line", "kind"), ids(FINISHED))
def test_a_finished_last_line_of_two_kinds_is_a_prompt_after_ten_seconds(line: str, kind: str) -> None:
    found = watched(f"some text\n{line}\n").look()
    assert found is not None
    assert (found.kind, found.finished, found.since, found.due) == (kind, True, 100.0, 110.0)


@every("ending", ["", "\n"], ids=["unfinished", "finished"])
@every("line", ids(NO_PROMPT))
def test_other_text_is_no_prompt_however_long_it_stays(line: str, ending: str) -> None:
    assert watched("some text\n" + line + ending).look() is None


@pytest.mark.parametrize("line", ids(ONLY_UNFINISHED))
def test_these_are_no_prompts_once_they_are_finished(line: str) -> None:
    assert watched(f"some text\n{line}\n").look() is None


@pytest.mark.parametrize("rest", ["\n\n", "  \r\n", "\r⠋\r⠙"], ids=["empty lines", "blanks", "a spinner below"])
def test_a_finished_prompt_stays_the_last_line_while_nothing_with_a_word_follows(rest: str) -> None:
    found = watched("Overwrite? [y/N]\n" + rest).look()
    assert found is not None
    assert (found.text, found.finished) == ("Overwrite? [y/N]", True)


@pytest.mark.parametrize("heading", ["Select one:", "Choose a shell", "\x1b[1mselect one\x1b[0m"])
def test_a_bare_arrow_asks_after_a_heading(heading: str) -> None:
    found = watched(f"{heading}\n 1) a\n 2) b\n> ").look()
    assert found is not None
    assert found.kind == "choice"
    assert watched("A quotation\n> ").look() is None


def test_the_prompt_is_told_without_codes_and_within_bounds() -> None:
    found = watched("\x1b[31mOverwrite \x1b]8;;http://x\x07it\x1b]8;;\x07?\x1b[0m [y/N] ").look()
    assert found is not None
    assert found.text == "Overwrite it? [y/N]"
    long = watched("Enter " + "x" * 390).look()
    assert long is not None
    assert len(long.text) == prompts.SHOWN


def test_the_settings_are_the_two_waits() -> None:
    watch = prompts.Watch(0.5, 0.7)
    watch.feed("out", "Password: ", 1.0)
    found = watch.look()
    assert found is not None
    assert found.due == 1.5
    watch.feed("out", "\n", 2.0)
    found = watch.look()
    assert found is not None
    assert found.due == 2.7


@pytest.mark.parametrize("frame", ["\r{} Ok to proceed? (y) ", "\r{}", "\x1b[2K\r{} ", "\b{}", ".{}"])
def test_a_spinner_is_no_progress(frame: str) -> None:
    watch = watched("Ok to proceed? (y) ")
    watch.look()
    for step in range(40):
        watch.feed("out", frame.format("|/-\\"[step % 4]), 100.1 + step / 10)
        found = watch.look()
        assert found is not None
        assert (found.since, found.due) == (100.0, 102.0)


def test_a_new_word_starts_the_wait_again() -> None:
    watch = watched("Overwrite a? [y/N] ")
    watch.look()
    watch.feed("out", "\rOverwrite b? [y/N] ", 101.5)
    found = watch.look()
    assert found is not None
    assert found.due == 103.5


def test_a_word_on_the_other_stream_starts_the_wait_again_and_a_spinner_there_does_not() -> None:
    watch = watched("Password: ")
    watch.feed("err", "\r⠋", 101.0)
    found = watch.look()
    assert found is not None
    assert found.due == 102.0
    watch.feed("err", "downloading\n", 101.5)
    found = watch.look()
    assert found is not None
    assert found.due == 103.5


def test_of_two_prompts_the_one_that_is_due_first_is_told() -> None:
    watch = watched("Overwrite? [y/N]\n")
    watch.feed("err", "Password: ", 100.0)
    found = watch.look()
    assert found is not None
    assert (found.text, found.due) == ("Password:", 102.0)


def test_nothing_was_written_yet() -> None:
    assert prompts.Watch().look() is None


LINES = st.sampled_from([line for line, _ in (*OPEN.values(), *FINISHED.values())])
PLAIN = st.sampled_from(["ok", "42", "Compiling foo? yes", "done.", "日本", "}"])


@given(before=st.lists(LINES, min_size=1, max_size=5), last=PLAIN, ending=st.sampled_from(["", "\n", "\r\n", "\n\n"]))
@settings(max_examples=200)
def test_p34_text_that_scrolled_by_is_never_a_prompt(before: list[str], last: str, ending: str) -> None:
    assert watched("\n".join(before) + "\n" + last + ending).look() is None


@given(line=st.sampled_from([line for line, _ in FINISHED.values()]), quotes=st.sampled_from(['""', "``", "“”", "«»"]),
       words=st.sampled_from(["", "It asks ", "Then: "]))  # fmt: skip
@settings(max_examples=100)
def test_p34_a_quoted_prompt_is_none(line: str, quotes: str, words: str) -> None:
    quoted = words + quotes[0] + line.rstrip() + quotes[1]
    assert (watched(quoted).look(), watched(quoted + "\n").look()) == (None, None)


CODES = ["\n", "\r", "\b", "\x1b[K", "\x1b[2K", "\x1b[1G", "\x1b[1A", "\x1b[3D"]
PIECES = st.lists(
    st.one_of(LINES, PLAIN, st.sampled_from(CODES), st.text(max_size=6)),
    max_size=12,
)


@given(pieces=PIECES, cuts=st.lists(st.integers(0, 400), max_size=6))
@settings(max_examples=300)
def test_p34_how_the_text_was_cut_into_reads_changes_nothing(pieces: list[str], cuts: list[int]) -> None:
    text = "".join(pieces)
    places = sorted({0, len(text), *(cut for cut in cuts if cut < len(text))})
    watch = prompts.Watch()
    for start, end in itertools.pairwise(places):
        watch.feed("out", text[start:end], 100.0)
        watch.look()
    assert watch.look() == watched(text).look()


@given(text=st.text(st.characters(codec="utf-8", exclude_characters="\n"), max_size=80), codes=PIECES)
@settings(max_examples=200)
def test_p34_what_is_shown_holds_no_codes_and_is_shown_the_same_again(text: str, codes: list[str]) -> None:
    shown = terminal_output.clean(text + "".join(codes))
    assert not any(ord(character) < 32 and character != "\n" for character in shown)
    assert terminal_output.clean(shown) == shown


SHOWN = {
    "plain": ("abc", "abc"),
    "colours": ("\x1b[1;31mred\x1b[0m", "red"),
    "a colour of 24 bits": ("\x1b[38:2::1:2:3mred\x1b[m", "red"),
    "a carriage return": ("abc\rX", "Xbc"),
    "a line end of Windows": ("abc\r\ndef\r\n", "abc\ndef\n"),
    "a backspace": ("abc\b\bX", "aXc"),
    "a backspace too many": ("a\b\b\bX", "X"),
    "erasing to the end": ("abc\r\x1b[K", ""),
    "erasing from the start": ("abc\x1b[2D\x1b[1K", "  c"),
    "erasing the line": ("abc\x1b[2Kd", "   d"),
    "erasing the screen": ("abc\x1b[2J\x1b[Hd", "d"),
    "a column": ("abc\x1b[2GX", "aXc"),
    "right": ("abc\r\x1b[CX", "aXc"),
    "left": ("abc\x1b[2DX", "aXc"),
    "far right": ("a\x1b[99999999999CX", "a" + " " * (terminal_output.WIDEST - 1) + "X"),
    "up": ("abc\x1b[1Ad", "d"),
    "saved": ("a\x1b7bc\x1b8X", "aXc"),
    "saved by a sequence": ("a\x1b[sbc\x1b[uX", "aXc"),
    "characters deleted": ("abcd\x1b[3D\x1b[2P", "ad"),
    "characters erased": ("abcd\x1b[3D\x1b[2X", "a  d"),
    "characters inserted": ("ad\x1b[D\x1b[2@bc", "abcd"),
    "a reset": ("abc\x1bcd", "d"),
    "a title": ("\x1b]0;title\x07abc", "abc"),
    "a title with the long end": ("\x1b]0;title\x1b\\abc", "abc"),
    "a cut sequence": ("abc\x1b[3", "abc"),
    "a cut title": ("abc\x1b]0;tit", "abc"),
    "a lone escape": ("abc\x1b", "abc"),
    "a character set": ("\x1b(Babc", "abc"),
    "a hidden cursor": ("\x1b[?25labc", "abc"),
    "a sequence of one character": ("\x9b31mabc", "abc"),
    "a tab": ("a\tb", "a b"),
    "a bell": ("a\ab", "ab"),
}


@every(("text", "shown"), ids(SHOWN))
def test_a_line_is_shown_as_on_a_terminal(text: str, shown: str) -> None:
    assert terminal_output.clean(text) == shown


@pytest.mark.parametrize("unit", ["\x1b", "\x1b[", "(", "y/", "\ra", "[y/", '"', "password ", " "], ids=repr)
@pytest.mark.parametrize("length", [prompts.KEPT, 100_000], ids=["what is kept", "more than is kept"])
def test_hostile_text_takes_linear_time(unit: str, length: int) -> None:
    count = length // len(unit)
    assert growth.is_even(lambda text: watched(text).look(), unit, count)
    assert growth.is_even(lambda text: watched(text + "\n").look(), unit, count)
