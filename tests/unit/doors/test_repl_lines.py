"""What a line means: a command, a task, a slip, nothing, or something that is refused."""

from __future__ import annotations

import errno
import io
import os
import pty
import string
import sys
from collections.abc import Iterator

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from orchestrator.doors.cli.repl import parser, sources
from orchestrator.errors import EnvironmentProblem, UsageError

COMMAND, TASK, SLIP = parser.COMMAND, parser.TASK, parser.SLIP


@pytest.mark.parametrize(
    ("line", "meant"),
    [
        pytest.param(b"/tasks\n", (COMMAND, "/tasks", ""), id="a command"),
        pytest.param(b"/tasks", (COMMAND, "/tasks", ""), id="without a line end"),
        pytest.param(b"/tasks\r\n", (COMMAND, "/tasks", ""), id="with the line end of Windows"),
        pytest.param(b"\xef\xbb\xbf/tasks\n", (COMMAND, "/tasks", ""), id="after a byte-order mark"),
        pytest.param(b"  /tasks \t\n", (COMMAND, "/tasks", ""), id="between blanks"),
        pytest.param(b"/model  gpt 5 \n", (COMMAND, "/model", "gpt 5"), id="with an argument"),
        pytest.param(b"create a.md\n", (TASK, "", "create a.md"), id="a task"),
        pytest.param("README.mdを作成\n".encode(), (TASK, "", "README.mdを作成"), id="a task in Japanese"),
        pytest.param(b"# create a.md\n", (TASK, "", "# create a.md"), id="what looks like a comment"),
        pytest.param(b"look at /etc/hosts\n", (TASK, "", "look at /etc/hosts"), id="a slash further on"),
        pytest.param(b"exit\n", (SLIP, "exit", ""), id="exit without its slash"),
        pytest.param(b" EXIT \r\n", (SLIP, "exit", ""), id="exit in capitals"),
        pytest.param(b"exit now\n", (TASK, "", "exit now"), id="exit within a task"),
        pytest.param(b"quit\n", (TASK, "", "quit"), id="another word"),
        pytest.param(b"x" * parser.LINE_LIMIT + b"\r\n", (TASK, "", "x" * parser.LINE_LIMIT), id="the longest"),
    ],
)
def test_a_line_says_what_it_means(line: bytes, meant: tuple[str, str, str]) -> None:
    assert parser.order(parser.decoded(line, 1)) == meant


@pytest.mark.parametrize("line", [b"\n", b"\r\n", b" \t \n", b"\xef\xbb\xbf\n", "\u3000\n".encode()], ids=ascii)
def test_a_blank_line_means_nothing(line: bytes) -> None:
    assert parser.order(parser.decoded(line, 1)) is None


@pytest.mark.parametrize(
    ("line", "said", "helps"),
    [
        pytest.param(b"/tsks", "There is no command '/tsks'. Did you mean /tasks?", "/tasks", id="a near miss"),
        pytest.param(b"/TASKS", "There is no command '/TASKS'. Did you mean /tasks?", "/tasks", id="capitals"),
        pytest.param(b"/quit", "There is no command '/quit'. Did you mean /exit?", "/exit", id="another word for it"),
        pytest.param(b"/foo", "There is no command '/foo'.", "/help", id="nothing near"),
        pytest.param(b"/", "There is no command '/'.", "/help", id="the slash alone"),
        pytest.param(b"// note", "There is no command '//'.", "/help", id="two slashes"),
        pytest.param(b"caf\xe9", "Line 7 is not UTF-8: byte 0xe9 at offset 3.", "Send it as UTF-8", id="Latin-1"),
        pytest.param("hé".encode("utf-16"), "Line 7 is not UTF-8: byte 0xff at offset 0.", "Send it as UTF-8",
                     id="UTF-16"),
        pytest.param(b"a\0b", "Line 7 holds a NUL character.", "Leave it out", id="NUL"),
        pytest.param(b"x" * (parser.LINE_LIMIT + 1), "Line 7 has more than 1048576 bytes.",
                     "Put the text into a file and name the file", id="too long"),
    ],
)  # fmt: skip
def test_what_is_no_line_is_refused_with_what_helps(line: bytes, said: str, helps: str) -> None:
    with pytest.raises(UsageError) as refused:
        parser.order(parser.decoded(line, 7))
    assert (refused.value.message, refused.value.suggestion) == (said, helps)


@given(st.binary(max_size=200))
@example(b"\xef\xbb\xbf\xef\xbb\xbf/exit")
def test_every_line_has_a_defined_meaning(line: bytes) -> None:
    """Source: seed 001, Property 28."""
    found = meaning(line.replace(b"\n", b""))
    assert found in ("LINE_INVALID", "UNKNOWN_COMMAND", None, COMMAND, TASK, SLIP)


def meaning(line: bytes) -> str | None:
    try:
        found = parser.order(parser.decoded(line, 1))
    except UsageError as refused:
        return refused.code
    assert found is None or (found.kind == COMMAND) == (found.name in parser.COMMANDS)
    return found.kind if found else None


@given(st.sampled_from(sorted(parser.COMMANDS)), st.integers(1, 20), st.sampled_from(string.ascii_lowercase))
def test_a_misspelt_command_is_never_obeyed(name: str, place: int, letter: str) -> None:
    """Source: seed 001, Property 29."""
    written = name[:place] + letter + name[place:]
    if written not in parser.COMMANDS:
        with pytest.raises(UsageError, match="There is no command"):
            parser.order(written)


@pytest.mark.parametrize(
    ("rest", "wanted"),
    [
        pytest.param("", parser.LogsWanted(), id="the list"),
        pytest.param("task-001", parser.LogsWanted("task-001"), id="one"),
        pytest.param("--full task-001", parser.LogsWanted("task-001", full=True), id="one in full"),
        pytest.param("task-001 --json", parser.LogsWanted("task-001", json=True), id="one as JSON"),
        pytest.param("--tree --json", parser.LogsWanted(tree=True, json=True), id="the tree as JSON"),
    ],
)
def test_logs_are_asked_for_in_several_ways(rest: str, wanted: parser.LogsWanted) -> None:
    assert parser.logs(rest) == wanted


@pytest.mark.parametrize(
    ("rest", "said"),
    [
        pytest.param("--ful", "/logs has no option '--ful'. Did you mean --full?", id="a near miss"),
        pytest.param("task-001 task-002", "/logs shows one log at a time, not 'task-001 task-002'.", id="two"),
        pytest.param("--tree task-001", "/logs --tree shows all logs, so it takes no id.", id="a tree of one"),
    ],
)
def test_logs_cannot_be_asked_for_like_this(rest: str, said: str) -> None:
    with pytest.raises(UsageError) as refused:
        parser.logs(rest)
    assert refused.value.message == said


@pytest.mark.parametrize(
    ("rest", "meant"),
    [
        pytest.param("yes, please", (None, "yes, please"), id="a text"),
        pytest.param("task-17 yes", ("task-17", "yes"), id="of a task"),
        pytest.param("task-001   two  words", ("task-001", "two  words"), id="of a task, by its log"),
        pytest.param("task-force is ready", (None, "task-force is ready"), id="a word like an id"),
    ],
)
def test_a_response_may_name_its_task(rest: str, meant: tuple[str | None, str]) -> None:
    assert parser.response(rest) == meant


@pytest.mark.parametrize("rest", ["", "task-17"], ids=["nothing", "an id alone"])
def test_a_response_needs_a_text(rest: str) -> None:
    with pytest.raises(UsageError, match="needs an argument"):
        parser.response(rest)


@given(st.lists(st.binary(max_size=20).map(lambda line: line.replace(b"\n", b"")), max_size=8), st.booleans())
def test_every_line_of_a_stream_is_read_once_and_in_order(lines: list[bytes], is_ended: bool) -> None:
    """Source: seed 001, Property 28."""
    data = b"\n".join(lines) + (b"\n" if is_ended else b"")
    source = sources.Stream(io.BytesIO(data))
    found = []
    while (line := source.read()) is not None:
        found.append(line)
    assert b"".join(found) == data
    assert len(found) == data.count(b"\n") + (not data.endswith(b"\n") and bool(data))


def test_a_line_that_is_too_long_is_one_line_and_the_next_one_is_read() -> None:
    source = sources.Stream(io.BytesIO(b"x" * (3 * parser.LINE_LIMIT) + b"\n/exit\n"))
    with pytest.raises(UsageError, match="more than"):
        parser.decoded(source.read() or b"", 1)
    assert (source.read(), source.read()) == (b"/exit\n", None)


def test_a_stream_that_is_closed_has_no_lines() -> None:
    assert sources.Stream(None).read() is None


class Broken(io.BytesIO):
    def readline(self, size: int | None = -1, /) -> bytes:
        raise OSError(errno.EIO, "Input/output error")


def test_a_stream_that_cannot_be_read_is_said_to_be_so() -> None:
    with pytest.raises(EnvironmentProblem, match="Input/output error"):
        sources.Stream(Broken()).read()


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[int]:
    """What is pressed at a terminal whose answers go elsewhere."""
    master, slave = pty.openpty()
    with open(slave, encoding="utf-8") as stdin:
        monkeypatch.setattr(sys, "stdin", stdin)
        yield master
    os.close(master)


@pytest.mark.parametrize(
    ("pressed", "lines"),
    [
        (b"/keys\n\x04", [b"/keys\n", None]),
        (b"create notes.md\x04\x04", [None]),
        (b"/keys\ncreate notes.md\x04\x04", [b"/keys\n", None]),
        (b"create\x04 notes.md\n\x04", [b"create notes.md\n", None]),
    ],
    ids=["a whole line", "half a line", "half a line after a whole one", "one that is finished after all"],
)
def test_half_a_line_at_a_terminal_is_none(pressed: bytes, lines: list[bytes | None], keys: int) -> None:
    """Source: seed 001, Property 28."""
    terminal = sources.Terminal(())
    os.write(keys, pressed)
    assert [terminal.read() for _ in lines] == lines


def test_without_an_editor_half_a_line_is_none_either(keys: int, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "is_terminal", lambda stream: True)
    monkeypatch.setitem(sys.modules, "readline", None)
    terminal = sources.Terminal(())
    os.write(keys, b"create notes.md\x04\x04")
    assert terminal.read() is None
