"""P4, P13, P14: a task that is larger than its limits is done in parts that each fit, or not at all."""

from __future__ import annotations

import json
import pathlib
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.app.kernel import operations
from orchestrator.app.running import end_session, execute_run, run_answers, session_status, split_task
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import config, limits, mentions
from orchestrator.core.running.facts import CLAIM, DIFF, Facts, File, joined
from orchestrator.core.running.file_names import Tree
from orchestrator.runner import evidence_files, port
from tests import persons
from tests.integration.app.test_run_session import desk, done

TASK = "Create a.md, b.md, c.md"


def made(*names: str, **more: Any) -> dict[str, Any]:
    return {"status": "COMPLETE", "output": f"made {' '.join(names)}", "writes": dict.fromkeys(names, "x"), **more}


def small(folder: pathlib.Path, *steps: dict[str, Any], files: int = 2, **more: Any) -> RunSession:
    at = desk(folder, *steps, **more)
    settings = {"orchestrator": {"task_limits": {"files": files}}}
    pathlib.Path(at.project.root, ".claude", "settings.json").write_text(json.dumps(settings))
    return at


def told(at: RunSession, run: dict[str, Any], kind: str) -> list[str]:
    return [event["text"] for event in session_status.log(at, run["id"], "full")["events"] if event["kind"] == kind]


def test_p14_a_larger_task_is_executed_in_parts_that_fit(tmp_path: pathlib.Path) -> None:
    steps = made("a.md", "b.md", when="part 1 of 2"), made("c.md", when="part 2 of 2")
    at = small(tmp_path, *steps)
    run = done(at, TASK)
    assert (run["state"], run["files_modified_count"], run["violations"]) == ("complete", 3, [])
    assert [file["path"] for file in run["verified_files"]] == ["a.md", "b.md", "c.md"]
    assert told(at, run, "part") == ["part 1 of 2: a.md, b.md", "part 2 of 2: c.md"]
    assert [text.partition(": ")[2] for text in told(at, run, "phase")] == ["passed"] * 7


def test_p13_the_division_and_each_part_have_their_evidence(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "b.md"), made("c.md"))
    run = done(at, TASK)
    names = [f"{run['id']}-{name}" for name in ("divide", "execute-part-1", "verify-part-1", "execute-part-2",
                                                "verify-part-2")]  # fmt: skip
    rows = at.context.connection.execute("SELECT subject FROM evidence WHERE kind = 'operation' ORDER BY rowid")
    assert sorted(row[0] for row in rows) == sorted(names)
    assert sorted(evidence_files.registered(at.project.root, str(at.session_id))) == sorted(names)
    inventory = end_session.close(at)["report"]["evidence_inventory"]
    assert (inventory["missing_operations"], inventory["integrity_failures"]) == ([], [])


def test_p14_the_status_is_that_of_the_part_that_is_not_complete_and_no_other_follows(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "b.md"), {"status": "ERROR", "error": "boom", "exit_code": 3}, made("e.md"))
    run = done(at, "Create a.md, b.md, c.md, d.md, e.md")
    assert (run["state"], run["executor_status"], run["files_modified_count"]) == ("error", "ERROR", 2)
    assert told(at, run, "part") == ["part 1 of 3: a.md, b.md", "part 2 of 3: c.md, d.md"]
    assert not pathlib.Path(at.project.root, "e.md").exists()


def test_p14_a_part_that_does_not_make_its_file_ends_the_run(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "junk.md"), made("c.md"))
    run = done(at, TASK)
    why = "b.md was not created. Mentioned and not touched: c.md. Touched and not mentioned: junk.md."
    assert (run["executor_status"], run["error_reason"]) == ("INCOMPLETE", why)


def test_p17_a_part_that_is_over_the_limit_all_the_same_is_an_error(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "b.md", "c.md"), made("c.md"))
    run = done(at, TASK)
    assert (run["error_code"], [each["actual"] for each in run["violations"]]) == ("E206", [3])
    assert run["error_reason"].startswith("A limit was broken: max_files 3 of 2 in part 1 of 2: a.md, b.md.")


def test_p14_what_is_moved_into_a_folder_is_two_files_each() -> None:
    tree = Tree(frozenset({"a.md", "b.md", "c.md"}), frozenset({"docs"}))
    for text, files in (
        ("move a.md, b.md and c.md to docs/", [2, 2, 2, 1]), ("a.mdとb.mdをdocs/に移動して", [2, 2, 1]),
        ("rename a.md to d.md and b.md to e.md", [2, 2]), ("delete a.md, b.md and c.md", [1, 1, 1]),
    ):  # fmt: skip
        pieces = split_task._pieces(split_task._ordered(mentions.find(text, tree)), config.Settings())
        assert [piece.files for piece in pieces] == files, text


def test_p16_what_goes_on_does_only_what_is_left(tmp_path: pathlib.Path) -> None:
    steps = made("a.md", "b.md"), {"status": "INCOMPLETE", "output": "Tired."}, made("c.md", when="part 1 of 1")
    at = small(tmp_path, *steps)
    assert done(at, TASK)["state"] == "incomplete"
    persons.sit(at.context)
    run = execute_run.execute(at, run_answers.approve(at)["id"])
    assert (run["state"], told(at, run, "part")) == ("complete", ["part 1 of 1: c.md"])


def test_p14_a_file_of_an_earlier_part_that_a_later_one_takes_away_is_missed(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "b.md"), made("c.md", deletes=["a.md"]))
    assert done(at, TASK)["executor_status"] == "INCOMPLETE"


def test_p14_what_cannot_be_divided_further_calls_no_executor(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("b.md"), files=1)
    pathlib.Path(at.project.root, "a.md").write_text("x")
    run = done(at, "Rename a.md to b.md")
    assert (run["state"], run["error_code"], run["executor_status"]) == ("error", "E206", "ERROR")
    assert pathlib.Path(at.project.root, "a.md").exists()


def test_a_task_within_its_limits_is_one(tmp_path: pathlib.Path) -> None:
    at = small(tmp_path, made("a.md", "b.md"))
    run = done(at, "Create a.md and b.md")
    assert (run["state"], told(at, run, "part")) == ("complete", [])


class Dividing:
    """An executor that makes a subtask for itself, or has a person make one."""

    name, production = "dividing", False

    def __init__(self, at: RunSession, by: str) -> None:
        self._at, self._by = at, by

    def is_available(self) -> port.Availability:
        return port.Availability(True)

    def execute(self, task: port.ExecutorTask, **_: Any) -> port.ExecutorResult:
        context = self._at.context
        if self._by == "user":
            persons.sit(context)
        operations.call(
            context, "task create", id="OWN", title="more", session_id=task.session_id, parent="T" + self.seq(),
            by=self._by,
        )  # fmt: skip
        context.credential = None
        pathlib.Path(task.project, "a.md").write_text("x")
        return port.ExecutorResult("COMPLETE", task.session_id, "done", exit_code=0)

    def seq(self) -> str:
        row = self._at.context.connection.execute("SELECT task_id FROM runs ORDER BY id DESC").fetchone()
        return str(row[0]).removeprefix("T")


@pytest.mark.parametrize(
    ("by", "status", "code"), [("developer", "INVALID", "E205"), ("user", "COMPLETE", None)], ids=["agent", "person"]
)
def test_p13_a_subtask_that_an_agent_makes_for_itself_is_invalid(
    tmp_path: pathlib.Path, by: str, status: str, code: str | None
) -> None:
    at = desk(tmp_path)
    at.executors = lambda *_: Dividing(at, by)
    run = done(at, "Create a.md")
    assert (run["executor_status"], run["error_code"]) == (status, code), run["error_reason"]


def test_p13_what_an_executor_proposes_is_noted_and_not_done(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, made("a.md", proposed_tasks=["write b.md"]))
    run = done(at, "Create a.md")
    assert (run["state"], told(at, run, "proposal")) == ("complete", ["not approved: write b.md"])
    assert at.context.connection.execute("SELECT count(*) FROM tasks").fetchone() == (1,)


@given(st.integers(1, 20), st.integers(0, 45), st.integers(0, 3))
def test_p14_parts_keep_the_limits_and_every_file_in_order(most: int, files: int, tests: int) -> None:
    """Whatever is ordered, no part is about more files than a task may change."""
    names = [*(f"f{number}.md" for number in range(files)), *(f"test_{number}.py" for number in range(tests))]
    orders = mentions.find("\n".join(f"- Create {name}" for name in names))
    settings = config.Settings(task_limits=config.TaskLimits(files=most, tests=1))
    divided = limits.split(settings.task_limits, split_task._pieces(orders, settings), "now")
    counts = [sum(piece.files for piece in part) for part in divided]
    assert (max(counts, default=0) <= most, [name for part in divided for piece in part for name in piece.names]) == (
        True, names,
    )  # fmt: skip
    assert all(sum(piece.tests for piece in part) <= 1 for part in divided)


paths = st.sampled_from(["a", "b", "c"])
found = st.builds(File, paths, st.booleans(), st.sampled_from([DIFF, CLAIM]))
facts = st.builds(
    Facts, st.just("IMPLEMENTATION"), st.just("COMPLETE"), st.text(max_size=5),
    verified=st.lists(found, max_size=3, unique_by=lambda file: file.path).map(tuple),
    ordered_deletions=st.lists(paths, max_size=2, unique=True).map(tuple), tests=st.sampled_from([None, "passed"]),
)  # fmt: skip


@given(facts, facts, st.sets(paths))
def test_p31_of_two_parts_each_file_counts_once_and_as_it_is_at_last(
    before: Facts, now: Facts, deleted: set[str]
) -> None:
    whole = joined(before, now, deleted)
    names = [file.path for file in whole.verified]
    assert len(names) == len(set(names))
    assert {file.path for file in now.verified} <= set(names)
    assert {name for name in names if name in deleted} <= {file.path for file in now.verified}
    gone = {file.path for file in now.verified if not file.exists}
    assert not any(file.exists for file in whole.verified if file.path in gone)
