"""What a task orders by name, over all its runs and with what people said about it since."""

from __future__ import annotations

import pathlib
import shutil
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.app.running import execute_run, requested_files, run_answers, session_status, submission
from orchestrator.app.running.run_session import RunSession
from orchestrator.errors import Refused
from orchestrator.runner import port
from orchestrator.store import run_reader
from tests import persons
from tests.integration.app.test_run_session import desk, done

JUNK = {"status": "COMPLETE", "output": "done", "writes": {"junk.txt": "x"}}


def as_person(at: RunSession) -> None:
    persons.sit(at.context)


def test_p31_what_an_earlier_run_of_the_task_changed_counts(tmp_path: pathlib.Path) -> None:
    first = {"status": "COMPLETE", "output": "done", "writes": {"a.md": "new"}}
    second = {"status": "COMPLETE", "output": "done", "writes": {"b.md": "new"}}
    at = desk(tmp_path, first, second)
    run = done(at, "Create a.md and b.md")
    assert (run["state"], run["error_reason"]) == ("incomplete", "b.md was not created.")
    as_person(at)
    run = run_answers.approve(at)
    assert execute_run.execute(at, run["id"])["state"] == "complete"


def test_p31_what_is_there_and_was_not_changed_is_named(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"a.md": "new"}})
    for name in ("a.md", "b.md"):
        pathlib.Path(at.project.root, name).write_text("old")
    run = done(at, "Update a.md and b.md")
    assert (run["state"], "Mentioned and not touched: b.md." in run["why"]) == ("complete", True)


def test_p31_a_task_that_goes_on_without_its_file_is_not_complete(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK, {**JUNK, "writes": {"junk.txt": "y"}})
    done(at, "Create docs/x.md")
    as_person(at)
    assert execute_run.execute(at, run_answers.approve(at)["id"])["executor_status"] == "INCOMPLETE"


def test_a_file_that_a_person_names_since_may_be_meant_instead(tmp_path: pathlib.Path) -> None:
    asks = {"status": "INCOMPLETE", "output": "Under which name?"}
    at = desk(tmp_path, asks, {"status": "COMPLETE", "output": "done", "writes": {"y.md": "x"}}, interactive=True)
    run = done(at, "Create docs/x.md")
    as_person(at)
    run_answers.respond(at, "y.md")
    assert execute_run.execute(at, run["id"])["state"] == "complete"


def test_a_file_may_be_named_by_its_whole_path(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"docs/x.md": "x"}}, JUNK)
    assert done(at, f"Create {at.project.root}/docs/x.md")["state"] == "complete"
    assert done(at, f"Create {at.project.root}/docs/y.md")["executor_status"] == "INCOMPLETE"


def test_a_file_outside_of_the_project_is_no_evidence(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK)
    assert done(at, f"Create {tmp_path}/elsewhere/x.md")["executor_status"] == "INCOMPLETE"


def test_p16_what_lost_its_evidence_is_not_continued(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, JUNK)
    done(at, "Create docs/x.md")
    as_person(at)
    for index in pathlib.Path(at.project.root, ".orchestrator").rglob("evidence_index.json"):
        index.unlink()
    with pytest.raises(Refused, match="evidence is not valid") as refused:
        run_answers.approve(at)
    assert refused.value.code == "E207"


@pytest.mark.parametrize(
    ("task_type", "status"), [("READ_INFO", "COMPLETE"), ("REPORT", "INCOMPLETE"), ("LIGHT_EDIT", "INCOMPLETE")]
)
def test_a_question_is_answered_and_orders_nothing(tmp_path: pathlib.Path, task_type: str, status: str) -> None:
    at = desk(tmp_path, JUNK)
    run = execute_run.execute(at, submission.submit(at, "Write docs/x.md", task_type)["id"])
    assert run["executor_status"] == status


@pytest.mark.parametrize(("text", "act", "status", "why"), [
    ("Unless a.md exists, create it", {}, "COMPLETE", "a.md was there already, so nothing was to be done."),
    ("Unless a.md exists, create it", {"junk.txt": "x"}, "INCOMPLETE", "so that nothing was to be changed"),
    ("Unless a.md exists, create it and update README.md", {}, "NO_EVIDENCE", "No file changed."),
    ("Create a.md, unless it exists", {}, "COMPLETE", "a.md was there already, so nothing was to be done."),
])  # fmt: skip
def test_p8_nothing_is_to_be_done_where_a_condition_does_not_hold(
    tmp_path: pathlib.Path, text: str, act: dict[str, str], status: str, why: str
) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "It is there.", "writes": act})
    pathlib.Path(at.project.root, "a.md").write_text("old")
    run = done(at, text)
    assert (run["executor_status"], why in run["why"]) == (status, True), run["why"]


class Acting:
    """An executor that does to the project what a function does, and says that it is done."""

    name, production = "acting", False

    def __init__(self, act: Callable[[pathlib.Path], object], **told: Any) -> None:
        self._act, self._told = act, told

    def is_available(self) -> port.Availability:
        return port.Availability(True)

    def execute(self, task: port.ExecutorTask, **_: Any) -> port.ExecutorResult:
        self._act(pathlib.Path(task.project))
        return port.ExecutorResult("COMPLETE", task.session_id, "done", exit_code=0, **self._told)


def acted(folder: pathlib.Path, text: str, act: Callable[[pathlib.Path], object], **told: Any) -> dict[str, Any]:
    """A run by such an executor in a project with a few files, confirmed where it has to be."""
    at = desk(folder, interactive=True)
    root = pathlib.Path(at.project.root)
    for name in ("build/sub/x.o", "old.md", "README.md", "src/keep.py", "test_keep.py"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(name)
    (root / "empty").mkdir()
    at.executors = lambda *_: Acting(act, **told)
    run = submission.submit(at, text)
    as_person(at)
    if run["question"]:
        run_answers.respond(at, "yes", run["id"])
    return execute_run.execute(at, run["id"])


def gone(*names: str) -> Callable[[pathlib.Path], object]:
    def act(root: pathlib.Path) -> None:
        for name in names:
            if (root / name).is_dir():
                shutil.rmtree(root / name)
            else:
                (root / name).unlink()

    return act


DONE = [
    pytest.param("rm -rf build", gone("build"), "COMPLETE", "Deleted as ordered: build/sub/x.o.",
                 id="what was ordered"),
    pytest.param("rm -rf build", gone("build", "old.md"), "INCOMPLETE", "Deleted and not ordered: old.md.",
                 id="more was destroyed"),
    pytest.param("rm -rf build", gone("build/sub/x.o"), "INCOMPLETE", "build/ was not deleted.", id="a part of it"),
    pytest.param("rm -rf build", lambda root: (root / "x.txt").write_text("x"), "INCOMPLETE",
                 "build/ was not deleted. Touched and not mentioned: x.txt.", id="something else"),
    pytest.param("rm -rf build", lambda root: None, "NO_EVIDENCE", "No file changed.", id="nothing"),
    pytest.param("rm -rf empty", gone("empty"), "COMPLETE", "Deleted as ordered: empty/.", id="an empty folder"),
    pytest.param("rm -rf node_modules", gone("node_modules"), "COMPLETE", "Deleted as ordered: node_modules/.",
                 id="a folder that is not looked into"),
    pytest.param("clean up the temporary files", gone("src/keep.py"), "INCOMPLETE",
                 "Deleted and not ordered: src/keep.py.", id="another file than was meant"),
    pytest.param("create a folder called out", lambda root: (root / "out").mkdir(), "COMPLETE",
                 "Made as ordered: out/.", id="an empty folder is made"),
    pytest.param("update README.md", lambda root: (root / "README.md").write_text("README.md"), "NO_EVIDENCE",
                 "No file changed.", id="the same bytes"),
    pytest.param("update README.md", lambda root: (root / "README.md").chmod(0o755), "NO_EVIDENCE",
                 "No file changed.", id="permissions"),
    pytest.param("do not touch README.md, fix src/keep.py",
                 lambda root: [(root / name).write_text("x") for name in ("README.md", "src/keep.py")], "INCOMPLETE",
                 "README.md was changed, which the task forbids.", id="what was forbidden"),
    pytest.param("frobnicate the words", lambda root: (root / "README.md").write_text("x"), "COMPLETE",
                 "1 file verified on the disk.", id="a guess with a change"),
    pytest.param("Lege notes.md an", lambda root: (root / "other.md").write_text("x"), "INCOMPLETE",
                 "notes.md was not created.", id="a guess with another change"),
]  # fmt: skip


@pytest.mark.parametrize(("text", "act", "status", "why"), DONE)
def test_p8_what_is_mentioned_decides(
    tmp_path: pathlib.Path, text: str, act: Callable[[pathlib.Path], object], status: str, why: str
) -> None:
    if "node_modules" in text:
        (tmp_path / "project/node_modules").mkdir(parents=True)
    run = acted(tmp_path, text, act)
    assert (run["executor_status"], why in run["why"]) == (status, True), run["why"]


@pytest.mark.parametrize("spelling", ["{root}/notes.md", "./notes.md", "notes.md", "{root}//./notes.md"])
def test_p8_a_claimed_file_is_found_however_its_path_is_spelt(tmp_path: pathlib.Path, spelling: str) -> None:
    claimed = spelling.format(root=tmp_path / "project")
    run = acted(tmp_path, "create notes.md", lambda root: (root / "notes.md").write_text("x"), claimed_files=(claimed,))
    assert (run["executor_status"], run["why"]) == ("COMPLETE", "1 file verified on the disk.")


def test_the_answer_names_a_guessed_type_and_what_it_means(tmp_path: pathlib.Path) -> None:
    run = acted(tmp_path, "frobnicate the words", lambda root: (root / "README.md").write_text("x"))
    told = {name: run[name] for name in ("task_type", "type_by", "judged_as", "complete_if")}
    assert told == {
        "task_type": "READ_INFO", "type_by": "guess", "judged_as": "LIGHT_EDIT",
        "complete_if": "COMPLETE needs changed content, including what the task mentions",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("text", "untouched"),
    [("frobnicate README.md", ["README.md"]), ("Lege notes.md an", ["notes.md"]), ("README.md und old.md putzen",
     ["README.md", "old.md"]), ("frobnicate the words", [])],
)  # fmt: skip
def test_a_guess_that_was_only_answered_says_which_files_the_task_names(
    tmp_path: pathlib.Path, text: str, untouched: list[str]
) -> None:
    run = acted(tmp_path, text, lambda root: None)
    named = f" Mentioned and not touched: {', '.join(untouched)}." if untouched else ""
    assert (run["type_by"], run["state"], run["mentioned_untouched"]) == ("guess", "complete", untouched)
    assert run["why"].endswith(f"READ_INFO as the task's type was guessed.{named}")


def test_what_is_mentioned_or_touched_alone_is_told_as_data(tmp_path: pathlib.Path) -> None:
    def act(root: pathlib.Path) -> None:
        (root / "notes.md").write_text("x")
        (root / "other.md").write_text("x")
        (root / "old.md").unlink()

    run = acted(tmp_path, "using README.md create notes.md", act)
    names = ("mentioned_untouched", "touched_unmentioned", "deleted_unordered")
    assert [run[name] for name in names] == [["README.md"], ["other.md"], ["old.md"]]


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("readmeを作って", None), ("create a readme", None), ("create a changelog", None),
        ("delete the old logs", None), ("add a page about README.md", None),
        ("add unit tests", None), ("テストを書いて", None), ("write the tests first", None), ("create docs/x.md", None),
        ("write a tutorial", None), ("implement the login", "E211"), ("create app.py", "E211"),
        ("implement the login with tests", "E211"),
    ],
)  # fmt: skip
def test_p11_only_source_needs_tests_beforehand(tmp_path: pathlib.Path, text: str, code: str | None) -> None:
    run = submission.submit(desk(tmp_path, JUNK), text)
    assert run["error_code"] == code, run["error_reason"]


@pytest.mark.parametrize(("text", "writes"), [("summarize README.md", False), ("summarize README.md in S.md", True)])
def test_a_report_may_write_only_where_it_is_to_make_a_file(tmp_path: pathlib.Path, text: str, writes: bool) -> None:
    at = desk(tmp_path, JUNK)
    pathlib.Path(at.project.root, "README.md").write_text("x")
    run = submission.submit(at, text, "REPORT")
    found = run_reader.run(at.context.connection, run["session_id"], run["id"])
    assert requested_files.writes(at.context, found) is writes


def test_p26_each_entry_of_a_log_has_the_time_at_which_it_happened(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"a.md": "new"}})
    run = done(at, "Create a.md")
    log = session_status.log(at, run["id"], "full")
    times: dict[str, str] = {}
    for event in log["events"]:
        times.setdefault(event["text"].partition(":")[0] if event["kind"] == "phase" else event["kind"], event["at"])
    assert list(times.values()) == sorted(times.values()), times
    order = ["queued", "started", "REQUIREMENT_ANALYSIS", "output", "file", "QA", "complete"]
    assert sorted({times[kind] for kind in order}) == [times[kind] for kind in order]
    assert (times["PLANNING"], times["EXECUTION"]) == (times["REQUIREMENT_ANALYSIS"], times["output"])
    assert log["verified_files"][0]["detected_at"] == times["file"]
