"""What of settings and records counts as touched between two looks, and what other processes may do meanwhile."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import time
from collections.abc import Callable

import pytest

from orchestrator.runner import protected_paths, session_lock

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


def touched(root: pathlib.Path, act: Callable[[pathlib.Path], object], **working: tuple[str, ...]) -> tuple[str, ...]:
    before = protected_paths.look(str(root))
    act(root)
    return protected_paths.differences(before, protected_paths.look(str(root)), "own", CUT, working=working)


@pytest.mark.parametrize(
    ("act", "expected"),
    [
        pytest.param(put(".claude/settings.json"), ".claude/settings.json (changed)", id="settings"),
        pytest.param(put("orchestrator.json"), "orchestrator.json (new)", id="settings of ours"),
        pytest.param(lambda root: (root / "orchestrator.json").symlink_to("nowhere"), "orchestrator.json (new)",
                     id="a link in their place"),
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
        pytest.param(put(f"{OTHER}/evidence/raw/op.log"), f"{OTHER}/evidence/raw/op.log (changed)", id="other output"),
        pytest.param(put(f"{OTHER}/evidence/raw/no.log"), f"{OTHER}/evidence/raw/no.log (new)", id="output of nothing"),
        pytest.param(
            put(f"{OTHER}/evidence/evidence_index.json"), f"{OTHER}/evidence/evidence_index.json (changed)",
            id="another index",
        ),
        pytest.param(put(f"{OTHER}/logs/index.json"), f"{OTHER}/logs/index.json (changed)", id="an index of logs"),
        pytest.param(put(f"{OTHER}/logs/task-002.json"), f"{OTHER}/logs/task-002.json (new)", id="a log of no run"),
        pytest.param(put(f"{OTHER}/report.json"), f"{OTHER}/report.json (changed)", id="a report rewritten"),
        pytest.param(packed(f"{OTHER}/evidence/raw/op.log"), f"{OTHER}/evidence/raw/op.log (deleted)", id="packed"),
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
        pytest.param(put(".orchestrator/sessions/new/evidence/raw/op.log"), id="a session that begins"),
        pytest.param(put(f"{OTHER}/reports/abc"), id="what an agent reports elsewhere"),
    ],
)
def test_this_is_not(root: pathlib.Path, act: Callable[[pathlib.Path], object]) -> None:
    for folder in (f"{OTHER}/reports", ".orchestrator/sessions/new/evidence/raw"):
        (root / folder).mkdir(parents=True)
    assert touched(root, act) == ()


WRITTEN = (
    put(f"{OTHER}/evidence/raw/op-execute.log"), packed(f"{OTHER}/evidence/raw/op-execute.log"),
    put(f"{OTHER}/evidence/raw/op-execute-2.log"), put(f"{OTHER}/evidence/evidence_index.json"),
    put(f"{OTHER}/logs/index.json"), put(f"{OTHER}/logs/task-002.json"), put(f"{OTHER}/report.json"),
)  # fmt: skip


@pytest.mark.parametrize("act", WRITTEN, ids=["output", "packs it", "a second output", "evidence", "logs", "a log",
                                              "a report"])  # fmt: skip
def test_a_run_under_way_writes_in_its_session(root: pathlib.Path, act: Callable[[pathlib.Path], object]) -> None:
    (root / f"{OTHER}/evidence/raw/op-execute.log").write_text("x")
    assert touched(root, act, other=("op",)) == ()
    assert len(touched(root, put(f"{OTHER}/evidence/raw/op.log"), other=("op",))) == 1
    assert len(touched(root, put(f"{OTHER}/logs/task-001.json"), other=("op",))) == 1


HELD = {"logs/index.json": True, "logs/task-002.json": True, "report.json": True, "logs/task-001.json": False,
        "evidence/evidence_index.json": False, "evidence/raw/op.log": False}  # fmt: skip


@pytest.mark.parametrize("when", ["all the time", "until then", "from then on"])
def test_who_has_a_session_open_writes_logs_and_reports_in_it_and_no_evidence(root: pathlib.Path, when: str) -> None:
    for name, allowed in HELD.items():
        hold = None if when == "from then on" else session_lock.Hold(str(root), "other")
        before = protected_paths.look(str(root))
        (root / OTHER / name).write_text("another text")
        if hold is None:
            hold = session_lock.Hold(str(root), "other")
        elif when == "until then":
            hold.release()
        found = protected_paths.differences(before, protected_paths.look(str(root)), "own", CUT)
        hold.release()
        (root / OTHER / "logs/task-002.json").unlink(missing_ok=True)
        assert (name, found == ()) == (name, allowed)


def test_a_second_run_that_is_stopped_in_the_own_session_writes_its_log_there(root: pathlib.Path) -> None:
    assert touched(root, put(f"{OWN}/logs/index.json"), own=("second",)) == ()
    assert len(touched(root, put(f"{OWN}/evidence/evidence_index.json"), own=("second",))) == 1


def test_several_have_a_session_open_and_the_last_lets_it_go(root: pathlib.Path) -> None:
    first, second = session_lock.Hold(str(root), "other"), session_lock.Hold(str(root), "other")
    first.release()
    assert session_lock.sessions(str(root)) == {"other"}
    del second
    assert session_lock.sessions(str(root)) == frozenset()


def test_a_session_without_a_folder_is_held_by_nobody(root: pathlib.Path) -> None:
    with session_lock.held(str(root), "none"):
        assert not session_lock.is_open(str(root), "none")


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
    before = protected_paths.look(str(root))
    path.unlink() if text is None else path.write_text(text)
    told = protected_paths.differences(before, protected_paths.look(str(root)), "own", CUT, others)
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


def test_P1_settings_of_ours_that_are_there_may_not_be_changed_or_deleted(root: pathlib.Path) -> None:
    (root / "orchestrator.json").write_text("{}")
    assert touched(root, put("orchestrator.json")) == ("orchestrator.json (changed)",)
    assert touched(root, gone("orchestrator.json")) == ("orchestrator.json (deleted)",)


def test_P1_in_a_linked_worktree_the_file_of_the_main_checkout_is_guarded_as_well(root: pathlib.Path) -> None:
    tree, git = root / "trees/a", root / ".git/worktrees/a"
    for folder in (tree, git):
        folder.mkdir(parents=True)
    (tree / ".git").write_text(f"gitdir: {git}\n")
    (git / "commondir").write_text("../..\n")
    assert touched(tree, lambda _: put("orchestrator.json")(root)) == ("../../orchestrator.json (new)",)
    assert touched(tree, put("orchestrator.json")) == ("orchestrator.json (new)",)


def test_P2_a_guide_in_the_root_is_guarded_where_it_is_the_one_that_counts(root: pathlib.Path) -> None:
    assert touched(root, put("CLAUDE.md")) == ()
    (root / ".claude/CLAUDE.md").unlink()
    assert touched(root, put("CLAUDE.md", "more")) == ("CLAUDE.md (changed)",)


def test_P21_a_session_whose_folder_is_deleted_is_named_once_the_own_one_first(root: pathlib.Path) -> None:
    said = "(the evidence folder was deleted while the executor ran)"
    assert touched(root, lambda at: [gone(OTHER)(at), gone(OWN)(at)]) == (f"{OWN} {said}", f"{OTHER} {said}")


@pytest.mark.parametrize("make", [pathlib.Path.touch, lambda path: path.symlink_to("elsewhere")], ids=["file", "link"])
def test_P21_a_session_whose_folder_is_replaced_is_named_as_that(root: pathlib.Path, make: Callable[..., None]) -> None:
    def replaced(at: pathlib.Path) -> None:
        (at / OWN).rename(at / "elsewhere")
        make(at / OWN)

    assert touched(root, replaced) == (f"{OWN} (the evidence folder was replaced while the executor ran)",)
