"""What of settings and records counts as touched between two looks, and what other processes may do meanwhile."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import time
from collections.abc import Callable

import pytest

from orchestrator.runner import guarded

OWN, OTHER = ".orchestrator/sessions/own", ".orchestrator/sessions/other"
OLD = time.time() - 10 * 86_400
CUT = time.time() - 86_400


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    files = [".claude/CLAUDE.md", ".claude/settings.json", ".claude/repl.json", ".claude/agents/dev.md"]
    for session in (OWN, OTHER):
        files += [f"{session}/logs/task-001.json", f"{session}/logs/index.json", f"{session}/report.json"]
        files += [f"{session}/evidence/evidence_index.json", f"{session}/evidence/raw/op.log"]
    for name in files:
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(name)
    (tmp_path / ".claude/rules").mkdir()
    return tmp_path


def put(path: str, text: str = "another text") -> Callable[[pathlib.Path], object]:
    return lambda root: (root / path).write_text(text)


def gone(path: str) -> Callable[[pathlib.Path], object]:
    return lambda root: shutil.rmtree(root / path) if (root / path).is_dir() else (root / path).unlink()


def packed(path: str) -> Callable[[pathlib.Path], object]:
    return lambda root: (root / path).rename(root / f"{path}.gz")


def touched(root: pathlib.Path, act: Callable[[pathlib.Path], object]) -> tuple[str, ...]:
    before = guarded.look(str(root))
    act(root)
    return guarded.differences(before, guarded.look(str(root)), "own", CUT)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(put(".claude/settings.json"), ".claude/settings.json (changed)", id="settings"),
        pytest.param(gone(".claude/CLAUDE.md"), ".claude/CLAUDE.md (deleted)", id="the guide"),
        pytest.param(put(".claude/agents/new.md"), ".claude/agents/new.md (new)", id="an agent"),
        pytest.param(put(".claude/rules/a\nb.md"), "'.claude/rules/a\\nb.md' (new)", id="a name of two lines"),
        pytest.param(gone(".claude/rules"), ".claude/rules/ (deleted)", id="an empty folder"),
        pytest.param(put(f"{OWN}/logs/task-001.json"), f"{OWN}/logs/task-001.json (changed)", id="own log"),
        pytest.param(put(f"{OTHER}/logs/task-001.json"), f"{OTHER}/logs/task-001.json (changed)", id="another log"),
        pytest.param(put(f"{OWN}/evidence/raw/op.log"), f"{OWN}/evidence/raw/op.log (changed)", id="own output"),
        pytest.param(gone(f"{OWN}/evidence/raw/op.log"), f"{OWN}/evidence/raw/op.log (deleted)", id="output gone"),
        pytest.param(
            put(f"{OWN}/evidence/evidence_index.json"), f"{OWN}/evidence/evidence_index.json (changed)", id="own index",
        ),
        pytest.param(gone(f"{OTHER}/report.json"), f"{OTHER}/report.json (deleted)", id="a report"),
        pytest.param(
            gone(f"{OTHER}/evidence/evidence_index.json"), f"{OTHER}/evidence/evidence_index.json (deleted)",
            id="an index gone",
        ),
    ],
)  # fmt: skip
def test_this_is_touched(root: pathlib.Path, act: Callable[[pathlib.Path], object], expected: str) -> None:
    assert touched(root, act) == (expected,)


def test_a_text_of_the_same_length_with_its_old_times_is_another_text(root: pathlib.Path) -> None:
    def act(root: pathlib.Path) -> None:
        for path in (root / ".claude/settings.json", root / f"{OWN}/logs/task-001.json"):
            found = path.stat()
            path.write_text("x" * found.st_size)
            os.utime(path, ns=(found.st_atime_ns, found.st_mtime_ns))

    assert len(touched(root, act)) == 2


@pytest.mark.parametrize(
    "act",
    [
        pytest.param(put(".claude/notes.txt"), id="what says nothing to agents"),
        pytest.param(put(f"{OWN}/evidence/raw/new.log"), id="output of this run"),
        pytest.param(put(f"{OTHER}/evidence/raw/op.log"), id="output that another process writes"),
        pytest.param(put(f"{OTHER}/evidence/evidence_index.json"), id="an index that it writes"),
        pytest.param(put(f"{OTHER}/logs/task-002.json"), id="a log that it writes"),
        pytest.param(packed(f"{OTHER}/evidence/raw/op.log"), id="output that it packs"),
    ],
)
def test_this_is_not(root: pathlib.Path, act: Callable[[pathlib.Path], object]) -> None:
    assert touched(root, act) == ()


def test_files_that_are_there_while_others_are_written_are_not_looked_at(root: pathlib.Path) -> None:
    passing = (root / OTHER / "logs/.index.json.x.partial", root / OTHER / "evidence/evidence_index.sha256.next")
    for path in passing:
        path.write_text("x")

    def act(_: pathlib.Path) -> None:
        for path in passing:
            path.unlink()

    assert touched(root, act) == ()


def says(current: str | None, last: str | None) -> str:
    return json.dumps({"current_task_id": current, "last_task_id": last})


@pytest.mark.parametrize(
    ("text", "others", "found"),
    [
        (says("mine", "before"), (), []),
        (says(None, "before"), (), ["changed"]),
        (says(None, "other"), (), ["changed"]),
        (says("other", "before"), ("other",), []),
        (says(None, "other"), ("other",), []),
        (says(None, "unknown"), ("other",), ["changed"]),
        ("{", ("other",), ["changed"]),
        ('{"current_task_id": 5, "last_task_id": null}', ("other",), ["changed"]),
        (None, ("other",), ["deleted"]),
    ],
    ids=["the same", "as nobody wrote it", "of nobody here", "another began", "another ended", "of nobody", "no JSON",
         "no text", "gone"],
)  # fmt: skip
def test_the_pointers_are_written_by_processes_of_this_project_alone(
    root: pathlib.Path, text: str | None, others: tuple[str, ...], found: list[str]
) -> None:
    path = root / ".claude/repl.json"
    path.write_text(says("mine", "before"))
    before = guarded.look(str(root))
    path.unlink() if text is None else path.write_text(text)
    told = guarded.differences(before, guarded.look(str(root)), "own", CUT, others)
    assert told == tuple(f".claude/repl.json ({what})" for what in found)


@pytest.mark.parametrize(("session", "age", "count"), [(OTHER, OLD, 0), (OTHER, time.time(), 2), (OWN, OLD, 2)],
                         ids=["old of another", "new of another", "old and its own"])  # fmt: skip
def test_only_old_evidence_of_others_expires(root: pathlib.Path, session: str, age: float, count: int) -> None:
    os.utime(root / session / "evidence/evidence_index.json", (age, age))
    assert len(touched(root, gone(f"{session}/evidence"))) == count


def test_the_folder_is_another_one(root: pathlib.Path) -> None:
    def act(root: pathlib.Path) -> None:
        shutil.copytree(root / ".orchestrator", root / "copy")
        (root / ".orchestrator").rename(root / "away")
        (root / "copy").rename(root / ".orchestrator")

    assert touched(root, act)[0] == ".orchestrator (replaced)"


def test_where_nothing_is_nothing_is_touched(tmp_path: pathlib.Path) -> None:
    assert touched(tmp_path, lambda _: None) == ()
