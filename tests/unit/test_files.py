"""Files that users name: what is no regular file of a fair size in UTF-8 is told by name, and never waited for."""

from __future__ import annotations

import os
import pathlib
import socket
from collections.abc import Callable

import pytest

from orchestrator import errors, files


def listening(path: pathlib.Path) -> None:
    """Leave a socket at a path; the name may be longer than an address can be."""
    here = os.getcwd()
    os.chdir(path.parent)
    try:
        with socket.socket(socket.AF_UNIX) as made:
            made.bind(path.name)
    finally:
        os.chdir(here)


STRANGE: dict[str, tuple[Callable[[pathlib.Path], object], str]] = {
    "absent": (lambda path: None, "cannot be read: No such file or directory"),
    "folder": (lambda path: path.mkdir(), "cannot be read: it is a folder"),
    "pipe": (lambda path: os.mkfifo(path), "cannot be read: it is a named pipe; write its content to a file first"),
    "socket": (listening, "cannot be read: it is a socket"),
    "device": (lambda path: path.symlink_to("/dev/zero"), "cannot be read: it is a device"),
    "loop of links": (
        lambda path: path.symlink_to(path.name), "cannot be read: Too many levels of symbolic links",
    ),
    "link to nothing": (lambda path: path.symlink_to("gone"), "cannot be read: No such file or directory"),
}  # fmt: skip


@pytest.mark.parametrize(("made", "reason"), STRANGE.values(), ids=STRANGE)
def test_what_is_no_regular_file_is_named(
    tmp_path: pathlib.Path, made: Callable[[pathlib.Path], object], reason: str
) -> None:
    made(tmp_path / "given")
    with pytest.raises(files.Unreadable) as caught:
        files.content(tmp_path / "given")
    assert (caught.value.reason, caught.value.is_content) == (reason, False)


def test_a_file_that_became_a_pipe_after_it_was_looked_at_is_not_waited_for(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").touch()
    os.mkfifo(tmp_path / "pipe")
    regular = os.stat(tmp_path / "file")
    monkeypatch.setattr(os, "stat", lambda name: regular)
    with pytest.raises(files.Unreadable, match="named pipe"):
        files.opened(tmp_path / "pipe")


def test_a_name_that_no_file_can_have_is_told() -> None:
    with pytest.raises(files.Unreadable, match="cannot be read: embedded null"):
        files.content("a\0b")


def test_a_link_to_a_file_is_followed(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"\xef\xbb\xbfa")
    (tmp_path / "link").symlink_to("file")
    assert files.text(tmp_path / "link") == "a"


def test_a_file_of_the_limit_is_read_and_a_larger_one_is_not(tmp_path: pathlib.Path) -> None:
    (tmp_path / "file").write_bytes(b"abc")
    assert files.content(tmp_path / "file", 3) == b"abc"
    with pytest.raises(files.Unreadable) as caught:
        files.content(tmp_path / "file", 2)
    assert (caught.value.reason, caught.value.is_content) == ("has more than 2 bytes", True)


@pytest.mark.parametrize(
    ("data", "place"),
    [
        pytest.param(b"caf\xe9", "byte 0xe9 at offset 3, line 1", id="Latin-1"),
        pytest.param(b"a\nb\n\xff", "byte 0xff at offset 4, line 3", id="third line"),
        pytest.param(b"\xef\xbb\xbfa\xff", "byte 0xff at offset 4, line 1", id="after a byte-order mark"),
        pytest.param("a".encode("utf-16"), "byte 0xff at offset 0, line 1", id="UTF-16"),
    ],
)
def test_what_is_not_utf_8_is_told_with_its_place(data: bytes, place: str) -> None:
    kind = "UTF-16, not UTF-8" if data.startswith(b"\xff\xfe") else "not UTF-8"
    with pytest.raises(files.Unreadable) as caught:
        files.decoded(data)
    assert (caught.value.reason, caught.value.is_content) == (f"is {kind}: {place}", True)


@pytest.mark.parametrize(
    ("problem", "kind", "code", "advice"),
    [
        pytest.param(files.Unreadable("cannot be read: x"), errors.EnvironmentProblem, "FILE_UNREADABLE", "so", id="5"),
        pytest.param(
            files.Unreadable("has more than 2 bytes", is_content=True), errors.InvalidInput, "FILE_INVALID",
            "Name a smaller file", id="large",
        ),
        pytest.param(
            files.Unreadable("is not UTF-8: x", is_content=True), errors.InvalidInput, "FILE_INVALID",
            "Save it as UTF-8", id="encoding",
        ),
    ],
)  # fmt: skip
def test_the_error_says_whose_fault_it_is(problem: files.Unreadable, kind: type, code: str, advice: str) -> None:
    found = files.refused(problem, "--report: 'f'", "so")
    assert (type(found), found.code, found.message) == (kind, code, f"--report: 'f' {problem.reason}.")
    assert found.suggestion == advice
