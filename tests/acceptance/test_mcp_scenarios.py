"""One story through three doors: the command line, the Python interface, and one MCP server for each agent.

Decisions are the same, and so is the record, but for times, channels and what is hashed over them. HTTP, where nobody
routes, shows what came of it as the command line does.

Source: seed 002, 統合テスト (UC003拡張); seed 004, Test Cases.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import sqlite3
import subprocess
import sys
from collections.abc import Callable, Iterator
from typing import Any, Protocol

import pytest

from orchestrator import Orchestrator, OrchestratorError
from orchestrator.doors.cli import catalogue
from orchestrator.doors.cli.options import FLAG, PAIRS
from tests.acceptance import httpreading, mcphouse
from tests.conftest import long_form

pytestmark = pytest.mark.slow

Answer = dict[str, Any]
SESSION = "S1"
ROLES = ("developer", "qa_expert", "tech_lead", "project_manager")
WORKER, LEAD, QA, MANAGER = "developer", "tech_lead", "qa_expert", "project_manager"
TOOLS = {
    "route": "route",
    "next": "get_next_action",
    "task set-status": "update_task_status",
    "validate": "validate_session",
    "status": "get_status",
    "group show": "get_group",
    "audit decisions": "list_decisions",
    "handoff": "handoff",
}


class Door(Protocol):
    """Where a story is told."""

    def call(self, agent: str, words: str, **given: Any) -> Answer:
        """What an agent does, and what it is answered."""


class CommandLine:
    """A process of the command for each call."""

    def __init__(self, script: pathlib.Path, path: pathlib.Path) -> None:
        self._script = script
        kept = {name: value for name, value in os.environ.items() if not name.startswith("ORCHESTRATOR_")}
        self._environment = {**kept, "ORCHESTRATOR_DB": str(path), "PYTHONDONTWRITEBYTECODE": ""}

    def call(self, agent: str, words: str, **given: Any) -> Answer:
        argv = [sys.executable, str(self._script), *words.split(), *_options(words, {**given, **_actor(words, agent)})]
        done = subprocess.run(
            [*argv, "--json"], env=self._environment, capture_output=True, text=True, timeout=60, check=False
        )
        answer: Answer = json.loads(done.stdout)
        return answer


def _actor(words: str, agent: str) -> Answer:
    if words == "route":
        return {"agent_id": agent, "current_agent": agent}
    if words == "next":
        return {"agent_id": agent}
    return {"by": agent} if words.endswith("set-status") or words in ("task create", "validate") else {}


def _options(words: str, given: Answer) -> list[str]:
    """The words of a call; what has a flag is given by it."""
    parameters = catalogue.find(words).parameters
    by_flag = {each.key for each in parameters if each.flags}
    found: list[str] = []
    for each in parameters:
        value = given.get(each.key)
        if value is None:
            continue
        if each.flags:
            found += _flagged(each.flags[0], each.kind, value)
        elif each.key not in by_flag:
            found.append(str(value))
    return found


def _flagged(flag: str, kind: str, value: Any) -> list[str]:
    if kind == FLAG:
        return [flag] if value else []
    if kind == PAIRS:
        return [word for name, said in value.items() for word in (flag, f"{name}={said}")]
    if isinstance(value, tuple):
        return [word for each in value for word in (flag, str(each))]
    return [flag, json.dumps(value) if isinstance(value, dict) else str(value)]


class Python:
    """The Python interface on one connection."""

    def __init__(self, o: Orchestrator) -> None:
        self._o = o

    def call(self, agent: str, words: str, **given: Any) -> Answer:
        method = getattr(self._o, words.replace("audit ", "audit_").replace(" ", "_").replace("-", "_"))
        try:
            answer: Answer = method(**given, **_actor(words, agent))
        except OrchestratorError as problem:
            more = {name: value for name, value in problem.data.items() if name[0] != "_"}
            return {"success": False, "code": problem.code, "error": problem.message, **more}
        return answer


class Mcp:
    """A server for each agent; what is no tool is done on the command line."""

    def __init__(self, servers: dict[str, mcphouse.Server], rest: CommandLine) -> None:
        self._servers = servers
        self._rest = rest

    def call(self, agent: str, words: str, **given: Any) -> Answer:
        if words not in TOOLS:
            return self._rest.call(agent, words, **given)
        tool = TOOLS[words]
        if (words, given.get("status"), given.get("id")) == ("task set-status", "done", "T"):
            tool = "report_completed"
            given = {name: value for name, value in given.items() if name not in ("status", "id")}
        return self._servers[agent].call(tool, **given).document


@pytest.fixture(scope="module")
def template(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A fresh database."""
    path = tmp_path_factory.mktemp("template") / "orchestrator.db"
    Orchestrator.create(path).close()
    return path.read_bytes()


@pytest.fixture(scope="module")
def place(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """Where the servers' database is; every story puts a fresh one there, which they notice."""
    return tmp_path_factory.mktemp("mcp") / "orchestrator.db"


@pytest.fixture(scope="module")
def servers(stand_in: pathlib.Path, place: pathlib.Path, template: bytes) -> Iterator[dict[str, mcphouse.Server]]:
    """One server for each agent, alive for all stories."""
    place.write_bytes(template)
    with contextlib.ExitStack() as stack:
        environment = {"ORCHESTRATOR_DB": str(place)}
        yield {role: stack.enter_context(mcphouse.connected(stand_in, environment, role)) for role in ROLES}


class Story:
    """One session, told in the words of its actors."""

    def __init__(self, door: Door) -> None:
        self.door = door
        self.answers: list[Answer] = []
        self.do(MANAGER, "session create", id=SESSION, goal="one goal")

    def do(self, agent: str, words: str, **given: Any) -> Answer:
        """What an agent does, whatever comes of it."""
        place = {} if words == "session create" else {"session_id": SESSION}
        answer = self.door.call(agent, words, **given, **place)
        self.answers.append(answer)
        return answer

    def done(self, agent: str, words: str, **given: Any) -> Answer:
        answer = self.do(agent, words, **given)
        assert answer["success"], answer
        return answer

    def code(self, agent: str, words: str, **given: Any) -> str:
        answer = self.do(agent, words, **given)
        assert not answer["success"], answer
        return str(answer["code"])

    def says(self, agent: str, status: str, group: str | None = None, **more: Any) -> Answer:
        place = {"group_id": group} if group else {}
        return self.done(agent, "route", status=status, **place, **more)

    def groups(self, *groups: str) -> None:
        for group in groups:
            self.done(MANAGER, "group create", id=group, name=group)
        self.says(MANAGER, "PLANNING_COMPLETE")

    def blocked_in_qa(self, group: str) -> Answer:
        self.says(WORKER, "READY_FOR_QA", group, summary="built")
        return self.says(QA, "BLOCKED", group, summary="no test environment")

    def merged(self, group: str) -> Answer:
        self.says(LEAD, "APPROVED", group)
        return self.says(WORKER, "MERGE_SUCCESS", group)

    def move(self, id: str, status: str, agent: str = WORKER, **more: Any) -> Answer:
        return self.do(agent, "task set-status", id=id, status=status, **more)

    def task(self, id: str, by: str = WORKER, **more: Any) -> None:
        self.done(by, "task create", id=id, title=f"title of {id}", assignee=WORKER, **more)

    def next(self) -> Answer:
        return self.done(WORKER, "next")


def positive_1(story: Story) -> None:
    """An approval accepts the blocker, and BAZINGA completes the group."""
    story.groups("A")
    assert story.blocked_in_qa("A")["next_agent"] == LEAD
    assert story.merged("A")["next_agent"] == MANAGER
    assert story.says(MANAGER, "BAZINGA")["completed"] == ["A"]
    assert story.done(MANAGER, "validate")["verdict"] == "ACCEPT"
    assert story.done(MANAGER, "status")["session"]["status"] == "ended"


def positive_2(story: Story) -> None:
    """Guidance returns to QA, which passes."""
    story.groups("A")
    story.blocked_in_qa("A")
    guided = story.says(LEAD, "UNBLOCKING_GUIDANCE", "A", summary="use the staging environment")
    assert (guided["next_agent"], guided["action"]) == (QA, "spawn")
    assert story.says(QA, "PASS", "A")["next_agent"] == LEAD
    assert story.merged("A")["next_agent"] == MANAGER
    assert story.says(MANAGER, "BAZINGA")["completed"] == ["A"]
    assert story.done(MANAGER, "validate")["verdict"] == "ACCEPT"


def negative(story: Story) -> None:
    """After QA is blocked nothing completes the group."""
    story.groups("A")
    story.blocked_in_qa("A")
    for by in ("orchestrator", WORKER, QA, LEAD, MANAGER):
        code = story.code(by, "group set-status", id="A", status="completed", reason="only the environment")
        assert code == "COMPLETION_PATH_MISSING"
    assert story.code(WORKER, "route", status="READY_FOR_QA", group_id="A") == "OUT_OF_TURN"
    deferred = {"id": "A", "status": "deferred_external", "reason": "external"}
    assert story.code(LEAD, "group set-status", **deferred) == "NOT_PERMITTED"
    assert story.code(MANAGER, "route", status="DEFER_EXTERNAL", group_id="A", interrupt=True) == (
        "DEFERRAL_NOT_CONFIRMED"
    )
    story.says(MANAGER, "BAZINGA")
    verdict = story.done(MANAGER, "validate")
    failed = {check["id"] for check in verdict["checks"] if check["level"] == "error"}
    assert (verdict["verdict"], failed >= {"V02", "V04", "V07"}) == ("REJECT", True)
    assert story.done(LEAD, "group show", id="A")["group"]["status"] == "in_progress"


def incident(story: Story) -> None:
    """Two groups are completed by their chain, two are deferred and acknowledged."""
    story.groups("PAT-ADHERE", "PAT-VIP", "NUR-E2E", "E2E-RX")
    story.says(WORKER, "READY_FOR_REVIEW", "PAT-ADHERE")
    story.says(LEAD, "CHANGES_REQUESTED", "PAT-ADHERE", summary="type errors")
    story.says(WORKER, "READY_FOR_QA", "PAT-VIP")
    story.says(QA, "FAIL", "PAT-VIP", summary="a test id is missing")
    external = {"external": True, "external_dependency": "the hospital's test environment"}
    for group in ("NUR-E2E", "E2E-RX"):
        story.blocked_in_qa(group)
        story.says(LEAD, "UNBLOCKING_GUIDANCE", group, details=external)
        story.says(MANAGER, "DEFER_EXTERNAL", group, summary="not before the release")
    story.says(WORKER, "READY_FOR_REVIEW", "PAT-ADHERE")
    assert story.merged("PAT-ADHERE")["completed"] == ["PAT-ADHERE"]
    story.says(WORKER, "READY_FOR_QA", "PAT-VIP")
    story.says(QA, "PASS", "PAT-VIP")
    assert story.merged("PAT-VIP")["completed"] == ["PAT-VIP"]
    story.says(MANAGER, "BAZINGA")
    assert story.done(MANAGER, "validate")["verdict"] == "REJECT"
    reasons = {"NUR-E2E": "waits for the environment", "E2E-RX": "waits for the environment"}
    story.says(MANAGER, "BAZINGA", acknowledge=reasons)
    assert story.done(MANAGER, "validate")["verdict"] == "ACCEPT"


def liveness(story: Story) -> None:
    """Two once-blocked groups that are merged one after the other both await confirmation."""
    story.groups("A", "B")
    for group in ("A", "B"):
        story.blocked_in_qa(group)
    assert story.merged("A")["phase_check"] == "wait"
    assert story.merged("B")["next_agent"] == MANAGER
    assert story.says(MANAGER, "BAZINGA")["completed"] == ["A", "B"]


def scenario_a(story: Story) -> None:
    """Order by dependencies."""
    story.groups("A")
    story.task("T", by=LEAD, group_id="A")
    story.move("T", "in_progress")
    story.task("create", parent="T")
    story.task("check", parent="T", depends_on=("create",))
    assert story.next()["next_subtask"]["id"] == "create"
    assert story.move("check", "in_progress")["code"] == "DEPENDENCIES_OPEN"
    for task in ("create", "check"):
        assert story.move(task, "in_progress")["success"]
        assert story.next()["current_subtask"]["id"] == task
        assert story.move(task, "done")["success"]
    assert story.next()["action"] == "report_completion"
    assert story.move("T", "done")["task"]["status"] == "done"
    assert story.next()["action"] == "take_turn"


def scenario_b(story: Story) -> None:
    """Back from one's own block; a manager's block is not the worker's to lift."""
    story.groups("A")
    story.task("T", by=LEAD, group_id="A")
    story.move("T", "in_progress")
    story.task("check", parent="T", priority="high")
    story.task("create", parent="T")
    assert story.next()["next_subtask"]["id"] == "check"
    assert story.move("check", "in_progress")["success"]
    assert story.move("check", "blocked", reason="no file yet")["success"]
    assert story.next()["next_subtask"]["id"] == "create"
    story.move("create", "in_progress")
    assert story.move("create", "done")["success"]
    refused = story.move("T", "done")
    assert (refused["code"], refused["next"]["action"]) == ("COMPLETION_GATE", "unblock_and_continue")
    assert story.next()["blocked_subtask"]["blocked_reason"] == "no file yet"
    assert story.move("check", "in_progress")["success"]
    assert story.move("check", "blocked", LEAD, reason="wait for the design")["success"]
    assert story.move("check", "in_progress")["code"] == "UNBLOCK_NOT_PERMITTED"
    assert story.next()["action"] == "wait_for_unblock"
    assert story.move("check", "in_progress", LEAD)["success"]
    assert story.move("check", "done")["success"]
    assert story.move("T", "done")["task"]["status"] == "done"


STORIES = (
    positive_2, negative, incident, scenario_b,
    *(pytest.param(each, marks=long_form) for each in (positive_1, liveness, scenario_a)),
)  # fmt: skip

TOLD = {
    "audit_events": "session_id, seq, kind, actor, input",
    "agent_reports": "seq, part, group_id, role, agent_id, response_status, effect, turn, summary,"
    " CASE role WHEN 'validator' THEN NULL ELSE details END",
    "router_decisions": "id, group_id, current_agent, response_status, next_agent, action, cause, rules",
    "status_changes": "seq, part, entity, entity_id, from_status, to_status, changed_by, reason, cause",
    "refusals": "id, actor, group_id, role, status, turn, code, detail",
    "blockers": "id, group_id, task_id, type, opened_by, reason, resolved_by, resolution",
}


TIME = re.compile(r"\d{4}-\d\d-\d\dT[\d:.]+Z")


def record(path: pathlib.Path) -> dict[str, list[tuple[Any, ...]]]:
    """What is on record of the session, without what must differ."""
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        found = {
            table: connection.execute(
                f"SELECT {columns} FROM {table} WHERE session_id = '{SESSION}' ORDER BY 1, 2"
            ).fetchall()
            for table, columns in TOLD.items()
        }
    finally:
        connection.close()
    found["audit_events"] = [(*row[:4], _told(row[4])) for row in found["audit_events"]]
    found["refusals"] = [(*row[:-1], TIME.sub("TIME", row[-1])) for row in found["refusals"]]
    return found


def _told(text: str) -> Any:
    """An event's input without the door, and without when a verdict's command was run or which head it saw."""
    given = json.loads(text)
    given.pop("door", None)
    if "found" in given and isinstance(given["found"], dict):
        given["found"].pop("head", None)
        given["found"].get("verdict", {}).pop("head", None)
    return given


def decided(answer: Answer) -> Answer:
    """What an answer says of who acts next, or why not; the hints of checks are worded by each door."""
    keys = ("success", "code", "next_agent", "action", "group_id", "rules", "turn", "agent_id", "decision_id")
    checks = [{name: each[name] for name in each if name != "hint"} for each in answer.get("checks") or ()]
    return {**{name: answer.get(name) for name in keys}, "checks": checks}


@pytest.mark.parametrize("tell", STORIES, ids=lambda story: story.__name__)
def test_a_story_is_the_same_through_every_door(
    tell: Callable[[Story], None],
    stand_in: pathlib.Path,
    template: bytes,
    tmp_path: pathlib.Path,
    place: pathlib.Path,
    servers: dict[str, mcphouse.Server],
) -> None:
    paths = {"command line": tmp_path / "cli.db", "python": tmp_path / "python.db", "mcp": place}
    for path in paths.values():
        _put(path, template)
    with Orchestrator.open(paths["python"]) as o:
        doors: dict[str, Door] = {
            "command line": CommandLine(stand_in, paths["command line"]),
            "python": Python(o),
            "mcp": Mcp(servers, CommandLine(stand_in, place)),
        }
        told = {name: Story(door) for name, door in doors.items()}
        for story in told.values():
            tell(story)
    decisions = {name: [decided(answer) for answer in story.answers] for name, story in told.items()}
    assert decisions["mcp"] == decisions["command line"]
    assert decisions["python"] == decisions["command line"]
    records = {name: record(path) for name, path in paths.items()}
    assert records["mcp"] == records["command line"]
    assert records["python"] == records["command line"]
    # A verdict says who asked for it.
    asked = {row[3] for row in records["mcp"]["audit_events"] if row[2] == "validate"}
    assert asked == ({MANAGER} if any("verdict" in answer for answer in told["mcp"].answers) else set())
    assert _channels(paths["mcp"]) >= {("mcp",)}
    _shown_by_http(place, CommandLine(stand_in, place))


def _shown_by_http(path: pathlib.Path, shell: CommandLine) -> None:
    """HTTP answers on the database that MCP wrote what the command line answers, and the pages show its groups."""
    with httpreading.reading(path) as http:
        for place, words, more in READ:
            answer = http.get(f"/api/sessions/{SESSION}/{place}")
            said = shell.call(MANAGER, words, session_id=SESSION, **more)
            assert (place, answer.status_code, answer.json()) == (place, 200, httpreading.bare(said))
        status = http.get(f"/api/sessions/{SESSION}/status").json()
        page = http.get(f"/sessions/{SESSION}").text
        rows = ROW.findall(page)
        # The board has the most urgent first.
        assert sorted(rows) == sorted((each["id"], each["status"].replace("_", " ")) for each in status["groups"])
        assert rows != []
        for group, said in rows:
            shown = http.get(f"/sessions/{SESSION}/groups/{group}")
            assert (shown.status_code, f">{said}</span>" in shown.text) == (200, True)


ROW = re.compile(r'<th scope="row"><a href="[^"]+">([^<]+)</a>.*?<td><span class="chip[^"]*">([^<]+)<', re.DOTALL)
"""A group and its status in a session's page."""
READ: tuple[tuple[str, str, Answer], ...] = (
    ("decisions", "audit decisions", {"limit": 50}),
    ("timeline", "audit timeline", {"limit": 50}),
    ("status", "status", {}),
)
"""Where HTTP shows a session, and what the command line calls the same."""


def _put(path: pathlib.Path, template: bytes) -> None:
    """A fresh database, in the place of what was there."""
    for each in (path, *(path.with_name(path.name + end) for end in ("-wal", "-shm"))):
        each.unlink(missing_ok=True)
    path.write_bytes(template)


def _channels(path: pathlib.Path) -> set[tuple[str]]:
    connection = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    try:
        return set(connection.execute("SELECT channel FROM audit_events WHERE session_id = 'S1'"))
    finally:
        connection.close()
