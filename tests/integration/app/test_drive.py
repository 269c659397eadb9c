"""`drive`: a team runs by itself, from a goal to a verdict, and what goes wrong has a bounded end."""

from __future__ import annotations

import json
import os
import pathlib
import subprocess
import sys
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import testing
from orchestrator.app import starts
from orchestrator.app.audit import at_work
from orchestrator.app.driving import crew, drive, leftovers
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import operations
from orchestrator.app.running import driven_turn, turn_runs
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused, UsageError
from orchestrator.runner import commands, process_identity
from orchestrator.store import turn_reader
from tests import persons
from tests.integration.app.desk import Desk

Event = dict[str, Any]
PLAN = {"groups": [{"id": "A", "name": "Login"}]}
FAILS = {"role": "developer", "status": "ERROR", "error": "it broke", "repeat": True}


def says(role: str, status: str, group: str | None = "A", **more: Any) -> dict[str, Any]:
    details = more.pop("details", {})
    return {"role": role, "group": group, "report": {"status": status, "summary": "x", "details": details}, **more}


PLANNED = says("project_manager", "PLANNING_COMPLETE", None, details={"plan": PLAN})
BUILT = says("developer", "READY_FOR_QA", writes={"login.py": "x = 1\n"})
REST = [
    says("qa_expert", "PASS"), says("tech_lead", "APPROVED"), says("developer", "MERGE_SUCCESS"),
    says("project_manager", "BAZINGA", None),
]  # fmt: skip
STEADY = [
    {**each, "group": group, "repeat": True}
    for group in "AB" for each in ({**REST[2], "when": "spawn_merge]"}, BUILT, *REST[:2])
] + [{**REST[3], "repeat": True}]  # fmt: skip
"""What a team of two groups answers, whoever of several drivers asks."""


class Team:
    """A project with a database, a script that plays the agents, and what a driver has told."""

    def __init__(self, folder: pathlib.Path) -> None:
        self.folder = folder
        (folder / ".orchestrator").mkdir()
        self.desk = Desk(folder / ".orchestrator", shared=True)
        self.events: list[Event] = []

    def script(self, *steps: dict[str, Any]) -> str:
        path = self.folder.parent / f"{self.folder.name}-{len(self.events)}.json"
        path.write_text(json.dumps(steps))
        return f"scripted:{path}"

    def program(self, text: str) -> str:
        path = self.folder.parent / "agent.py"
        path.write_text(f"#!{sys.executable}\n{text}")
        path.chmod(0o755)
        return f"command:{path}"

    def drive(self, *steps: dict[str, Any], wants: Callable[[], int] | None = None, **given: Any) -> dict[str, Any]:
        asked = {"session_id": "S1", **({"executor": self.script(*steps)} if steps else {}), **given}
        watcher = drive.Watcher(self.events.append, wants or (lambda: drive.GO_ON))
        return drive.drive(self.desk.context, Drive(**asked), watcher)

    def left(self, owner: str, **more: Any) -> dict[str, Any]:
        """The start of the open turn by a driver whose process is that one."""
        given = {"session_id": "S1", "group_id": "A", "turn": self.turn(), "via": "drive", "client": "drive-1", **more}
        found: dict[str, Any] = operations.ask(
            self.desk.context, starts.ReserveStart(**given, owner=owner)
        )["start"]
        return found

    def turn(self) -> int:
        """The open turn of group A."""
        return int(self.desk.call("group show", id="A", session_id="S1")["group"]["turn"])

    def told(self, *kinds: str) -> list[str]:
        return [each["event"] for each in self.events if not kinds or each["event"] in kinds]

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        return [tuple(row) for row in self.desk.context.connection.execute(sql).fetchall()]


@pytest.fixture
def team(tmp_path: pathlib.Path) -> Team:
    (tmp_path / "project").mkdir()
    return Team(tmp_path / "project")


def planned(team: Team) -> None:
    """A session with one group on which the developer is awaited."""
    team.desk.planned("S1", "A")


def test_a_goal_comes_to_its_verdict_by_itself(team: Team) -> None:
    ended = team.drive(PLANNED, BUILT, *REST, session_id=None, goal="Ship the login page")
    assert (ended["outcome"], ended["exit_code"], ended["steps"], ended["session_id"]) == ("accepted", 0, 6, "S1")
    assert team.told("reported", "verdict", "failed") == ["reported"] * 6 + ["verdict"]
    assert (team.folder / "login.py").read_text() == "x = 1\n"
    # Each turn was started once, run once and answered once, and the record holds by itself.
    assert team.rows("SELECT count(*), count(DISTINCT turn), count(ended_seq) FROM starts") == [(6, 6, 0)]
    assert team.rows("SELECT state, count(*) FROM turn_runs GROUP BY state") == [("answered", 6)]
    assert team.desk.call("audit replay", session_id="S1")["equal"] is True
    assert team.desk.call("audit verify")["findings"] == []


def test_an_answer_without_a_report_is_asked_for_one_once(team: Team) -> None:
    planned(team)
    turn = team.turn()
    team.drive({"role": "developer", "status": "COMPLETE", "output": "I am done."}, BUILT, once=True)
    assert team.told("started", "sent_back", "reported") == ["started", "sent_back", "reported"]
    first, second = turn_reader.of_turn(team.desk.context.connection, "S1", "A", turn)
    assert (first.prompt.startswith(f"[orchestrator S1 A turn {turn} developer"), "READY_FOR_QA" in second.prompt) == (
        True, True
    )


NO_REPORT: list[Any] = [
    pytest.param(FAILS, "it broke", id="the executor fails"),
    pytest.param({"role": "developer", "status": "COMPLETE", "output": "No.", "repeat": True}, "report", id="silent"),
    pytest.param({**says("developer", "NO_SUCH"), "repeat": True}, "NO_SUCH", id="an unknown status"),
    pytest.param({"role": "developer", "status": "COMPLETE", "blocked": "TIMEOUT", "repeat": True}, "ms", id="hangs"),
]


@pytest.mark.parametrize(("step", "reason"), NO_REPORT)
def test_who_gives_no_report_is_replaced_twice_and_then_a_person_is_asked(
    team: Team, step: dict[str, Any], reason: str
) -> None:
    planned(team)
    ended = team.drive(step)
    assert (ended["outcome"], ended["exit_code"], ended["steps"]) == ("person", 2, 3)
    actions = [each["decision"]["action"] for each in team.events if each["event"] == "failed"]
    assert actions == ["spawn", "spawn", "pause_for_user"]
    assert all(reason in each["reason"] for each in team.events if each["event"] == "failed")
    ((kind, asked),) = team.rows("SELECT kind, text FROM questions")
    assert (kind, asked.partition(" Last time: ")[0]) == (
        "budget", "developer was started 3 times without a usable report."
    )  # fmt: skip


def test_a_person_who_lets_it_go_on_resets_the_count(team: Team) -> None:
    planned(team)
    (question,) = team.drive(FAILS)["questions"]
    persons.sit(team.desk.context)
    team.desk.call("answer", id=question, decision="continue", by="user")
    assert team.drive(FAILS)["steps"] == 3


def test_what_no_agent_can_help_stops_at_once_and_costs_nothing(team: Team) -> None:
    with pytest.raises(EnvironmentProblem) as missing:
        team.drive(session_id=None, goal="x", executor="command:/no/such/program")
    assert (missing.value.code, missing.value.exit_code) == ("PREFLIGHT_FAILED", 5)
    assert team.rows("SELECT count(*) FROM sessions") == [(0,)]
    planned(team)
    with pytest.raises(EnvironmentProblem) as out:
        team.drive({"role": "developer", "status": "ERROR", "error": "NOT_LOGGED_IN: Please run /login"})
    assert (out.value.code, "Please run /login" in out.value.message) == ("EXECUTOR_UNAVAILABLE", True)
    assert team.rows("SELECT turn, outcome FROM starts") == [(team.turn(), "freed")]
    assert team.drive(BUILT, once=True)["steps"] == 1


def test_the_surroundings_can_be_checked_alone(team: Team) -> None:
    found = team.drive(check=True, executor="command:/no/such/program", role=("qa_expert=command:/bin/sh",))
    names = {each["name"]: each["ok"] for each in found["checks"]}
    assert names == {
        "executor command:/no/such/program": False, "executor command:/bin/sh": True, "project": True, "disk": True,
        "warning": True,
    }  # fmt: skip
    assert (found["exit_code"], team.rows("SELECT count(*) FROM sessions")) == (5, [(0,)])


BUDGETS: list[Any] = [
    pytest.param({"once": True}, "work_remains", 1, id="one round"),
    pytest.param({"max_steps": 2}, "budget", 2, id="steps"),
]


@pytest.mark.parametrize(("given", "outcome", "steps"), BUDGETS)
def test_a_budget_ends_it_with_what_is_left(team: Team, given: dict[str, Any], outcome: str, steps: int) -> None:
    planned(team)
    ended = team.drive(BUILT, *REST, **given)
    assert (ended["outcome"], ended["exit_code"], ended["steps"]) == (outcome, 2, steps)
    assert ended["next"][0].startswith("orchestrator drive S1 --executor scripted:")
    assert ended["next"][0].endswith(" --isolation none")
    assert any("handoff" in each for each in ended["next"])


def test_a_blank_goal_begins_nothing(team: Team) -> None:
    with pytest.raises(UsageError, match="goal is blank"):
        team.drive(PLANNED, session_id=None, goal=" ")
    assert team.rows("SELECT count(*) FROM sessions") == [(0,)]


@pytest.mark.sqlite("the clock is moved by which leases expire")
def test_time_that_is_over_starts_nothing(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(team)
    monkeypatch.setattr(drive.time, "monotonic", iter(range(0, 10**6, 61)).__next__)
    assert team.drive(BUILT, max_minutes=1)["outcome"] == "budget"


def test_who_wants_to_stop_waits_for_what_runs(team: Team) -> None:
    planned(team)

    def wants() -> int:
        return drive.START_NONE if "started" in team.told() else drive.GO_ON

    ended = team.drive({**BUILT, "delay_ms": 300}, *REST, wants=wants)
    assert (ended["outcome"], ended["exit_code"], team.told("reported")) == ("stopped", 2, ["reported"])


def test_who_wants_to_stop_now_ends_what_runs_and_its_turn_is_free(team: Team) -> None:
    planned(team)

    def wants() -> int:
        return drive.CANCEL if "started" in team.told() else drive.GO_ON

    ended = team.drive({**BUILT, "delay_ms": 60_000}, wants=wants)
    assert (ended["outcome"], team.told("reported", "freed")) == ("stopped", ["freed"])
    assert team.rows("SELECT outcome FROM starts") == [("freed",)]
    assert team.drive(BUILT, once=True)["steps"] == 1


@pytest.mark.sqlite("other programs find it by their folder")
def test_two_drivers_never_start_a_turn_twice(team: Team) -> None:
    team.desk.planned("S1", "A", "B")
    argv = [sys.executable, "-m", "orchestrator", "drive", "S1", "--executor", team.script(*STEADY)]
    variables = {**os.environ, "ORCHESTRATOR_BUSY_TIMEOUT": "60"}
    both = [
        subprocess.Popen(argv, cwd=team.folder, env=variables, stdout=subprocess.PIPE, stderr=subprocess.STDOUT)
        for _ in range(2)
    ]
    told = [(each.communicate(timeout=240)[0], each.returncode) for each in both]
    assert [code for _, code in told] == [0, 0], told
    assert team.rows("SELECT status, outcome FROM sessions") == [("ended", "accepted")]
    doubles = "SELECT group_id, turn FROM {} GROUP BY group_id, turn HAVING count(*) > 1"
    assert [team.rows(doubles.format(table)) for table in ("starts", "turn_runs")] == [[], []]


@pytest.mark.parametrize(
    ("state", "outcome"),
    [
        pytest.param(None, "lost", id="before its agent began"),
        pytest.param("running", "lost", id="while its agent worked"),
        pytest.param("answered", "recovered", id="before its answer was routed"),
    ],
)
def test_what_a_killed_driver_left_is_taken_over(
    team: Team, monkeypatch: pytest.MonkeyPatch, state: str | None, outcome: str
) -> None:
    """P35: every turn is answered once; an answer that was given already counts."""
    planned(team)
    gone = process_identity.mine().rpartition(":")[0] + ":1"
    start = team.left(gone)
    if state is not None:
        if state == "running":
            monkeypatch.setattr(process_identity, "mine", lambda: gone)
        run = _left(team, state)
        monkeypatch.undo()
        starts.bind(team.desk.context, start, worker=run)
    ended = team.drive(*([] if state == "answered" else [BUILT]), *REST)
    assert (ended["outcome"], team.told("lost", "recovered", "failed")) == ("accepted", [outcome])
    answered = team.rows("SELECT count(*), count(DISTINCT turn) FROM agent_reports WHERE role = 'developer'")
    assert answered == [(2, 2)]
    assert turn_reader.open_runs(team.desk.context.connection) == []


@pytest.mark.parametrize(("state", "outcome"), [(None, "lost"), ("running", "lost"), ("answered", "recovered")])
def test_what_a_driver_left_whose_process_goes_on_is_taken_over(team: Team, state: str | None, outcome: str) -> None:
    """As a server does whose driver could not write its end."""
    planned(team)
    start = team.left(process_identity.mine(), client=leftovers.client())
    if state is not None:
        starts.bind(team.desk.context, start, worker=_left(team, state))
    ended = team.drive(*([] if state == "answered" else [BUILT]), *REST)
    assert (ended["outcome"], team.told("lost", "recovered", "failed")) == ("accepted", [outcome])
    assert turn_reader.open_runs(team.desk.context.connection) == []


def _left(team: Team, state: str) -> str:
    """The run that a driver leaves which is killed in a state."""
    root = str(team.folder)
    if state == "answered":
        executor = crew.crew(team.script(BUILT), ()).usual.executor
        order = driven_turn.TurnOrder("S1", "A", team.turn(), "developer", "Build it.", executor, root, root)
        return driven_turn.run_turn(team.desk.context, order).run
    asked = turn_runs.QueueTurn(
        session_id="S1", group="A", turn=team.turn(), role="developer", prompt="x", executor="scripted", model=None,
        folder=root, root=root, owner=process_identity.mine(),
    )  # fmt: skip
    queued = operations.ask(team.desk.context, asked)
    run = turn_reader.by_id(team.desk.context.connection, queued["run"])
    assert run is not None
    turn_runs.start(team.desk.context, run, capacity=4)
    return run.id


def test_what_cannot_be_ended_of_a_killed_driver_keeps_its_turn(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(team)
    gone = process_identity.mine().rpartition(":")[0] + ":1"
    team.left(gone)
    monkeypatch.setattr(process_identity, "mine", lambda: gone)
    _left(team, "running")
    monkeypatch.undo()
    monkeypatch.setattr(leftovers.lock_acquisition, "free_abandoned", lambda _: {})
    stops = iter([drive.GO_ON] * 3)
    assert team.drive(BUILT, wants=lambda: next(stops, drive.START_NONE))["steps"] == 0
    assert set(team.told("waiting", "lost")) == {"waiting"}


AGENT = """
import os, sys
print("ORCHESTRATOR_START=" + os.environ["ORCHESTRATOR_START"], file=sys.stderr)
assert os.environ["ORCHESTRATOR_AGENT"] == "developer@S1:A"
open("seen.txt", "w").write(sys.argv[1].splitlines()[0])
print('{"status": "READY_FOR_QA", "summary": "built"}')
"""


def test_a_program_answers_with_a_plain_document_and_knows_whose_turn_it_is(team: Team) -> None:
    planned(team)
    turn = team.turn()
    ended = team.drive(executor=team.program(AGENT), once=True)
    assert (ended["steps"], team.told("reported")) == (1, ["reported"])
    assert (team.folder / "seen.txt").read_text() == f"[orchestrator S1 A turn {turn} developer spawn]"


WRONG: list[Any] = [
    ({"role": ("developer",)}, UsageError, "USAGE"),
    ({"role": ("developer= ",)}, UsageError, "USAGE"),
    ({"role": ("cook=codex",)}, UsageError, "USAGE"),
    ({"role": ("developer=codex", "developer=codex")}, UsageError, "USAGE"),
    ({"role": ("developer=nobody:opus",)}, InvalidInput, "EXECUTOR_UNKNOWN"),
    ({"executor": "scripted:/no/such/file"}, InvalidInput, "SCRIPT_INVALID"),
]


def test_a_database_in_memory_is_not_driven() -> None:
    watcher = drive.Watcher(print, lambda: drive.GO_ON)
    with pytest.raises(UsageError, match="only on a database that is kept"):
        drive.drive(testing.memory_context(), Drive(session_id="S1"), watcher)


def test_a_chat_is_driven_by_its_messages(team: Team) -> None:
    team.desk.call("session create", id="C1", kind="chat")
    for more in ({}, {"clean": True}):
        with pytest.raises(Refused, match="Session C1 is a chat") as caught:
            team.drive(REST[3], session_id="C1", **more)
        assert caught.value.code == "NOT_PERMITTED"


@pytest.mark.parametrize(("given", "kind", "code"), WRONG, ids=[str(each[0]) for each in WRONG])
def test_a_crew_that_cannot_be_is_refused(given: dict[str, Any], kind: type, code: str) -> None:
    with pytest.raises(OrchestratorError) as caught:
        crew.crew(given.get("executor"), given.get("role", ()), {})
    assert (type(caught.value), caught.value.code) == (kind, code)


def test_roles_have_executors_and_models_of_their_own() -> None:
    found = crew.crew("command:/bin/sh -c x:y", ("developer=claude-code:opus", "qa_expert=codex"), {})
    turn = {"model": "sonnet"}
    assert [(found.of(role).name, found.of(role).model_of(turn)) for role in ("tech_lead", "developer", "qa_expert")] \
        == [("command:/bin/sh -c x:y", "sonnet"), ("claude-code:opus", "opus"), ("codex", None)]


def gate(team: Team, *command: str) -> None:
    """A criterion that is due when a developer hands in."""
    team.desk.context.run = commands.run
    team.desk.call(
        "criterion add", id="C1", text="it is built", session_id="S1", command=command, at_status=("READY_FOR_QA",),
        by="project_manager", reason="x",
    )  # fmt: skip


def test_a_failing_gate_goes_back_to_its_agent_and_nobody_else_is_started(team: Team) -> None:
    planned(team)
    gate(team, "grep", "-c", "fixed", "login.py")
    fixed = says("developer", "READY_FOR_QA", writes={"login.py": "fixed\n"})
    team.drive(BUILT, BUILT, fixed, once=True)
    assert team.told("sent_back", "reported") == ["sent_back", "sent_back", "reported"]
    assert team.rows("SELECT DISTINCT code, role FROM refusals") == [("GATE_FAILED", "developer")]
    prompts = [row[0] for row in team.rows("SELECT prompt FROM turn_runs ORDER BY created_seq")]
    assert ["C1 (grep -c fixed login.py): exit 1" in each for each in prompts] == [False, True, True]


@pytest.mark.parametrize(("resumes", "sent"), [(True, 3), (False, 0)], ids=["after three times", "without a way back"])
def test_a_gate_that_goes_on_failing_is_told_to_whoever_is_next(team: Team, resumes: bool, sent: int) -> None:
    planned(team)
    gate(team, "false")
    given = {"executor": team.program(AGENT)} if not resumes else {}
    team.drive(*([{**BUILT, "repeat": True}] if resumes else []), once=True, **given)
    assert team.told("sent_back", "reported") == ["sent_back"] * sent + ["reported"]
    ((details,),) = team.rows("SELECT details FROM agent_reports WHERE role = 'developer'")
    assert json.loads(details)["gate_failures"][0]["why"] == "exit 1"
    (compared,) = at_work.seen(team.desk.context, "S1")
    assert (compared["seen"], compared["agrees"]) == ("gate C1 failed: exit 1", False)
