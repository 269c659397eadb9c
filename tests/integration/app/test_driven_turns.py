"""Driven turns: an executor is given a hand-off, and its answer comes back with evidence, a log and a verdict."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
import threading
import time
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import driven_turn, orphaned_runs, start_run, turn_runs
from orchestrator.app.running.driven_turn import TurnOrder, TurnResult, run_turn
from orchestrator.app.running.orphaned_runs import LOST
from orchestrator.core.running import locks
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused, UsageError
from orchestrator.runner import evidence_files, evidence_kept, port, process, process_identity, task_logs
from orchestrator.runner import orphan_recovery as lost
from orchestrator.runner.executors import catalogue
from orchestrator.runner.executors.scripted import Scripted
from orchestrator.store import evidence, run_reader, sqlite, turn_reader
from tests import persons
from tests.integration.app.desk import Desk

REPORT = "All done.\n\nSTATUS: READY_FOR_QA"
ANSWERS = {"status": "COMPLETE", "output": REPORT, "writes": {"src.py": "x = 1\n"}, "usage": {"input_tokens": 7}}
KEY = "sk-" + "a1B2" * 10
QUICK = process.Limits(executor_timeout_ms=20_000, progress_timeout_ms=20_000)


@pytest.fixture
def desk(tmp_path: pathlib.Path) -> Desk:
    (tmp_path / "project").mkdir()
    found = Desk(tmp_path, shared=True)
    found.planned("S1", "A", "B")
    return found


def order(desk: Desk, *steps: dict[str, Any], **changed: Any) -> TurnOrder:
    root = str(desk.path.parent / "project")
    given: dict[str, Any] = {
        "session_id": "S1", "group_id": "A", "turn": 2, "role": "developer", "handoff": "Build it.",
        "executor": Scripted([*steps] or [ANSWERS]), "folder": root, "root": root, "limits": QUICK, "patience_s": 5.0,
    }  # fmt: skip
    return TurnOrder(**(given | changed))


def tree(desk: Desk, name: str) -> str:
    folder = desk.path.parent / "project" / ".orchestrator" / "worktrees" / "S1" / name
    folder.mkdir(parents=True, exist_ok=True)
    return str(folder)


def second(desk: Desk) -> Context:
    connection = sqlite.connect(desk.path, write=True, synchronous="NORMAL")
    return Context(connection, path=str(desk.path), clock=desk.clock, door="test", channel="process", deadline_s=5.0)


def row(desk: Desk, result: TurnResult) -> turn_reader.TurnRun:
    found = turn_reader.by_id(desk.context.connection, result.run)
    assert found is not None
    return found


def log_of(desk: Desk, result: TurnResult) -> dict[str, Any]:
    path = desk.path.parent / "project" / ".orchestrator" / "sessions" / "S1" / "logs" / f"{result.run}.json"
    found: dict[str, Any] = json.loads(path.read_text())
    return found


def test_an_answer_comes_back_with_what_changed_its_evidence_and_its_log(desk: Desk) -> None:
    """P7, P18, P21, P26, P31, P33."""
    result = run_turn(desk.context, order(desk))
    assert (result.state, result.answer, result.reason, result.usage) == ("answered", REPORT, None, {"input_tokens": 7})
    assert [(change.path, change.kind) for change in result.changes] == [("src.py", "new")]
    kept = row(desk, result)
    assert (kept.state, kept.output, kept.owner, kept.role, kept.turn) == ("answered", REPORT, None, "developer", 2)
    subjects = [r[0] for r in desk.context.connection.execute("SELECT subject FROM evidence ORDER BY seq, part")]
    assert subjects == [result.run, f"{result.run}-execute", f"{result.run}-verify"]
    found = evidence_files.inspect(kept.root, "S1", subjects[1:])
    assert (found.problems, found.missing) == ((), ())
    log = log_of(desk, result)
    assert (log["status"], log["group_id"], log["verification_root"]) == ("answered", "A", kept.folder)
    (file,) = log["verified_files"]
    assert (file["path"], file["exists"], file["detection_method"], file["change"]) == ("src.py", True, "diff", "new")
    assert log["started_at"] == kept.started_at is not None
    assert desk.call("audit verify")["findings"] == []


def test_what_a_turn_leaves_on_the_disk_is_found_by_the_record(desk: Desk) -> None:
    """P21: as an export and a verdict look for it."""
    result = run_turn(desk.context, order(desk, folder=tree(desk, "A")))
    (found,) = evidence.inventories(desk.context.connection, "S1")
    assert (found.root, found.expired) == (row(desk, result).root, False)
    kept, why = evidence_kept.find([pathlib.Path(found.root)], "S1", found.checksum)
    assert kept is not None, why
    assert (kept.problems, len(kept.raw)) == ({}, 0)


BAD: list[Any] = [
    ({"status": "COMPLETE", "output": " \n"}, "no_answer", None, "ended without an answer"),
    ({"status": "COMPLETE", "output": REPORT, "session_id": "S9"}, "failed", "E502", "names session"),
    ({"status": "COMPLETE", "output": REPORT, "session_id": None}, "failed", "E501", "names no session"),
    ({"status": "ERROR", "output": "", "error": "it broke"}, "failed", "E503", "it broke"),
    ({"status": "ERROR", "output": "", "error": "USAGE_LIMIT: resets 3pm"}, "limited", None, "resets 3pm"),
    ({"status": "COMPLETE", "output": REPORT, "blocked": "INTERACTIVE_PROMPT"}, "failed", "E503", "asked for input"),
    ({"status": "COMPLETE", "output": REPORT, "blocked": "TIMEOUT"}, "failed", "E503", "was ended by"),
]


@pytest.mark.parametrize(("step", "state", "code", "why"), BAD, ids=[f"{each[1]}: {each[3]}" for each in BAD])
def test_what_is_no_answer_is_told_by_its_reason(
    desk: Desk, step: dict[str, Any], state: str, code: str | None, why: str
) -> None:
    """P1, P8, P9, P34, P35."""
    result = run_turn(desk.context, order(desk, step))
    assert (result.state, result.code) == (state, code)
    assert why in str(result.reason)
    assert (row(desk, result).reason, row(desk, result).error_code) == (result.reason, code)
    assert log_of(desk, result)["status"] == state


def test_an_answer_beside_which_a_tool_was_denied_counts_and_says_which(desk: Desk) -> None:
    result = run_turn(desk.context, order(desk, {**ANSWERS, "denied": ["Bash(git push)"]}))
    assert (result.state, result.denied_tools) == ("answered", ("Bash(git push)",))
    assert ("denied", "Bash(git push)") in [(each["kind"], each["text"]) for each in log_of(desk, result)["events"]]


def test_a_program_is_supervised_as_in_a_run_of_a_task(desk: Desk) -> None:
    """P35: the clock of the turn ends it and all that it started."""
    program = desk.path.parent / "slow.py"
    program.write_text(f"#!{sys.executable}\nimport time\ntime.sleep(60)\n")
    program.chmod(0o755)
    slow = order(desk, executor=catalogue.chosen(f"command:{program}", None, {"PATH": os.environ["PATH"]}))
    result = run_turn(desk.context, slow._replace(limits=process.Limits(executor_timeout_ms=700)))
    assert (result.state, result.code) == ("failed", "E503")
    kept = row(desk, result)
    assert (kept.blocked_reason, kept.timeout_ms, kept.limit_name) == ("TIMEOUT", 700, "executor_timeout_ms")


@pytest.mark.sqlite("its bytes are read")
def test_a_key_in_an_answer_is_kept_nowhere(desk: Desk) -> None:
    """P24."""
    result = run_turn(desk.context, order(desk, {"status": "COMPLETE", "output": f"Use {KEY}."}))
    assert "[MASKED:OPENAI_KEY]" in result.answer
    files = [path.read_bytes() for path in (desk.path.parent / "project").rglob("*") if path.is_file()]
    assert KEY.encode() not in b"".join([desk.path.read_bytes(), *files])


def test_who_touches_settings_has_failed(desk: Desk) -> None:
    """P1."""
    step = {**ANSWERS, "writes": {".claude/settings.json": "{}"}}
    result = run_turn(desk.context, order(desk, step))
    assert (result.state, result.code) == ("failed", "E501")
    assert ".claude/settings.json (new)" in str(result.reason)


@pytest.mark.parametrize(("beside", "code"), [(False, "E501"), (True, "E305")], ids=["alone", "beside another turn"])
def test_who_rewrites_the_evidence_of_others_has_failed(desk: Desk, beside: bool, code: str) -> None:
    """P1, P21: where others record theirs in the same session, what the database knows of the index tells it."""
    first = run_turn(desk.context, order(desk))
    assert first.state == "answered"
    if beside:
        held(desk, "B", tree(desk, "B"))
    index = "../../../../.orchestrator/sessions/S1/evidence/evidence_index.json"
    step = {**ANSWERS, "writes": {"a.md": "x"}}
    program = desk.path.parent / "forge.py"
    program.write_text(
        f"#!{sys.executable}\nimport pathlib\npathlib.Path({index!r}).write_text('{{}}')\nprint('All done.')\n"
    )
    program.chmod(0o755)
    executor = catalogue.chosen(f"command:{program}", None, {"PATH": os.environ["PATH"]})
    result = run_turn(desk.context, order(desk, step, executor=executor, folder=tree(desk, "A")))
    assert (result.state, result.code) == ("failed", code), result


# --- who waits for whom


def held(desk: Desk, group: str | None, folder: str) -> turn_reader.TurnRun:
    """The run of a turn that this process has started and goes on with."""
    found = operations.ask(
        desk.context,
        turn_runs.QueueTurn(
            session_id="S1",
            group=group,
            turn=2,
            role="developer",
            prompt="x",
            executor="scripted",
            model=None,
            folder=folder,
            root=str(desk.path.parent / "project"),
            owner=process_identity.mine(),
        ),
    )
    run = turn_reader.by_id(desk.context.connection, found["run"])
    assert run is not None
    turn_runs.start(desk.context, run, capacity=4)
    return run


@pytest.mark.parametrize(
    ("group", "same_folder", "state"),
    [
        pytest.param("A", False, "failed", id="the same group"),
        pytest.param("B", False, "answered", id="another group in a tree of its own"),
        pytest.param("B", True, "failed", id="another group in the same folder"),
        pytest.param(None, False, "answered", id="the session itself"),
    ],
)
def test_turns_of_groups_run_side_by_side_and_those_of_one_group_do_not(
    desk: Desk, group: str | None, same_folder: bool, state: str
) -> None:
    """P6, P12: who waits longer than allowed stops with E403, and leaves the holder alone."""
    first = held(desk, "A", tree(desk, "A"))
    folder = tree(desk, "A" if same_folder else f"own-{group}")
    result = run_turn(desk.context, order(desk, group_id=group, folder=folder, patience_s=0.2))
    assert (result.state, result.code) == (state, None if state == "answered" else "E403")
    if state == "failed":
        assert first.id in str(result.reason)
    assert row(desk, TurnResult(first.id, "")).state == "running"


def test_a_place_is_shared_with_runs_of_tasks(desk: Desk) -> None:
    """P5, P12."""
    held(desk, "A", tree(desk, "A"))
    result = run_turn(desk.context, order(desk, group_id="B", folder=tree(desk, "B"), capacity=1, patience_s=0.2))
    assert (result.state, result.code) == ("failed", "E403")


def test_who_came_first_is_served_first(desk: Desk) -> None:
    """P12: a turn that waits is not passed by one that came later and wants the same group."""
    held(desk, "A", tree(desk, "A"))
    ids = []
    for _ in range(2):
        found = operations.ask(
            desk.context,
            turn_runs.QueueTurn(
                session_id="S1",
                group="A",
                turn=2,
                role="developer",
                prompt="x",
                executor="scripted",
                model=None,
                folder=tree(desk, "A"),
                root=str(desk.path.parent),
                owner=process_identity.mine(),
            ),
        )
        ids.append(found["run"])
        desk.clock.minutes += 1
    first, later = (turn_reader.by_id(desk.context.connection, id) for id in ids)
    assert first is not None
    assert later is not None
    assert [start_run.conflict(desk.context, each, 4) for each in (first, later)] == ["E401", "E401"]
    turn_runs.abandon(desk.context, turn_reader.running(desk.context.connection)[0], reason="x")
    assert [start_run.conflict(desk.context, each, 4) for each in (first, later)] == [None, "E401"]


@pytest.mark.sqlite("others open it")
def test_two_at_once_leave_whole_evidence_of_both(desk: Desk) -> None:
    """P18, P21: the evidence of a session is one index, whoever of its turns records first."""
    results: list[TurnResult] = []

    def one(group: str) -> None:
        context = second(desk)
        step = {**ANSWERS, "delay_ms": 300}
        results.append(run_turn(context, order(desk, step, group_id=group, folder=tree(desk, group))))
        context.connection.close()

    began = time.monotonic()
    threads = [threading.Thread(target=one, args=(group,)) for group in ("A", "B")]
    for each in threads:
        each.start()
    for each in threads:
        each.join(30)
    assert [each.state for each in results] == ["answered", "answered"], results
    assert time.monotonic() - began < 20
    names = [f"{each.run}-{kind}" for each in results for kind in ("execute", "verify")]
    assert evidence_files.inspect(str(desk.path.parent / "project"), "S1", names).problems == ()
    assert desk.call("audit verify")["findings"] == []


def test_a_dead_driver_is_freed_by_the_next_turn(desk: Desk) -> None:
    """P6, P35: the run of a turn whose process is gone has failed, and holds nothing any more."""
    gone = process_identity.mine().rpartition(":")[0] + ":1"
    found = operations.ask(
        desk.context,
        turn_runs.QueueTurn(
            session_id="S1",
            group="A",
            turn=2,
            role="developer",
            prompt="x",
            executor="scripted",
            model=None,
            folder=tree(desk, "A"),
            root=str(desk.path.parent),
            owner=gone,
        ),
    )
    lost = turn_reader.by_id(desk.context.connection, found["run"])
    assert lost is not None
    turn_runs.start(desk.context, lost, capacity=4)
    result = run_turn(desk.context, order(desk, folder=tree(desk, "A")))
    assert (result.state, row(desk, TurnResult(lost.id, "")).state) == ("answered", "failed")
    assert "the process that ran it is gone" in str(row(desk, TurnResult(lost.id, "")).reason)


DRIVER = """
import sys
from orchestrator import bootstrap
from orchestrator.app.running.driven_turn import LIMITS, TurnOrder, run_turn
from orchestrator.runner.executors import catalogue
database, root, folder, program = sys.argv[1:]
context = bootstrap.open_context(database, write=True, door="test")
executor = catalogue.chosen(f"command:{program}", None, {"PATH": "/usr/bin:/bin"})
run_turn(context, TurnOrder("S1", "A", 2, "developer", "Build it.", executor, folder, root))
"""


def lives(number: int) -> bool:
    try:
        return pathlib.Path(f"/proc/{number}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


@pytest.mark.sqlite("others open it")
def test_what_a_killed_driver_has_started_is_ended_before_the_turn_runs_again(desk: Desk) -> None:
    """P35: its executor lives on and writes; the next driver ends it, and only then takes the group."""
    folder, root = pathlib.Path(tree(desk, "A")), desk.path.parent / "project"
    program = desk.path.parent / "slow.py"
    program.write_text(
        f"#!{sys.executable}\nimport os, pathlib, time\npathlib.Path('pid').write_text(str(os.getpid()))\n"
        "time.sleep(600)\n"
    )
    program.chmod(0o755)
    driver = subprocess.Popen([sys.executable, "-c", DRIVER, desk.path, root, folder, program])
    until = time.monotonic() + 30
    while not (folder / "pid").exists() or not (folder / "pid").read_text():
        assert (driver.poll(), time.monotonic() < until) == (None, True)
        time.sleep(0.05)
    executor = int((folder / "pid").read_text())
    driver.kill()
    driver.wait()
    assert lives(executor)
    result = run_turn(desk.context, order(desk, folder=str(folder)))
    assert (result.state, lives(executor)) == ("answered", False)
    runs = turn_reader.of_turn(desk.context.connection, "S1", "A", 2)
    assert [(run.state, run.error_code) for run in runs] == [("failed", "E503"), ("answered", None)]


def test_a_turn_does_not_wait_for_one_whose_executor_started_this_process(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    """P12: such waiting would never end."""
    first = held(desk, "A", tree(desk, "A"))
    monkeypatch.setattr(lost, "is_within", lambda tag: tag == lost.tag(process_identity.mine(), first.id))
    result = run_turn(desk.context, order(desk, folder=tree(desk, "A"), patience_s=60.0))
    assert (result.state, result.code) == ("failed", "E403")
    assert "whose executor started this process" in str(result.reason)


def test_what_cannot_be_ended_of_a_lost_turn_keeps_its_group(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    """P6, P35."""
    first = held(desk, "A", tree(desk, "A"))
    monkeypatch.setattr(process_identity, "is_gone", lambda owner, _=None: owner == first.owner)
    monkeypatch.setattr(process_identity, "mine", lambda: "other:1:2")
    monkeypatch.setattr(lost, "end", lambda _: lost.Lost(left=("sleep (42)",)))
    result = run_turn(desk.context, order(desk, folder=tree(desk, "A"), patience_s=0.2))
    assert (result.state, result.code, "sleep (42)" in str(result.reason)) == ("failed", "E405", True)
    assert row(desk, TurnResult(first.id, "")).state == "running"


def test_a_turn_that_is_broken_off_holds_nothing(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    with monkeypatch.context() as patched:
        patched.setattr(driven_turn.snapshot, "take", lambda *_, **__: (_ for _ in ()).throw(KeyboardInterrupt()))
        with pytest.raises(KeyboardInterrupt):
            run_turn(desk.context, order(desk))
    assert run_turn(desk.context, order(desk)).state == "answered"


def test_where_the_project_cannot_be_written_the_turn_has_failed_and_says_so(
    desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    problem = EnvironmentProblem("OUTPUT_FAILED", "No room.", "")
    monkeypatch.setattr(task_logs, "save_turn", lambda *_: (_ for _ in ()).throw(problem))
    result = run_turn(desk.context, order(desk))
    assert (result.state, result.reason) == ("failed", "The log could not be written: No room.")
    monkeypatch.setattr(evidence_files, "raw_file", lambda *_: (_ for _ in ()).throw(problem))
    result = run_turn(desk.context, order(desk))
    assert (result.state, result.code, result.reason) == ("failed", "OUTPUT_FAILED", "No room.")


@pytest.mark.sqlite("others open it")
def test_a_turn_whose_process_is_gone_is_told_and_ended_by_a_repl_of_its_project(desk: Desk) -> None:
    """P35: so that its session can end though nobody drives it any more."""
    gone = process_identity.mine().rpartition(":")[0] + ":1"
    found = operations.ask(
        desk.context,
        turn_runs.QueueTurn(
            session_id="S1",
            group="A",
            turn=2,
            role="developer",
            prompt="x",
            executor="scripted",
            model=None,
            folder=tree(desk, "A"),
            root=str(desk.path.parent / "project"),
            owner=gone,
        ),
    )
    (lost_run,) = bootstrap.lost_runs(desk.context)
    assert orphaned_runs.notice(lost_run) == (
        f"Its driver is gone: orchestrator drive {lost_run.session_id} takes over its turn."
    )
    session = bootstrap.open_run_session(
        project_mode="fixed", project_root=lost_run.root, database=str(desk.path), environment={},
        executor=f"scripted:{script(desk)}",
    )  # fmt: skip
    told = f"{found['run']} in {lost_run.folder} was left by a runner that was killed, and is ended: {LOST}."
    assert bootstrap.end_lost_runs(session) == [told]
    assert bootstrap.lost_runs(desk.context) == []


def script(desk: Desk) -> pathlib.Path:
    path = desk.path.parent / "script.json"
    path.write_text("[]")
    return path


def test_who_was_started_for_a_turn_is_no_person(desk: Desk) -> None:
    """The processes that run turns are known to the proof of a person, as those that run tasks."""
    held(desk, "A", tree(desk, "A"))
    assert run_reader.owners(desk.context.connection) == [process_identity.mine()]


# --- what is refused


REFUSED: list[Any] = [
    ({"handoff": " \n"}, UsageError, "USAGE"),
    ({"group_id": "Z"}, Refused, "UNKNOWN_GROUP"),
    ({"session_id": "S9"}, Refused, "UNKNOWN_SESSION"),
]


@pytest.mark.parametrize(("changed", "kind", "code"), REFUSED, ids=[each[2] for each in REFUSED])
def test_what_cannot_be_run_is_not_queued(desk: Desk, changed: dict[str, Any], kind: type, code: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        run_turn(desk.context, order(desk, **changed))
    assert (type(caught.value), caught.value.code) == (kind, code)
    assert desk.context.connection.execute("SELECT count(*) FROM turn_runs").fetchone() == (0,)


def test_nothing_runs_in_a_session_that_has_ended_and_none_ends_while_something_runs(desk: Desk) -> None:
    run = held(desk, "A", tree(desk, "A"))
    persons.sit(desk.context)
    problem = desk.refused("session end", id="S1", by="user", reason="no more")
    assert (problem.code, problem.data["runs"]) == ("ILLEGAL_MOVE", [run.id])
    turn_runs.abandon(desk.context, run, reason="stopped")
    waits = operations.ask(
        desk.context,
        turn_runs.QueueTurn(
            session_id="S1",
            group="A",
            turn=2,
            role="developer",
            prompt="x",
            executor="scripted",
            model=None,
            folder=run.folder,
            root=run.root,
            owner=process_identity.mine(),
        ),
    )["run"]
    desk.call("session end", id="S1", by="user", reason="no more")
    ended = row(desk, TurnResult(waits, ""))
    assert (ended.state, ended.reason) == ("failed", "the session was closed before it ran")
    with pytest.raises(Refused) as refused:
        run_turn(desk.context, order(desk))
    assert refused.value.code == "SESSION_CLOSED"


MOVES: list[Any] = [
    (
        "one that is not there",
        lambda desk, run: turn_runs.start(desk.context, run._replace(id="turn-1"), capacity=4), "UNKNOWN_ID",
    ),
    ("started twice", lambda desk, run: turn_runs.start(desk.context, run, capacity=4), "ILLEGAL_MOVE"),
    (
        "abandoned by another owner",
        lambda desk, run: turn_runs.abandon(desk.context, run._replace(owner="elsewhere:1:2"), reason="x", gone=True),
        "ILLEGAL_MOVE",
    ),
    (
        "taken from who lives",
        lambda desk, run: turn_runs.abandon(desk.context, run, reason="x", gone=False),
        "E405",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("act", "code"), [row[1:] for row in MOVES], ids=[row[0] for row in MOVES])
def test_a_running_turn_moves_by_its_own_process_alone(
    desk: Desk, act: Callable[[Desk, turn_reader.TurnRun], object], code: str
) -> None:
    run = held(desk, "A", tree(desk, "A"))
    with pytest.raises(OrchestratorError) as caught:
        act(desk, run)
    assert caught.value.code == code
    assert row(desk, TurnResult(run.id, "")).state == "running"


def test_a_cancelled_turn_has_failed_and_says_so(desk: Desk) -> None:
    before = run_turn(desk.context, order(desk), cancelled=lambda: True)
    assert (before.state, before.reason) == ("failed", "It was cancelled before it began.")
    asked = iter([False])
    during = run_turn(
        desk.context, order(desk, {**ANSWERS, "delay_ms": 5_000}), cancelled=lambda: next(asked, True)
    )  # fmt: skip
    assert (during.state, during.reason) == ("failed", "The turn was cancelled.")


def test_what_was_ended_by_others_meanwhile_is_not_ended_again(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Scripted([ANSWERS])

    def ends(task: port.ExecutorTask, **_: Any) -> port.ExecutorResult:
        run = turn_reader.by_id(desk.context.connection, task.run_id)
        assert run is not None
        turn_runs.abandon(desk.context, run, reason="somebody was faster")
        return Scripted([ANSWERS]).execute(task)

    monkeypatch.setattr(executor, "execute", ends)
    with pytest.raises(Refused) as refused:
        run_turn(desk.context, order(desk, executor=executor))
    assert refused.value.code == "ILLEGAL_MOVE"
    assert turn_reader.of_turn(desk.context.connection, "S1", "A", 2)[-1].reason == "somebody was faster"


def test_a_fault_of_an_adapter_is_a_failed_turn(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    executor = Scripted([ANSWERS])
    monkeypatch.setattr(executor, "execute", lambda *_, **__: 1 / 0)
    result = run_turn(desk.context, order(desk, executor=executor))
    assert (result.state, "ZeroDivisionError" in str(result.reason)) == ("failed", True)


def test_keys_of_turns_are_within_that_of_their_session_and_beside_each_other() -> None:
    session, group, other = locks.session_key("S1"), locks.turn_key("S1", "A"), locks.turn_key("S1", "AB")
    none = locks.turn_key("S1", None)
    pairs = [(session, group), (session, none), (group, other), (group, none), (session, locks.turn_key("S10", "A"))]
    assert [locks.overlap(*pair) for pair in pairs] == [True, True, False, False, False]


def test_a_replay_judges_again_and_comes_to_the_same(desk: Desk) -> None:
    run_turn(desk.context, order(desk))
    run_turn(desk.context, order(desk, {"status": "ERROR", "output": "", "error": "USAGE_LIMIT: later"}))
    found = desk.call("audit replay", session_id="S1")
    assert (found["equal"], "turn finish" in operations.STEPS) == (True, True)
