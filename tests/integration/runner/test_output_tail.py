"""The newest part of what a run has written, where an agent may put anything in its place."""

from __future__ import annotations

import os
import pathlib

import pytest

from orchestrator.runner import evidence_files, output_tail


@pytest.fixture
def raw(tmp_path: pathlib.Path) -> pathlib.Path:
    """The file of a run's output."""
    return evidence_files.raw_file(tmp_path, "S1", "run-1-execute")


def newest(root: pathlib.Path) -> tuple[str, bool] | None:
    found = output_tail.newest(str(root), "S1", "run-1-execute")
    return None if found is None else tuple(found)


def test_nothing_is_there_before_it_is_written(tmp_path: pathlib.Path) -> None:
    assert newest(tmp_path) is None


def test_the_attempt_that_was_written_last_is_shown_and_no_other_run(tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    for name, text, at in (("", "first", 1), ("-2", "second", 3), ("-part-1", "part", 2)):
        path = raw.with_name(f"run-1-execute{name}.log")
        path.write_text(text)
        os.utime(path, (at, at))
    raw.with_name("run-12-execute.log").write_text("another's")
    assert newest(tmp_path) == ("second", False)


def test_a_long_output_begins_with_a_line(tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    raw.write_text("x" * 100 + "\n" + "whole line\n" * 30_000)
    text, is_cut = newest(tmp_path) or ("", False)
    assert (text[:11], is_cut, len(text) <= output_tail.READ) == ("whole line\n", True, True)


def test_half_a_line_is_not_shown(tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    raw.write_text("x" * (output_tail.READ + 1))
    assert newest(tmp_path) == ("", True)


@pytest.mark.parametrize("link", [os.symlink, os.link])
def test_a_link_in_its_place_is_not_read(link: object, tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    (tmp_path / "secret").write_text("mine")
    link(tmp_path / "secret", raw)  # type: ignore[operator]
    assert newest(tmp_path) is None


def test_a_link_on_the_way_is_not_followed(tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    raw.write_text("text")
    evidence = raw.parent.parent
    evidence.rename(tmp_path / "elsewhere")
    evidence.symlink_to(tmp_path / "elsewhere")
    assert newest(tmp_path) is None


def test_a_pipe_is_not_waited_for(tmp_path: pathlib.Path, raw: pathlib.Path) -> None:
    os.mkfifo(raw)
    assert newest(tmp_path) is None
