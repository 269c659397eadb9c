"""`serve --drive`: sessions that are begun through a server run by themselves, each with one driver."""

from __future__ import annotations

import pathlib
import sqlite3
import threading
import time
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app import starts
from orchestrator.app.driving import autopilot, drive
from orchestrator.app.driving.autopilot import Autopilot
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.connection_pool import Pool
from orchestrator.app.kernel.context import Context
from orchestrator.app.running.worker import CHANNEL
from orchestrator.errors import EnvironmentProblem
from tests import persons
from tests.integration.app.test_drive import BUILT, PLANNED, REST, Team, says

DEADLINE_S = 60.0


class Served:
    """A project with a server's autopilots, whose faults are kept."""

    def __init__(self, team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(autopilot, "LOOK_S", 0.05)
        self.team, self.path = team, team.desk.context.path
        self.faults: list[Exception] = []
        self.pool = Pool(lambda write: self._open(write, CHANNEL))
        self._pilots: list[Autopilot] = []

    def _open(self, write: bool, channel: str, deadline: str = "10") -> Context:
        return bootstrap.open_context(
            self.path, write=write, door="http", channel=channel, shared=True,
            environment={"ORCHESTRATOR_DEADLINE": deadline},
        )

    def begin(self, id: str = "S1") -> None:
        """Begin a session as a page does."""
        with self.pool.lent(write=True) as context:
            operations.call(context, "session create", id=id, goal="Ship it")

    def pilot(self, *steps: dict[str, Any], **given: Any) -> Autopilot:
        asked = {"executor": self.team.script(*steps)} if steps else {}
        found = Autopilot(
            self.pool, lambda: self._open(True, "process", "0.3"), Drive(**asked, **given), self.faults.append
        )
        self._pilots.append(found)
        found.start()
        return found

    def status(self, id: str = "S1") -> dict[str, Any]:
        with self.pool.lent() as context:
            found: dict[str, Any] = operations.call(context, "status", session_id=id)
            return found

    def until(self, holds: Callable[[], object]) -> None:
        limit = time.monotonic() + DEADLINE_S
        while not holds():
            assert time.monotonic() < limit, (self.status(), self.faults)
            time.sleep(0.02)

    def ended(self, id: str = "S1") -> str:
        """Wait for the end of a session; its outcome."""
        self.until(lambda: self.status(id)["state"] == "ended")
        return str(self.status(id)["session"]["outcome"])

    def close(self) -> None:
        for each in self._pilots:
            each.hurry()
            each.stop()
        self.pool.close()


@pytest.fixture
def served(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Served]:
    (tmp_path / "project").mkdir()
    found = Served(Team(tmp_path / "project"), monkeypatch)
    yield found
    found.close()


def state(pilot: Autopilot, id: str = "S1") -> str | None:
    found = pilot.standing(id)
    return found.state if found else None


def test_a_session_that_is_begun_through_the_server_comes_to_its_verdict(served: Served) -> None:
    pilot = served.pilot(PLANNED, BUILT, *REST)
    served.team.desk.call("session create", id="S0", goal="begun at the command line")
    served.begin()
    assert served.ended() == "accepted"
    assert served.status("S0")["spawns"][0].get("start") is None
    assert state(pilot, "S0") is None
    assert served.faults == []


def test_two_servers_have_one_driver_for_a_session(served: Served) -> None:
    steps = (PLANNED, BUILT, *REST)
    first, second = served.pilot(*steps), served.pilot(*steps)
    served.begin()
    assert served.ended() == "accepted"
    assert len(served.team.rows("SELECT DISTINCT client FROM starts")) == 1
    served.until(lambda: {state(first), state(second)} <= {"elsewhere", "resting", None})
    assert served.faults == []


def test_a_driver_of_the_command_line_leaves_a_served_session_alone(served: Served) -> None:
    pilot = served.pilot({**PLANNED, "delay_ms": 1500}, BUILT, *REST)
    served.begin()
    served.until(lambda: state(pilot) == "driving" and "start" in served.status()["spawns"][0])
    with pytest.raises(EnvironmentProblem) as caught:
        served.team.drive(BUILT)
    assert caught.value.code == "BUSY"
    assert served.ended() == "accepted"


def test_what_a_killed_server_left_is_taken_over_by_the_next(served: Served) -> None:
    served.begin()
    gone = "elsewhere:1:1".replace("elsewhere", bootstrap.owner(1).partition(":")[0])
    with served.pool.lent(write=True) as context:
        asked = starts.ReserveStart(session_id="S1", group_id=None, turn=1, via="drive", client="drive-0", owner=gone)
        operations.ask(context, asked)
    served.pilot(PLANNED, BUILT, *REST)
    assert served.ended() == "accepted"
    assert served.team.rows("SELECT outcome FROM starts WHERE client = 'drive-0'") == [("lost",)]


def test_it_rests_while_a_person_is_awaited_and_goes_on_after_the_answer(served: Served) -> None:
    asks, confirms = says("project_manager", "NEEDS_CLARIFICATION", None), {**REST[3], "when": "completed"}
    pilot = served.pilot({**PLANNED, "when": "two pages"}, confirms, asks, BUILT, *REST[:3])
    served.begin()
    served.until(lambda: state(pilot) == "resting")
    (question,) = served.status()["questions"]
    with persons.seated(served.team.desk.context):
        served.team.desk.call("answer", id=question["id"], decision="continue", note="two pages")
    assert served.ended() == "accepted"


@pytest.mark.parametrize(
    ("given", "code"),
    [
        pytest.param({"executor": "command:/nowhere/agent"}, "PREFLIGHT_FAILED", id="no executor"),
        pytest.param({"isolation": "worktree"}, "PREFLIGHT_FAILED", id="no git"),
    ],
)
def test_surroundings_that_do_not_fit_are_said_and_nothing_is_started(
    served: Served, given: dict[str, Any], code: str
) -> None:
    pilot = served.pilot(*(() if "executor" in given else (PLANNED,)), **given)
    served.begin()
    served.until(lambda: state(pilot) == "failed")
    standing = pilot.standing("S1")
    assert standing is not None
    assert getattr(standing.fault, "code", None) == code
    assert [getattr(each, "code", None) for each in served.faults] == [code]
    assert served.team.rows("SELECT count(*) FROM starts") == [(0,)]


def test_after_a_fault_it_tries_again_by_itself(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autopilot, "PAUSES_S", (0.2,))
    folder = served.team.folder.parent / "later"
    pilot = served.pilot(executor=f"command:{folder / 'agent.py'}")
    served.begin()
    served.until(lambda: state(pilot) == "failed")
    (folder).mkdir()
    program = served.team.program("print('{\"status\": \"COMPLETE\", \"output\": \"STATUS: NEEDS_CLARIFICATION\"}')\n")
    pathlib.Path(program.removeprefix("command:")).rename(folder / "agent.py")
    served.until(lambda: served.status()["questions"])
    assert len(served.faults) == 1


@pytest.mark.sqlite("another program holds it")
def test_a_busy_database_is_waited_for(served: Served, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(autopilot, "PAUSES_S", (0.2,))
    served.begin()
    other = sqlite3.connect(served.path, isolation_level=None)
    other.execute("BEGIN IMMEDIATE")
    pilot = served.pilot(PLANNED, BUILT, *REST)
    served.until(lambda: state(pilot) == "failed")
    other.execute("ROLLBACK")
    other.close()
    assert served.ended() == "accepted"
    assert [getattr(each, "code", None) for each in served.faults] == ["BUSY"]


def test_who_stops_the_server_waits_for_what_runs_and_begins_nothing_else(served: Served) -> None:
    pilot = served.pilot({**PLANNED, "delay_ms": 600}, BUILT, *REST)
    served.begin()
    served.until(lambda: "start" in served.status()["spawns"][0])
    pilot.leave()
    assert state(pilot) == "stopping"
    pilot.stop()
    assert served.team.rows("SELECT response_status FROM agent_reports") == [("PLANNING_COMPLETE",)]
    assert [type(each) for each in served.faults] == [autopilot.Stopping]
    # The next server goes on.
    served.pilot(BUILT, *REST)
    assert served.ended() == "accepted"


def test_who_stops_it_twice_cancels_what_runs(served: Served) -> None:
    pilot = served.pilot({**PLANNED, "delay_ms": 60_000})
    served.begin()
    served.until(lambda: "start" in served.status()["spawns"][0])
    stopping = threading.Thread(target=pilot.stop)
    stopping.start()
    pilot.hurry()
    stopping.join(DEADLINE_S)
    assert not stopping.is_alive()
    assert served.team.rows("SELECT outcome FROM starts") == [("freed",)]
    assert pilot._wanted == drive.CANCEL
