"""The incident that this product exists for, played in a temporary database, step by step.

Two end-to-end groups are blocked by a missing test environment, one group has changes requested, one fails its tests.
In the original run the orchestrating agent wrote "completed" over the blocked work. Here it tries, and cannot.

Source: seed 004, Problem Statement.
"""

from __future__ import annotations

import json
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path

from orchestrator.app import setup
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import suggest
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any
from orchestrator.store import plain_client

SESSION = "demo"
GROUPS = {
    "PAT-ADHERE": "Medication adherence",
    "PAT-VIP": "VIP patients",
    "NUR-E2E": "Nurse end-to-end tests",
    "E2E-RX": "Prescription end-to-end tests",
}
DEPENDENCY = "the test environment, run by the hospital IT department"


class Step(NamedTuple):
    """One step of the story: what is said before it, the operation, and its parameters."""

    say: str
    words: str
    arguments: dict[str, Any]


class Played(NamedTuple):
    """A step that was played: the command as a person would type it, and what was answered."""

    say: str
    command: str
    result: str
    answer: Answer


def _report(say: str, role: str, status: str, group: str | None = None, **more: Any) -> Step:
    on = {"group_id": group} if group else {}
    return Step(say, "route", {"session_id": SESSION, "current_agent": role, "status": status, **on, **more})


def _completed_by(agent: str, group: str) -> Step:
    return Step(
        "The shortcut of the original run: the orchestrating agent marks the blocked group as completed.",
        "group set-status",
        {"id": group, "status": "completed", "session_id": SESSION, "by": agent, "reason": "only an environment issue"},
    )


def _external(group: str) -> Step:
    return _report(
        "The tech lead decides: not our code. The guidance is marked external and names the dependency.",
        "tech_lead", "UNBLOCKING_GUIDANCE", group, summary="the tests are fine, the environment is missing",
        details={"external": True, "external_dependency": DEPENDENCY},
    )


def _defer(group: str) -> Step:
    return _report(
        "The project manager defers the group. Deferred is not completed, and it stays visible.",
        "project_manager", "DEFER_EXTERNAL", group, summary="no test environment before the release",
    )


STORY: tuple[Step, ...] = (
    Step("A session with one goal.", "session create", {"id": SESSION, "goal": "Ship the patient portal"}),
    *(
        Step("A task group.", "group create", {"id": id_, "session_id": SESSION, "name": name})
        for id_, name in GROUPS.items()
    ),
    _report("The project manager has planned; agents start on the free slots.", "project_manager", "PLANNING_COMPLETE"),
    _report("Work is submitted for review.", "developer", "READY_FOR_REVIEW", "PAT-ADHERE"),
    _report(
        "The tech lead wants changes.", "tech_lead", "CHANGES_REQUESTED", "PAT-ADHERE", summary="TypeScript errors"
    ),
    _report("Work is submitted for testing.", "developer", "READY_FOR_QA", "PAT-VIP"),
    _report("QA finds a fault.", "qa_expert", "FAIL", "PAT-VIP", summary="data-testid is missing"),
    _report("Work is submitted for testing.", "developer", "READY_FOR_QA", "NUR-E2E"),
    _report("QA cannot run the tests.", "qa_expert", "BLOCKED", "NUR-E2E", summary="no test environment"),
    _completed_by("orchestrator", "NUR-E2E"),
    Step("The same with plain SQL on the database file.", "sql", {
        "statement": "UPDATE task_groups SET status = 'completed' WHERE id = 'NUR-E2E'"}),
    _report("Work is submitted for testing.", "developer", "READY_FOR_QA", "E2E-RX"),
    _report("QA cannot run these tests either.", "qa_expert", "BLOCKED", "E2E-RX", summary="no test environment"),
    _report("The project manager tries to defer, but the tech lead has not judged the blocker yet.",
            "project_manager", "DEFER_EXTERNAL", "E2E-RX", summary="no environment", interrupt=True),
    _external("NUR-E2E"),
    _defer("NUR-E2E"),
    _external("E2E-RX"),
    _defer("E2E-RX"),
    _report("The changes are made.", "developer", "READY_FOR_REVIEW", "PAT-ADHERE"),
    _report("Approved; the developer is sent to merge.", "tech_lead", "APPROVED", "PAT-ADHERE"),
    _report("Merged: every part of the completion path is met, and the router completes the group.",
            "developer", "MERGE_SUCCESS", "PAT-ADHERE"),
    _report("The fault is fixed.", "developer", "READY_FOR_QA", "PAT-VIP"),
    _report("QA passes.", "qa_expert", "PASS", "PAT-VIP"),
    _report("Approved.", "tech_lead", "APPROVED", "PAT-VIP"),
    _report("Merged; nothing is running now, so the project manager is called.",
            "developer", "MERGE_SUCCESS", "PAT-VIP"),
    _report("The project manager declares the work done without mentioning what was deferred.",
            "project_manager", "BAZINGA"),
    Step("The validator reads the record and runs every check. Deferred work that is not mentioned does not pass.",
         "validate", {"session_id": SESSION}),
    _report("The project manager declares the work done and acknowledges what was deferred.",
            "project_manager", "BAZINGA", acknowledge={
                "NUR-E2E": "waits for the test environment", "E2E-RX": "waits for the test environment"}),
    Step("The validator checks again: two groups completed through the full path, two deferred and acknowledged.",
         "validate", {"session_id": SESSION}),
)

NEXT = (
    suggest("init"),
    suggest("session create", id="S1", goal="My goal"),
    suggest("group create", id="A", session_id="S1", name="First group"),
    suggest("route", current_agent="project_manager", status="PLANNING_COMPLETE", session_id="S1"),
    suggest("status", session_id="S1"),
)


def play(open_context: Callable[[str], Context], at: str) -> Iterator[Played]:
    """Play the story and yield each step as it happens; the database is gone afterwards.

    Args:
        open_context: opens the database at a path for writing.
        at: the time at which the database is created.
    """
    with tempfile.TemporaryDirectory(prefix="orchestrator-demo-") as folder:
        path = Path(folder) / "demo.db"
        setup.create_database(path, at)
        context = open_context(str(path))
        try:
            setup.initialise(context)
            for step in STORY:
                answer = _sql(path, step.arguments["statement"]) if step.words == "sql" else _call(context, step)
                yield Played(step.say, _command(step), _result(answer), answer)
        finally:
            context.connection.close()


def _call(context: Context, step: Step) -> Answer:
    try:
        return operations.call(context, step.words, **step.arguments)
    except OrchestratorError as problem:
        return {"success": False, "code": problem.code, "error": problem.message, **problem.data}


def _sql(path: Path, statement: str) -> Answer:
    """What a client gets that opens the file past every door, as an agent with a database shell would."""
    refusal = plain_client.attempt(path, statement)
    return {"success": False, "code": "REFUSED_BY_THE_DATABASE", "error": refusal} if refusal else {"success": True}


def _command(step: Step) -> str:
    if step.words == "sql":
        return f'sqlite3 demo.db "{step.arguments["statement"]}"'
    words, given = [step.words], dict(step.arguments)
    for name in ("id", "current_agent", "status"):
        if name in given:
            words.append(str(given.pop(name)))
    session = given.pop("session_id", None)
    if step.words == "validate":
        words.append(str(session))
    for name, value in given.items():
        flag = "-g" if name == "group_id" else f"--{name}"
        words += [word for each in _values(value) for word in (flag, *each)]
    return f"orchestrator {' '.join(words)}"


def _values(value: Any) -> list[list[str]]:
    """The words behind a flag, once for each time that it is given: none where it only says that something is so."""
    if value is True:
        return [[]]
    if isinstance(value, dict) and all(isinstance(each, str) for each in value.values()):
        return [[names.word(f"{key}={each}")] for key, each in value.items()]
    return [[names.word(json.dumps(value) if isinstance(value, dict) else value)]]


def _result(answer: Answer) -> str:
    if not answer["success"]:
        return f"refused, {answer['code']}: {answer['error']}"
    if "verdict" in answer:
        return f"{answer['verdict']}: {answer['reason']}; {'; '.join(_parts(answer['decision']))}"
    if "action" not in answer:
        return "created"
    return "; ".join(_parts(answer))


def _parts(answer: Answer) -> Iterator[str]:
    spawns = [spawn for decision in (answer, *answer.get("followed_by", ()))
              if "turn" not in decision for spawn in decision.get("spawns", ())]
    target = answer["next_agent"] or "nobody"
    yield f"{answer['action']}" if spawns or not answer["next_agent"] else f"{answer['action']} {target}"
    if spawns:
        yield "starts " + ", ".join(f"{spawn['agent']} on {spawn['group_id']}" for spawn in spawns)
    for name, word in (("blockers_opened", "blocker opened:"), ("blockers_resolved", "blocker settled:"),
                       ("completed", "completed:")):
        if answer.get(name):
            yield f"{word} {', '.join(answer[name])}"
    if answer.get("group_status") and not answer.get("completed"):
        yield f"group is {answer['group_status']}"
