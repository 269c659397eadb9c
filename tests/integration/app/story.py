"""A database in which every table has rows, written by the use cases alone: what tamperers are let loose on."""

from __future__ import annotations

import functools
import hashlib
import pathlib
import shutil
import tempfile

from orchestrator.app import projects, starts
from orchestrator.app.kernel import operations
from orchestrator.app.running import finish_run, run_queue, start_run, turn_runs
from orchestrator.core.running.facts import Facts, File
from orchestrator.core.running.turn_verdict import TurnFacts
from orchestrator.store import constants, step, turn_reader
from tests import persons
from tests.acceptance import walking
from tests.acceptance.test_replay import MIXED
from tests.integration.app import peer
from tests.integration.app.desk import Desk
from tests.integration.app.table import Table

BLOCKED = "S3"
"""The session with blockers, questions, deferrals, dependencies and acknowledgements."""
WORK = "work"
"""The session with tasks."""
FILE = "evidence/output.txt"
OUTPUT = b"what a command wrote, too much for the database"
AT = "2026-02-01T00:00:00.000000Z"


class Play(Table):
    """The words of those who act, in another session than the usual one."""

    def do(self, words: str, **arguments: object) -> dict[str, object]:
        for name in ("session_id", "id"):
            if arguments.get(name) == "S1":
                arguments[name] = BLOCKED
        return super().do(words, **arguments)


@functools.cache
def _folder() -> pathlib.Path:
    folder = pathlib.Path(tempfile.mkdtemp())
    desk = Desk.of_file(folder)
    for op in MIXED:
        walking.perform(desk.context, op)
    desk.call("import peer", file=str(peer.incident(folder / "peer.db")))
    play = Play("A", "B", "C", context=desk.context)
    play.do("group depend", id="C", on="A", session_id="S1", by="project_manager", reason="first things first")
    play.plan()
    play.defer("A")
    play.do("group undepend", id="C", on="A", session_id="S1", by="project_manager", reason="no need")
    play.confirmable("B")
    play.says("project_manager", "BAZINGA", acknowledge={"B": "the environment came back"})
    play.says("project_manager", "NEEDS_CLARIFICATION", summary="which one?")
    _evidence(desk, folder)
    _tasks(desk)
    _runs(desk)
    _turns(desk)
    desk.context.connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    desk.context.connection.close()
    return folder


def _evidence(desk: Desk, folder: pathlib.Path) -> None:
    """Evidence in a file, as a step records what is too large for a row."""
    (folder / FILE).parent.mkdir()
    (folder / FILE).write_bytes(OUTPUT)
    hash_ = hashlib.sha256(OUTPUT).hexdigest()
    with step.open_step(desk.context.connection, BLOCKED, AT) as one:
        one.insert(
            "evidence", kind="command", subject="C9", outcome="exit 0", hash=hash_, size=len(OUTPUT), path=FILE
        )
        one.insert(
            "evidence", kind="command", subject="C8", outcome="exit 0", hash=hashlib.sha256(b"kept").hexdigest(),
            size=4, content="kept",
        )  # fmt: skip
        one.seal("validate", "system:validator", "process", {})


def _tasks(desk: Desk) -> None:
    """A session with tasks, of which one waits and one is blocked, a report that stopped half-way, and a person."""
    desk.call("session create", id=WORK)
    desk.call("group create", id="A", session_id=WORK)
    desk.call("route", session_id=WORK, current_agent="project_manager", status="PLANNING_COMPLETE")
    for name, on in (("T1", ()), ("T2", ("T1",))):
        given = {"title": name, "session_id": WORK, "group_id": "A", "assignee": "developer", "depends_on": on}
        desk.call("task create", id=name, **given)
    desk.call("task set-status", id="T1", status="in_progress", session_id=WORK, by="developer")
    desk.call("task set-status", id="T1", status="blocked", session_id=WORK, by="developer", reason="no disk")
    half = {"status": "partial", "errors": [], "partial_progress": {"phases_completed": 1, "phases_total": 2}}
    desk.call(
        "route", session_id=WORK, group_id="A", current_agent="developer", status="PARTIAL", metadata=half,
        summary="half",
    )
    row = desk.call("group show", id="A", session_id=WORK)["group"]
    given = {"session_id": WORK, "group_id": "A", "turn": row["turn"], "via": "hook", "client": "c1", "owner": "h:1:1"}
    start = operations.ask(desk.context, starts.ReserveStart(call_id="toolu_1", isolation="none", **given))["start"]
    starts.bind(desk.context, start, worker="a1", trace="/x/agent-a1.jsonl")
    starts.end(desk.context, start, outcome="limited", reason="limit", due_at="2025-01-02T00:00:00.000000Z")
    operations.ask(desk.context, starts.AdoptSession(session_id=WORK, client="c1"))
    desk.call("group create", id="D", session_id=WORK, description="what is to be done")
    command = {"id": "RUN", "text": "it runs", "command": ["true"], "at": ["READY_FOR_QA"]}
    plan = {"groups": [{"id": "P", "criteria": [command]}]}
    desk.call("route", session_id=WORK, current_agent="project_manager", status="CONTINUE", details={"plan": plan},
              summary="more")
    persons.sit(desk.context)
    desk.call("criterion approve", id="RUN", session_id=WORK, by="user", reason="seen")
    desk.call("human link", by="user")
    desk.call("human enrol", agent="user", by="user")
    desk.context.credential = None
    operations.carry_out(desk.context, projects.AddProject(path="/project", alias="main"))


def _runs(desk: Desk) -> None:
    """A run that was ended by its clock with half of its work done, and one that runs."""
    for name in ("T3", "T4"):
        desk.call("task create", id=name, title=name, session_id=WORK, group_id="A")
    given = {"task_type": "IMPLEMENTATION", "executor": "fake", "provider": "claude-code", "root": "/project"}
    first, second = (
        operations.ask(
            desk.context, run_queue.QueueRun(session_id=WORK, prompt=f"write {task}", task=task, model="m", **given)
        )["run"]
        for task in ("T3", "T4")
    )
    operations.ask(
        desk.context,
        start_run.StartRun(session_id=WORK, id=first, owner="host:7:1", capacity=4, locks=(("/project", "write"),)),
    )
    facts = Facts(
        "IMPLEMENTATION", "INCOMPLETE", output="half", executor_blocked=True, blocked_reason="TIMEOUT",
        timeout_ms=60000, limit="executor_timeout", issued_session=WORK, verified=(File("a.md", True),),
    )  # fmt: skip
    file = {"path": "a.md", "change": "new", "present": True, "detected_at": AT, "detection_method": "diff"}
    finish_run.finish(
        desk.context, session_id=WORK, id=first, facts=facts, files=[file],
        log=[{"kind": "file", "text": "new: a.md", "level": "full", "at": AT}],
        evidence=[{"subject": "execute", "outcome": "recorded", "content": {}}],
        violations=[{"type": "seconds", "limit_value": 300, "actual": 301, "at": AT}],
    )  # fmt: skip
    operations.ask(
        desk.context,
        start_run.StartRun(session_id=WORK, id=second, owner="host:7:1", capacity=4, locks=(("/project", "write"),)),
    )


def _turns(desk: Desk) -> None:
    """Two turns of an agent: one that was answered, and one that runs."""
    for ends in (True, False):
        queued = operations.ask(
            desk.context,
            turn_runs.QueueTurn(
                session_id=WORK, group="A", turn=1, role="developer", prompt="hand-off", executor="fake", model="m",
                folder="/tree", root="/project", owner="host:7:1",
            ),
        )  # fmt: skip
        run = turn_reader.by_id(desk.context.connection, queued["run"])
        assert run is not None
        turn_runs.start(desk.context, run, capacity=4)
        if ends:
            turn_runs.finish(
                desk.context, run, facts=TurnFacts("COMPLETE", "the answer", session=WORK, issued_session=WORK),
                log=[{"kind": "file", "text": "new: a.md", "at": AT}], files=[{"path": "a.md", "change": "new"}],
                evidence=[{"subject": f"{run.id}-execute", "outcome": "recorded", "content": {}}], usage={"tokens": 7},
            )  # fmt: skip


def written(folder: pathlib.Path) -> pathlib.Path:
    """A copy of the database, in a project's folder with its evidence."""
    project = folder / constants.FOLDER
    shutil.copytree(_folder() / "evidence", folder / "evidence")
    project.mkdir(mode=0o700)
    return pathlib.Path(shutil.copyfile(_folder() / "orchestrator.db", project / constants.FILE))
