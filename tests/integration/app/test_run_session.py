"""The desk end to end: real snapshots, evidence and logs on a disk, and a scripted executor."""

from __future__ import annotations

import json
import os
import pathlib
import shutil
import sys
import threading
import time
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.app.running import (
    begin_session,
    end_session,
    execute_run,
    run_answers,
    run_repository,
    session_status,
    start_run,
    submission,
)
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import config, report
from orchestrator.errors import EnvironmentProblem, Refused
from orchestrator.runner import evidence_files, folder_lock, port, process_identity, project, task_logs
from tests import persons

PATIENCE_S = 20
"""After so long a wait for what should end by itself is called off."""
KEY = "sk-" + "a1B2" * 10

GONE = f"{process_identity.host()}:7:gone"
"""A process of this machine that tests say is gone."""


def desk(folder: pathlib.Path, *steps: dict[str, Any], interactive: bool = False) -> RunSession:
    claude = folder / "project" / ".claude"
    for name in ("agents", "rules"):
        (claude / name).mkdir(parents=True)
    (claude / "CLAUDE.md").write_text("")
    (claude / "settings.json").write_text("{}")
    (folder / "script.json").write_text(json.dumps(list(steps)))
    return bootstrap.open_run_session(
        executor=f"scripted:{folder / 'script.json'}", project_mode="fixed", project_root=str(folder / "project"),
        database=str(folder / "o.db"), interactive=interactive, environment={},
    )  # fmt: skip


def again(folder: pathlib.Path, project: str = "project") -> RunSession:
    """Another process on the same database."""
    (folder / project).mkdir(exist_ok=True)
    return bootstrap.open_run_session(
        executor=f"scripted:{folder / 'script.json'}", project_mode="fixed", project_root=str(folder / project),
        database=str(folder / "o.db"), environment={},
    )  # fmt: skip


def newest(desk: RunSession) -> str:
    row = desk.context.connection.execute("SELECT id FROM runs ORDER BY id DESC LIMIT 1").fetchone()
    return str(row[0])


def left_asking(folder: pathlib.Path) -> tuple[RunSession, dict[str, Any]]:
    """A closed desk, and its run that asks for a color and is content with blue."""
    at = desk(
        folder,
        {"status": "COMPLETE", "output": "done", "writes": {"color.md": "blue"}, "when": "blue"},
        {"status": "INCOMPLETE", "output": "Which color?"},
    )
    run = done(at, "create color.md")
    end_session.close(at)
    return at, run


def done(desk: RunSession, text: str) -> dict[str, Any]:
    run: dict[str, Any] = execute_run.execute(desk, submission.submit(desk, text)["id"])
    return run


def test_inv6_a_question_awaits_its_answer_and_the_work_goes_on_with_it(tmp_path: pathlib.Path) -> None:
    steps = (
        {"status": "INCOMPLETE", "output": "Which color?"},
        {"status": "COMPLETE", "output": "done", "writes": {"color.md": "blue"}, "when": "Answer: blue"},
    )
    at = desk(tmp_path, *steps, interactive=True)
    run = done(at, "create color.md")
    assert (run["state"], run["question"]["text"], run["why"]) == ("awaiting_response", "Which color?", "Which color?")
    persons.sit(at.context)
    again = run_answers.respond(at, "blue")
    at.context.credential = None
    assert (again["id"], again["state"]) == (run["id"], "queued")
    assert execute_run.execute(at, run["id"])["state"] == "complete"
    log = task_logs.read(at.project.root, str(at.session_id), run["id"])
    assert (log["status"], log["verified_files"][0]["path"]) == ("complete", "color.md")


@pytest.mark.parametrize(("said", "told"), [("yes", "yes"), (" No ", "no"), ("y", "yes"), ("only docs", "only docs")])
def test_inv6_a_yes_no_question_takes_either_word_or_other_words(tmp_path: pathlib.Path, said: str, told: str) -> None:
    steps = (
        {"status": "INCOMPLETE", "output": "YES/NO: May I change docs?"},
        {"status": "COMPLETE", "output": "done", "writes": {"color.md": "blue"}, "when": f"Answer: {told}"},
    )
    at = desk(tmp_path, *steps, interactive=True)
    run = done(at, "create color.md")
    persons.sit(at.context)
    assert run_answers.respond(at, said)["state"] == "queued"
    assert execute_run.execute(at, run["id"])["state"] == "complete"


def test_inv6_a_program_is_executed_again_with_the_answer_under_the_same_id(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, interactive=True)
    program = tmp_path / "ask.py"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib, sys\nif 'Answer:' in sys.argv[1]:\n"
        "    pathlib.Path('color.md').write_text('blue')\nelse:\n    print('Which color?')\n"
    )
    program.chmod(0o755)
    at.flags = at.flags._replace(executor=f"command:{program}")
    run = done(at, "create color.md")
    persons.sit(at.context)
    run_answers.respond(at, "blue")
    assert execute_run.execute(at, run["id"])["state"] == "complete"
    raw = pathlib.Path(at.project.root, ".orchestrator", "sessions", str(at.session_id), "evidence", "raw")
    names = [f"{run['id']}-execute.log.gz", f"{run['id']}-execute-2.log.gz"]
    assert sorted(path.name for path in raw.iterdir()) == sorted(names)
    assert end_session.close(at)["report"]["evidence_inventory"]["integrity_failures"] == []


ASKS = {"status": "INCOMPLETE", "output": "Which color?"}
BLUE = {"status": "COMPLETE", "output": "done", "writes": {"b.md": "blue"}, "when": "Answer: blue"}


def answered_once(folder: pathlib.Path, *steps: dict[str, Any]) -> RunSession:
    """A desk at whose first task a person was asked for a color, and said blue."""
    first = {"status": "COMPLETE", "output": "done", "writes": {"a.md": "blue"}, "when": "Answer: blue"}
    at = desk(folder, ASKS, first, *steps, interactive=True)
    run = done(at, "create a.md")
    persons.sit(at.context)
    run_answers.respond(at, "blue")
    assert execute_run.execute(at, run["id"])["state"] == "complete"
    return at


def test_P19_what_an_executor_asks_and_was_answered_before_is_answered_by_itself_and_logged(
    tmp_path: pathlib.Path,
) -> None:
    at = answered_once(tmp_path, {**ASKS, "output": "Some words first.\n  which   COLOR ?", "repeat": False}, BLUE)
    run = done(at, "create b.md")
    assert (run["state"], run["question"]) == ("complete", None)
    events = [event["text"] for event in session_status.log(at, run["id"])["events"] if event["kind"] == "answered"]
    assert events == ["which   COLOR ? As answered before: blue"]
    assert "which" not in session_status.log(at, run["id"], "full")["output"]
    report_ = end_session.close(at)["report"]
    assert report_["evidence_inventory"]["missing_operations"] == []
    assert report_["evidence_inventory"]["integrity_failures"] == []


def test_P19_an_executor_that_is_not_content_with_the_answer_has_a_person_asked(tmp_path: pathlib.Path) -> None:
    at = answered_once(tmp_path, {**ASKS, "repeat": True})
    run = done(at, "create b.md")
    assert (run["state"], run["question"]["text"]) == ("awaiting_response", "Which color?")
    assert sum(event["kind"] == "answered" for event in session_status.log(at, run["id"])["events"]) == 1


def test_P19_another_question_is_asked(tmp_path: pathlib.Path) -> None:
    at = answered_once(tmp_path, {**ASKS, "output": "Which size?"})
    assert done(at, "create b.md")["question"]["text"] == "Which size?"


def test_P19_a_destructive_task_is_never_answered_by_itself(tmp_path: pathlib.Path) -> None:
    at = answered_once(tmp_path, ASKS)
    run = submission.submit(at, "delete all files")
    run_answers.respond(at, "yes", run["id"])
    assert execute_run.execute(at, run["id"])["question"]["text"] == "Which color?"


def test_P19_no_other_session_is_asked_for_its_answers(tmp_path: pathlib.Path) -> None:
    at = answered_once(tmp_path, ASKS)
    begin_session.start(at)
    run = done(at, "create b.md")
    assert (run["state"], run["question"]["text"]) == ("awaiting_response", "Which color?")


def test_P19_a_part_of_a_task_is_answered_as_well(tmp_path: pathlib.Path) -> None:
    files = [f"f{number}.md" for number in range(1, 7)]
    five = {"status": "COMPLETE", "output": "done", "writes": dict.fromkeys(files[:5], "x"), "when": "blue"}
    at = answered_once(tmp_path, ASKS, five, {"status": "COMPLETE", "output": "done", "writes": {"f6.md": "x"}})
    run = done(at, f"create {', '.join(files[:5])} and f6.md")
    assert run["state"] == "complete", run


def test_p12_who_waits_for_another_database_stops_as_late_and_is_told_who_holds_the_project(
    tmp_path: pathlib.Path,
) -> None:
    at = desk(tmp_path)
    other = tmp_path / "other.db"
    other.touch()
    place = folder_lock.Place(at.project.root, str(other), "task-7")
    assert place.take().taken
    at._settings = at.settings._replace(timeouts=config.Timeouts(deadlock_timeout_seconds=1))
    told: list[str] = []
    at.tell = told.append
    run = done(at, "create b.md")
    place.leave()
    assert (run["state"], run["error_code"]) == ("error", "E403")
    (process,) = (each for each in process_identity.mine().split(":")[1:2])
    who = f"task-7 of {other} (running, process {process} on {process_identity.mine().split(':')[0]})"
    why = f"Runs of another database are in {at.project.root}, or above or below it: {who}."
    assert (run["error_reason"], told) == (f"It waited as long as it may: {why}", [f"{run['id']} waits: {why}"])
    assert project.load_pointers(at.project.root) == project.Pointers()
    assert done(at, "create c.md")["error_code"] != "E403"


def test_p10_a_report_whose_totals_contradict_each_other_is_refused_and_nothing_stays_open(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    at = desk(tmp_path)
    submission.submit(at, "create a.md")
    session, build = at.session_id, report.build

    def miscounted(**known: Any) -> dict[str, Any]:
        built = build(**known)
        return {**built, "totals": {**built["totals"], "total": 7}}

    monkeypatch.setattr(report, "build", miscounted)
    with pytest.raises(Refused) as refused:
        end_session.close(at)
    assert (refused.value.code, refused.value.data["problems"][0]["place"]) == ("E208", "totals")
    assert not list((tmp_path / "project").glob(".orchestrator/sessions/*/report.*"))
    row = at.context.connection.execute("SELECT status FROM sessions WHERE id = ?", (session,)).fetchone()
    assert row == ("ended",)


def test_p33_a_file_whose_name_is_no_text_is_told_with_what_became_of_it(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path)
    root, odd = os.fsencode(at.project.root), b"n\xff.md"
    program = tmp_path / "odd.py"
    program.write_text(
        f"#!{sys.executable}\nimport os\nif os.path.exists({odd!r}):\n    os.unlink({odd!r})\nelse:\n"
        f"    open({odd!r}, 'w').close()\nopen('a.md', 'a').write('x')\n"
    )
    program.chmod(0o755)
    at.flags = at.flags._replace(executor=f"command:{program}")
    seen = []
    for text in ("create a.md", "update a.md"):
        run = done(at, text)
        seen.append((run["state"], [(file["path"], file["change"], file["exists"]) for file in run["verified_files"]]))
    assert seen == [
        ("complete", [("a.md", "new", True), ("n\\xff.md", "new", True)]),
        ("complete", [("a.md", "changed", True), ("n\\xff.md", "deleted", False)]),
    ]
    assert not os.path.exists(root + b"/" + odd)


def test_p38_a_run_that_waits_is_not_said_to_run(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path, {"status": "COMPLETE", "writes": {"b.md": "x"}, "output": "made"})
    held = submission.submit(first, "create a.md")
    operations.ask(
        first.context, start_run.StartRun(session_id=held["session_id"], id=held["id"],
        owner=process_identity.mine(), capacity=4,
        locks=((first.project.root, "write"),))
    )  # fmt: skip
    second, seen = again(tmp_path), []

    def told(text: str) -> None:
        seen.append((text, project.load_pointers(second.project.root)))
        start_run.abandon(first.context, session_id=held["session_id"], id=held["id"], owner=process_identity.mine())

    second.tell = told
    run = execute_run.execute(second, submission.submit(second, "create b.md")["id"])
    assert seen == [(f"{run['id']} waits: its project or session is held: {held['id']}.", project.Pointers())]
    assert project.load_pointers(second.project.root) == project.Pointers(None, run["id"])


def test_p12_who_waits_longer_than_allowed_stops_and_leaves_the_holder_alone(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path)
    held = submission.submit(first, "create a.md")
    locks = [(first.project.root, "write")]
    operations.ask(
        first.context,
        start_run.StartRun(
            session_id=held["session_id"], id=held["id"], owner=process_identity.mine(), capacity=4, locks=locks
        ),
    )
    second = again(tmp_path)
    second._settings = second.settings._replace(timeouts=config.Timeouts(deadlock_timeout_seconds=1))
    given_up = time.monotonic() + PATIENCE_S
    queued = submission.submit(second, "create b.md")
    run = execute_run.execute(second, queued["id"], cancelled=lambda: time.monotonic() > given_up)
    assert (run["state"], run["error_code"]) == ("error", "E403")
    assert held["id"] in run["error_reason"]
    events = session_status.log(second, run["id"], "full")["events"]
    assert [event["text"] for event in events if event["kind"] == "waiting"] == [process_identity.mine()]
    assert session_status.shown(first, held["id"])["state"] == "running"


def test_p6_what_could_not_be_ended_of_a_lost_run_keeps_its_locks(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    first = desk(tmp_path)
    held = submission.submit(first, "create a.md")
    locks = [(first.project.root, "write")]
    operations.ask(
        first.context,
        start_run.StartRun(session_id=held["session_id"], id=held["id"], owner=GONE, capacity=4, locks=locks),
    )
    monkeypatch.setattr(execute_run.process_identity, "is_gone", lambda owner, _=None: owner == GONE)
    lost = execute_run.orphan_recovery.Lost(left=("77 (deaf)",))
    monkeypatch.setattr(execute_run.orphan_recovery, "end", lambda tag: lost)
    monkeypatch.setattr(execute_run.orphan_recovery, "tag", lambda owner, run: f"1.1.{run}")
    second = again(tmp_path)
    second._settings = second.settings._replace(timeouts=config.Timeouts(deadlock_timeout_seconds=1))
    run = done(second, "create b.md")
    assert (run["state"], run["error_code"]) == ("error", "E405")
    assert "77 (deaf)" in run["error_reason"]
    assert session_status.shown(first, held["id"])["state"] == "running"


def test_p6_nobody_releases_the_locks_of_a_process_that_lives(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path)
    held = submission.submit(first, "create a.md")
    owner = f"{process_identity.mine().rpartition(':')[0].rpartition(':')[0]}:1:{process_identity._start(1)}"
    given = {"session_id": held["session_id"], "id": held["id"], "owner": owner}
    operations.ask(first.context, start_run.StartRun(**given, capacity=4, locks=((first.project.root, "write"),)))
    with pytest.raises(Refused) as problem:
        start_run.abandon(first.context, **given)
    assert (problem.value.code, session_status.shown(first, held["id"])["state"]) == ("E405", "running")
    refusal = "SELECT code FROM refusals ORDER BY seq DESC LIMIT 1"
    assert first.context.connection.execute(refusal).fetchone() == ("E405",)


def test_p26_an_abandoned_run_has_its_log_too(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"b.md": "x"}})
    held = submission.submit(first, "create a.md")
    locks = [(first.project.root, "write")]
    operations.ask(
        first.context,
        start_run.StartRun(session_id=held["session_id"], id=held["id"], owner=GONE, capacity=4, locks=locks),
    )
    monkeypatch.setattr(execute_run.process_identity, "is_gone", lambda owner, _=None: owner == GONE)
    second = again(tmp_path)
    assert done(second, "create b.md")["state"] == "complete"
    assert task_logs.read(first.project.root, held["session_id"], held["id"])["status"] == "error"


def test_p9_a_run_that_cannot_go_on_ends_at_once(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"a.md": "x"}})

    def full(*_: object, **__: object) -> None:
        raise EnvironmentProblem("OUTPUT_FAILED", "The disk is full.", "Make room")

    monkeypatch.setattr(execute_run.evidence_files, "raw_file", full)
    run = done(at, "create a.md")
    assert (run["state"], run["error_reason"]) == ("error", "The disk is full.")
    assert at.context.connection.execute("SELECT count(*) FROM run_locks WHERE released_seq IS NULL").fetchone() == (0,)


def test_a_run_that_an_answer_queued_is_taken_up_by_the_next_desk(tmp_path: pathlib.Path) -> None:
    first, run = left_asking(tmp_path)
    context = first.context
    persons.sit(context)
    answer = operations.call(context, "answer", id=run["question"]["id"], decision="continue", note="blue")
    context.credential = None
    queued = newest(first)
    assert answer["reason"].endswith(f"orchestrator repl --project {first.project.root}, then /continue {queued}")
    second = again(tmp_path)
    begin_session.start(second)
    taken = run_answers.proceed(second, queued)
    assert (taken["state"], second.session_id) == ("queued", run["session_id"])
    assert execute_run.execute(second, taken["id"])["state"] == "complete"
    assert end_session.close(second)["exit_code"] == 0


def test_the_log_of_an_earlier_session_is_found_by_its_id(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"a.md": "x"}})
    run = done(first, "create a.md")
    end_session.close(first)
    second = again(tmp_path)
    assert session_status.log(second, run["id"])["log_id"] == "task-001"
    assert session_status.log(second, "task-001")["id"] == run["id"]
    assert [each["id"] for each in session_status.earlier_runs(second)] == [run["id"]]
    assert [each["id"] for thread in session_status.tree(second) for each in thread["runs"]] == [run["id"]]
    with pytest.raises(Refused) as refused:
        session_status.log(second, "task-002")
    assert refused.value.code == "UNKNOWN_ID"
    own = done(second, "create a.md")
    assert session_status.log(second, "task-001")["id"] == own["id"] != run["id"]
    assert [each["id"] for thread in session_status.tree(second) for each in thread["runs"]] == [own["id"]]


def test_a_run_of_another_project_goes_on_nowhere_else(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path)
    queued = submission.submit(first, "create a.md")
    other = again(tmp_path, "elsewhere")
    for act in (lambda id: run_answers.proceed(other, id), lambda id: run_answers.respond(other, "blue", id)):
        with pytest.raises(Refused) as refused:
            act(queued["id"])
        assert (refused.value.code, refused.value.message) == (
            "E207", f"Run {queued['id']} is one of the project {first.project.root}, and goes on there alone.",
        )  # fmt: skip
        assert refused.value.suggestion.startswith(f"orchestrator repl --project {first.project.root}, then /continue ")


def test_p16_a_run_that_is_complete_is_found_and_not_continued(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path, {"status": "COMPLETE", "output": "done", "writes": {"a.md": "x"}})
    run = done(first, "create a.md")
    end_session.close(first)
    second = again(tmp_path)
    for id in (run["id"], run["log_id"]):
        with pytest.raises(Refused) as refused:
            run_answers.proceed(second, id)
        assert (refused.value.code, refused.value.message, refused.value.suggestion) == (
            "E207", f"Run {run['id']} is complete; only unfinished work is continued.", "Start a new task",
        )  # fmt: skip
    with pytest.raises(Refused) as refused:
        run_answers.respond(second, "blue", run["id"])
    assert (refused.value.code, refused.value.message) == ("ILLEGAL_MOVE", f"Run {run['id']} asks nothing.")


def test_p16_unfinished_work_of_an_ended_session_is_not_continued(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path, {"status": "INCOMPLETE", "output": "not yet"})
    run = done(first, "create a.md")
    end_session.close(first)
    second = again(tmp_path)
    with pytest.raises(Refused) as refused:
        run_answers.proceed(second, run["id"])
    assert (refused.value.code, refused.value.message.partition(":")[0]) == (
        "E207", f"Run {run['id']} cannot be continued",
    )  # fmt: skip


@pytest.mark.parametrize("begun", [False, True])
def test_a_run_of_an_earlier_session_is_answered_by_its_id(tmp_path: pathlib.Path, begun: bool) -> None:
    _, run = left_asking(tmp_path)
    second = again(tmp_path)
    if begun:
        begin_session.start(second)
    persons.sit(second.context)
    taken = run_answers.respond(second, "blue", run["id"])
    second.context.credential = None
    assert (taken["state"], taken["retry_of"], second.session_id) == ("queued", run["id"], run["session_id"])
    assert execute_run.execute(second, taken["id"])["state"] == "complete"


def test_who_is_nobody_answers_no_run_and_ends_no_session_by_it(tmp_path: pathlib.Path) -> None:
    first = desk(tmp_path, {"status": "INCOMPLETE", "output": "Which color?"})
    run = done(first, "create color.md")
    end_session.close(first)
    second = again(tmp_path)
    begin_session.start(second)
    own = second.session_id
    for act in (lambda id: run_answers.proceed(second, id), lambda id: run_answers.respond(second, "blue", id)):
        with pytest.raises(Refused) as refused:
            act(run["id"])
        assert (refused.value.code, second.session_id) == ("HUMAN_REQUIRED", own)


def test_p35_what_nobody_answers_ends_with_the_desk_and_has_its_log(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "INCOMPLETE", "output": "Which color?"}, interactive=True)
    run, session = done(at, "create color.md"), str(at.session_id)
    assert end_session.close(at)["exit_code"] == 2
    assert task_logs.read(at.project.root, session, run["id"])["error_reason"] == "unanswered"


@pytest.mark.parametrize(
    ("step", "said"),
    [
        ({"status": "COMPLETE", "output": "ok", "writes": {"a.md": "x"}}, ["passed"] * 7),
        ({"status": "ERROR", "error": "boom", "exit_code": 3}, ["passed"] * 3 + ["E201 EXECUTION failed"]),
        ({"status": "COMPLETE", "output": "ok", "files": ["a.md"]}, ["passed"] * 5 + ["E210 COMPLETION_VALIDATION"]),
    ],
    ids=["complete", "error", "no evidence"],
)
def test_p4_the_log_tells_which_phases_passed(tmp_path: pathlib.Path, step: dict[str, Any], said: list[str]) -> None:
    at = desk(tmp_path, step)
    run = done(at, "create a.md")
    events = session_status.log(at, run["id"], "full")["events"]
    phases = [event["text"].partition(": ")[2] for event in events if event["kind"] == "phase"]
    assert len(phases) == len(said)
    assert all(phase.startswith(start) for phase, start in zip(phases, said, strict=True))


@pytest.mark.parametrize(
    ("task", "type", "status"),
    [
        ("get the tests green", "IMPLEMENTATION", "INCOMPLETE"),
        ("update notes.md and keep the tests green", "LIGHT_EDIT", "INCOMPLETE"),
        ("update notes.md", "LIGHT_EDIT", "COMPLETE"),
    ],
    ids=["alone", "besides", "no word of them"],
)
def test_p8_tests_that_are_ordered_to_pass_are_run_whatever_changed(
    tmp_path: pathlib.Path, task: str, type: str, status: str
) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": "ok", "writes": {"notes.md": "x"}})
    checks = {"tests": [["false"]], "lint": [["false"]]}
    (tmp_path / "project" / "orchestrator.json").write_text(json.dumps({"detection": {"checks": checks}}))
    run = execute_run.execute(at, submission.submit(at, task)["id"])
    assert (run["task_type"], run["executor_status"]) == (type, status)
    assert ("The project's tests fail." in run["why"]) == (status == "INCOMPLETE"), run["why"]


def test_p24_a_key_in_a_task_is_in_no_log_and_no_database(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path, {"status": "COMPLETE", "output": f"used {KEY}", "writes": {"a.md": "x"}})
    run = done(at, f"create a.md with {KEY}")
    log = json.dumps(task_logs.read(at.project.root, str(at.session_id), run["id"]))
    at.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    assert KEY not in log
    assert KEY.encode() not in (tmp_path / "o.db").read_bytes()


def test_p24_a_key_in_the_name_of_a_file_is_masked_and_its_evidence_is_sound(tmp_path: pathlib.Path) -> None:
    names = [f"{KEY}.md", f"{KEY}b.md", f"d-{KEY}/a.md", "plain.md"]
    at = desk(tmp_path, {"status": "COMPLETE", "output": "ok", "writes": dict.fromkeys(names, "x"), "files": names[:1]})
    run = execute_run.execute(at, submission.submit(at, "write something down", "LIGHT_EDIT")["id"])
    assert (run["state"], {file["exists"] for file in run["verified_files"]}) == ("complete", {True})
    session = str(at.session_id)
    listed = evidence_files.registered(at.project.root, session)
    found = evidence_files.inspect(at.project.root, session, listed, artifacts_of=listed)
    assert (found.problems, end_session.close(at)["report"]["evidence_inventory"]["integrity_failures"]) == ((), [])
    at.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    kept = [tmp_path / "o.db", *pathlib.Path(at.project.root, ".orchestrator").rglob("*")]
    assert [path.name for path in kept if path.is_file() and KEY.encode() in path.read_bytes()] == []
    pathlib.Path(at.project.root, names[2]).write_text("y")
    found = evidence_files.inspect(at.project.root, session, listed, artifacts_of=listed)
    assert [problem.code for problem in found.problems] == ["E304"]


def test_a_project_that_cannot_be_written_any_more_keeps_no_session_open(tmp_path: pathlib.Path) -> None:
    at = desk(tmp_path)
    queued = submission.submit(at, "create a.md")
    own = pathlib.Path(at.project.root, ".orchestrator")
    shutil.rmtree(own)
    own.write_text("no folder")
    with pytest.raises(EnvironmentProblem) as problem:
        end_session.close(at)
    status = at.context.connection.execute("SELECT status FROM sessions WHERE kind = 'chat'").fetchone()
    state = at.context.connection.execute("SELECT state FROM runs WHERE id = ?", (queued["id"],)).fetchone()
    assert (problem.value.code, status, state, at.session_id) == ("OUTPUT_FAILED", ("ended",), ("cancelled",), None)


def test_an_executor_that_removes_the_project_has_failed_and_a_person_is_asked(tmp_path: pathlib.Path) -> None:
    """The record says what happened; there is no place for a log or a report any more, and nothing makes the folder."""
    root = desk(tmp_path).project.root
    remover = tmp_path / "remover.sh"
    remover.write_text('#!/bin/sh\nrm -rf "$PWD"\necho done\n')
    remover.chmod(0o700)
    at = bootstrap.open_run_session(
        executor=f"command:{remover}", project_mode="fixed", project_root=root, database=str(tmp_path / "o.db"),
        environment=dict(os.environ),
    )  # fmt: skip
    ended = done(at, "create a.md")
    assert (ended["state"], ended["error_reason"]) == ("error", f"The project {root} does not exist.")
    with pytest.raises(EnvironmentProblem) as problem:
        end_session.close(at)
    status = at.context.connection.execute("SELECT status FROM sessions WHERE kind = 'chat'").fetchone()
    said = f"The folder {root} does not exist, so nothing can be written to it."
    assert (problem.value.code, problem.value.message, at.session_id) == ("OUTPUT_FAILED", said, None)
    assert (status, pathlib.Path(root).exists()) == (("active",), False)


def test_files_of_another_databases_session_are_mixed_with_nobody_elses(tmp_path: pathlib.Path) -> None:
    first, at = desk(tmp_path, {"status": "COMPLETE", "output": "done"}), "2030-01-01T00:00:00.000000Z"
    first.context.clock = lambda: at
    begin_session.start(first)
    done(first, "read nothing")
    end_session.close(first)
    other = bootstrap.open_run_session(
        executor=f"scripted:{tmp_path / 'script.json'}", project_mode="fixed", project_root=first.project.root,
        database=str(tmp_path / "other.db"), environment={},
    )  # fmt: skip
    other.context.clock = lambda: at
    with pytest.raises(Refused) as refused:
        begin_session.begin(other, "chat-1893456000000")
    begin_session.start(other)
    assert (refused.value.code, other.session_id) == ("NOT_PERMITTED", "chat-1893456000001")
    assert refused.value.suggestion == "Give another id, or move .orchestrator/sessions/chat-1893456000000 away"


def test_sessions_that_are_begun_within_one_millisecond_have_ids_of_their_own(tmp_path: pathlib.Path) -> None:
    begin_session.start(desk(tmp_path, {"status": "COMPLETE", "output": "done"}))
    at = "2030-01-01T00:00:00.000000Z"
    begun: list[str] = []
    faults: list[Exception] = []
    together = threading.Barrier(6)

    def begin() -> None:
        one = again(tmp_path)
        one.context.clock = lambda: at
        together.wait()
        try:
            begin_session.start(one)
            begun.append(str(one.session_id))
        except Exception as fault:
            faults.append(fault)
        one.context.connection.close()

    threads = [threading.Thread(target=begin) for _ in range(6)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    first = 1893456000000
    assert (faults, sorted(begun)) == ([], [f"chat-{first + number}" for number in range(6)])
    context = again(tmp_path).context
    assert context.connection.execute("SELECT count(*) FROM refusals").fetchone() == (0,)
    assert operations.call(context, "audit replay", session_id=f"chat-{first + 1}")["differences"] == []


@pytest.mark.parametrize("act", ["respond", "continue"])
def test_what_no_run_is_called_is_told_so(tmp_path: pathlib.Path, act: str) -> None:
    at = desk(tmp_path)
    done(at, "create a.md")
    with pytest.raises(Refused) as problem:
        run_answers.respond(at, "yes", "nowhere") if act == "respond" else run_answers.continuable(at, "nowhere")
    assert problem.value.code == "UNKNOWN_ID"


def test_two_databases_that_begin_in_one_millisecond_take_two_ids(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Neither has written a file yet when the other one looks."""
    first = desk(tmp_path)
    second = bootstrap.open_run_session(
        executor=f"scripted:{tmp_path / 'script.json'}", project_mode="fixed", project_root=first.project.root,
        database=str(tmp_path / "other.db"), environment={},
    )  # fmt: skip
    monkeypatch.setattr(run_repository, "milliseconds", lambda _: 7)
    for each in (first, second):
        begin_session.begin(each)
    assert [each.session_id for each in (first, second)] == ["chat-7", "chat-8"]


@pytest.mark.parametrize("what", ["sessions", "sessions/{session}"])
@pytest.mark.parametrize("how", ["file", "link"])
def test_p26_who_replaces_the_folder_of_the_records_makes_the_run_invalid_and_it_stays_on_record(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, what: str, how: str
) -> None:
    at = desk(tmp_path)

    def replaces(executor: port.Executor, task: port.ExecutorTask, *_: object) -> port.ExecutorResult:
        folder = pathlib.Path(task.project, ".orchestrator", what.format(session=task.session_id))
        folder.rename(tmp_path / "elsewhere")
        folder.touch() if how == "file" else folder.symlink_to(tmp_path / "elsewhere")
        pathlib.Path(task.project, "a.md").write_text("x")
        return port.ExecutorResult("COMPLETE", task.session_id, "done")

    monkeypatch.setattr(execute_run, "called", replaces)
    run = done(at, "create a.md")
    assert (run["executor_status"], run["error_code"], run["status"]) == ("INVALID", "E501", "ERROR"), run["why"]
    closed = end_session.close(at)
    assert (closed["exit_code"], closed["report_path"], len(closed["warnings"])) == (1, None, 1)
    assert closed["report"]["overall_status"] == "INVALID"
