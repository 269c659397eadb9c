"""What must hold in every state of a session, and seeded walks through such states.

A walk keeps what it did as lines of `orchestrator batch`, so that what it finds can be run again by hand.
"""

from __future__ import annotations

import json
import random
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator import testing
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.core.routing import free_slots
from orchestrator.errors import OrchestratorError
from tests import persons

SESSION = "S1"
PERSONS = ("answer", "session end")
"""Operations that a person at a terminal makes."""
QUESTIONS = """SELECT id, group_id, kind FROM questions WHERE session_id = 'S1' AND closed_seq IS NULL
    ORDER BY opened_seq, id"""


class Op(NamedTuple):
    """One operation with its arguments."""

    words: str
    arguments: dict[str, Any]

    def line(self) -> str:
        """The operation as a line of `orchestrator batch`."""
        return json.dumps({"op": self.words, "args": self.arguments})


def report(role: str, status: str, group: str | None = None, **more: Any) -> Op:
    """A report of the session."""
    given = {"session_id": SESSION, "current_agent": role, "status": status, **more}
    return Op("route", {**given, "group_id": group} if group else given)


def answer(question: str, decision: str, **more: Any) -> Op:
    """A person's answer, given at a terminal."""
    return Op("answer", {"id": question, "decision": decision, "note": "so be it", **more})


def perform(context: Context, op: Op) -> str | None:
    """Do it, an answer and what is said to be a person's as a person does; the code of the refusal, if any."""
    context.credential = None
    if op.words in PERSONS or op.arguments.get("by") == "user":
        persons.sit(context)
    try:
        operations.call(context, op.words, **op.arguments)
    except OrchestratorError as problem:
        return problem.code
    return None


def counterexample(found: list[str], trace: list[Op]) -> str:
    """What is wrong, and the batch file that shows it."""
    return "\n".join([*found, "orchestrator batch <<'END'", *(op.line() for op in trace), "END"])


def violations(context: Context) -> list[str]:
    """What of the invariants does not hold in the session as it is now, in words; empty where all hold."""
    return [*_of_groups(context), *_of_the_session(context), *_of_the_record(context)]


GROUPS = """SELECT id, status, awaited_role, awaited_agent_id, turn, held, security_sensitive FROM task_groups
    WHERE session_id = 'S1' ORDER BY created_seq"""


def _of_groups(context: Context) -> Iterator[str]:
    ended = _session(context).status == "ended"
    for group, status, role, agent, turn, held, secure in context.connection.execute(GROUPS).fetchall():
        if status == "in_progress" and role is None:
            yield f"group {group} is in progress and waits for nobody"
        if role and not agent:
            yield f"group {group} waits for {role}, and nobody is named"
        if role not in (None, "user") and not held and turn is None:
            yield f"group {group} waits for {role}, who was never started"
        if role == "user" and not context.reader.question(SESSION, group):
            yield f"group {group} waits for a person who is asked nothing"
        if secure and role == "developer":
            yield f"group {group} is security-sensitive and waits for a developer"
        if status == "completed" and not _rightly_completed(context, group):
            yield f"group {group} is completed without a valid path"
        if ended and status in ("pending", "in_progress"):
            yield f"the session has ended, and group {group} is {status}"


def _rightly_completed(context: Context, group: str) -> bool:
    """Whether the path is valid, or was when it was taken.

    A dependency that is reopened, or a BAZINGA that no longer acknowledges the group, undoes nothing by itself.
    """
    path = context.reader.path(SESSION, group)
    reopened = path.missing == "unblocked" and context.reader.open_dependencies(SESSION, group)
    return path.valid or bool(reopened) or context.reader.one(ACKNOWLEDGED, group=group) is not None


ACKNOWLEDGED = """SELECT 1 FROM task_groups g
    JOIN acknowledgements a ON a.session_id = g.session_id AND a.group_id = g.id
    JOIN agent_reports r ON r.session_id = a.session_id AND r.seq = a.seq
    WHERE g.session_id = 'S1' AND g.id = :group AND r.effect = 'confirm' AND a.seq < g.status_seq
    AND g.status_changed_by = 'project_manager'"""


def _session(context: Context) -> Any:
    return context.require_session(SESSION)


def _of_the_session(context: Context) -> Iterator[str]:
    session = _session(context)
    if session.status == "ended":
        return
    workflow = context.version(session.workflow_version_id).workflow
    board = context.reader.board(session, free_slots.limit(workflow, session), workflow.rules.research_max_parallel)
    if board.running > board.limit:
        yield f"{board.running} groups run, and the limit is {board.limit}"
    if session.awaited_role == "user" and not context.reader.question(SESSION, None):
        yield "the session waits for a person who is asked nothing"
    if session.status == "paused":
        if not (board.person_awaited or _paused_by_hand(context)):
            yield "the session is paused, and no person is asked"
        return
    if not (board.running or board.person_awaited or session.awaited_role or board.manager_called):
        yield "the session waits for nobody"
    if board.held and board.running < board.limit:
        yield "a group is held while a slot is free"
    if free_slots.batch(workflow, session, board):
        yield "a group could start in a free slot"


def _paused_by_hand(context: Context) -> bool:
    row = context.reader.one(
        "SELECT cause FROM status_changes WHERE session_id = 'S1' AND entity = 'session' ORDER BY seq DESC LIMIT 1"
    )
    return row == ("manual",)


def _of_the_record(context: Context) -> Iterator[str]:
    count, last = context.connection.execute(
        "SELECT count(*), max(seq) FROM audit_events WHERE session_id = 'S1'"
    ).fetchone()
    if count != last:
        yield f"{count} events, and the last has number {last}"
    undecided = context.connection.execute(
        "SELECT r.seq FROM agent_reports r WHERE r.session_id = 'S1' AND 1 <> (SELECT count(*) FROM router_decisions d"
        " WHERE d.session_id = r.session_id AND d.seq = r.seq AND d.part = 1 AND d.cause IN ('report', 'question'))"
    ).fetchall()
    if undecided:
        yield f"reports {[row[0] for row in undecided]} have not one decision each"


class Walk:
    """One seeded walk: a session with groups, and then whatever the seed says, legal or not."""

    def __init__(self, seed: int, context: Context | None = None) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a seed, no secret
        self.context = context or testing.memory_context()
        self.trace: list[Op] = []
        self.codes: list[str | None] = []
        self._begin()

    def go(self, steps: int) -> list[str]:
        """Walk so many steps, or until the session ends; return what is wrong, first found."""
        for _ in range(steps):
            found = violations(self.context)
            if found or _session(self.context).status == "ended":
                return found
            self._do(self._next())
        return violations(self.context)

    def _do(self, op: Op) -> None:
        self.trace.append(op)
        self.codes.append(perform(self.context, op))

    def _begin(self) -> None:
        pick = self.random.choice
        self.good = self.random.random()
        disabled = pick(((), (), ("qa_expert",), ("investigator", "senior_software_engineer")))
        modes = ("minimal", "disabled") if "qa_expert" in disabled else ("full", "full", "minimal", "disabled")
        self._do(Op("session create", {
            "id": SESSION,
            "mode": pick(("parallel", "parallel", "simple")),
            "testing_mode": pick(modes),
            "disabled_roles": disabled,
        }))
        for number in range(pick((1, 2, 3, 6))):
            self._do(Op("group create", {
                "id": f"G{number}", "session_id": SESSION, "name": "a group",
                "kind": pick(("code", "code", "research")),
                # Where the senior engineer is disabled, nobody could build such a group.
                "security_sensitive": self.random.random() < 0.2 and "senior_software_engineer" not in disabled,
                "complexity": pick((3, 8)),
                "depends_on": tuple(f"G{other}" for other in range(number) if self.random.random() < 0.25),
            }))

    def _next(self) -> Op:
        groups = self.context.connection.execute(GROUPS).fetchall()
        choices = (self._report, self._manages, self._sets_status, self._redispatches, self._depends, self._pauses)
        (chosen,) = self.random.choices(choices, weights=(62, 23, 8, 3, 2, 2))
        asked = self.context.connection.execute(QUESTIONS).fetchall()
        if asked and self.random.random() < 0.3:
            return self._answers(asked)
        return chosen(groups)

    def _answers(self, asked: list[Any]) -> Op:
        chance, pick = self.random.random, self.random.choice
        question, *_ = pick(asked)
        if chance() < 0.02:
            return Op("session end", {"id": SESSION, "by": "user", "reason": "no budget"})
        decision = pick(("continue", "continue", "revise", "abandon", "yes" if chance() < 0.1 else "abandon"))
        note = "so be it" if chance() < 0.9 else ""
        return answer(question if chance() < 0.97 else "S1:Q1", decision, note=note)

    def _report(self, groups: list[Any]) -> Op:
        group, _, awaited, _, turn, *_ = self.random.choice(groups)
        workflow = self.context.version(_session(self.context).workflow_version_id).workflow
        role = awaited if awaited not in (None, "user") else self.random.choice(("developer", "tech_lead", "qa_expert"))
        statuses = workflow.statuses_of(role)
        useful = [each for each in statuses if workflow.transitions[role, each].effect in USEFUL]
        status = self.random.choice(useful if useful and self.random.random() < self.good else statuses)
        more = self._details(workflow.transitions[role, status].effect, role, turn)
        if self.random.random() < 0.03:
            status = self.random.choice(("NONSENSE", ""))
        return report(role, status, group, **more)

    def _details(self, effect: str, role: str, turn: int | None) -> dict[str, Any]:
        chance = self.random.random
        more: dict[str, Any] = {}
        if effect == "guide" and chance() < 0.4:
            more["details"] = {"external": True, "external_dependency": "the environment"}
        elif chance() < 0.1:
            more["details"] = {"files": ["a.py"], "coverage": 81.5, "": None}
        if turn and chance() < 0.3:
            more["turn"] = turn + self.random.choice((0, 0, 0, -1))
        if chance() < 0.1:
            more["request_id"] = f"r{self.random.randrange(20)}"
        if role == "project_manager" or chance() < 0.05:
            more["summary"] = "because"
        if chance() < 0.1:
            more["metadata"] = self._metadata(effect)
        return more

    def _metadata(self, effect: str) -> dict[str, Any]:
        """Return metadata that mostly fits the report, and often asks for a person or stops softly."""
        chance, pick = self.random.random, self.random.choice
        fits = {"block": "blocked", "test_fail": "failed", "merge_fail": "failed", "progress": "partial"}
        status = fits.get(effect, "implemented") if chance() < 0.9 else pick(("partial", "blocked", "implemented"))
        flagged = {"requires_user_review": True, "review_reason": "a look"} if chance() < 0.4 else {}
        kind = pick(("timeout", "timeout", "missing_dependency"))
        errors = [{"type": kind, "recoverable": kind == "timeout"}] if chance() < 0.8 else []
        done = {"partial_progress": {"phases_completed": pick((1, 1, 2)), "phases_total": 4}} if chance() < 0.5 else {}
        return {"status": status, "errors": errors, **flagged, **(done if status != "implemented" else {})}

    def _manages(self, groups: list[Any]) -> Op:
        workflow = self.context.version(_session(self.context).workflow_version_id).workflow
        rare = {"INVESTIGATION_ONLY": "CONTINUE", "NEEDS_CLARIFICATION": "PLANNING_COMPLETE"}
        status = self.random.choice(workflow.statuses_of("project_manager"))
        if self.random.random() < 0.9:
            status = rare.get(status, status)
        more: dict[str, Any] = {"summary": "s"}
        if self.random.random() < 0.3:
            more["interrupt"] = True
        if self.random.random() < 0.3:
            more["acknowledge"] = {self.random.choice(groups)[0]: "known"}
        group = self.random.choice(groups)[0] if self.random.random() < 0.4 else None
        return report("pm", status, group, **more)

    def _sets_status(self, groups: list[Any]) -> Op:
        return Op("group set-status", {
            "id": self.random.choice(groups)[0], "session_id": SESSION, "reason": "a reason",
            "by": self.random.choice(("project_manager",) * 5 + ("tech_lead", "developer")),
            "status": self.random.choice(
                ("completed", "in_progress", "in_progress", "deferred_external", "cancelled", "pending")
            ),
        })

    def _redispatches(self, groups: list[Any]) -> Op:
        group = self.random.choice([None, *(row[0] for row in groups)])
        return Op("redispatch", {"session_id": SESSION, "group_id": group, "reason": "it died"})

    def _depends(self, groups: list[Any]) -> Op:
        group, other = (self.random.choice(groups)[0] for _ in range(2))
        words = self.random.choice(("group depend", "group undepend"))
        given = {"id": group, "on": other, "session_id": SESSION, "by": "project_manager", "reason": "a reason"}
        return Op(words, given)

    def _pauses(self, groups: list[Any]) -> Op:
        words = self.random.choice(("session pause", "session resume"))
        return Op(words, {"id": SESSION, "by": "project_manager", "reason": "a reason"})


USEFUL = ("approve", "merge", "test_pass", "submit_test", "submit_review", "guide")
"""Effects of reports that bring a group nearer to its end."""
