"""A session played in this process on a database in memory, in the words of those who act."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator import resources, testing
from orchestrator.app import setup
from orchestrator.app.kernel import human, operations
from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError
from tests import persons

SESSION = "S1"
DECISION = "current_agent, response_status, next_agent, action, cause"
Answer = dict[str, Any]
MOVING = (
    "sessions", "task_groups", "agent_reports", "router_decisions", "blockers", "questions", "status_changes",
    "deferrals", "acknowledgements", "context_items", "handoffs", "agents", "group_dependencies", "requests",
    "criteria", "evidence", "resume_points", "human_credentials", "human_tokens", "projects",
)  # fmt: skip
"""Every table that an accepted step may write, but for the events and the refusals."""
REVIEW: dict[str, Any] = {
    "status": "partial", "requires_user_review": True, "review_reason": "the figures look wrong", "errors": [],
}  # fmt: skip
"""Return metadata that asks for a person."""


class Table:
    """A database with sessions; what is not said concerns session S1."""

    def __init__(self, *groups: str, plan: bool = False, context: Context | None = None, **session: Any) -> None:
        self.context = context or testing.memory_context()
        self.do("session create", id=SESSION, **session)
        for group in groups:
            self.group(group)
        if plan:
            self.plan()

    def do(self, words: str, **arguments: Any) -> Answer:
        """An operation that succeeds."""
        return operations.call(self.context, words, **arguments)

    def refusal(self, words: str, **arguments: Any) -> OrchestratorError:
        """What an operation is refused with; nothing but the refusal and its event may be new afterwards."""
        before, refused, events = self.state(), self.count("refusals"), self.count("audit_events")
        with pytest.raises(OrchestratorError) as caught:
            self.do(words, **arguments)
        assert self.state() == before
        assert (self.count("refusals"), self.count("audit_events")) == (refused + 1, events + 1)
        assert self.rows("SELECT code FROM refusals ORDER BY rowid DESC LIMIT 1") == [(caught.value.code,)]
        return caught.value

    def group(self, id: str, session: str = SESSION, **more: Any) -> Answer:
        return self.do("group create", id=id, session_id=session, **more)

    def plan(self) -> Answer:
        return self.says("project_manager", "PLANNING_COMPLETE")

    def says(self, role: str, status: str, group: str | None = None, session: str = SESSION, **more: Any) -> Answer:
        """A report that is accepted."""
        return self.do("route", session_id=session, current_agent=role, status=status, group_id=group, **more)

    def refused(
        self, role: str, status: str, group: str | None = None, session: str = SESSION, **more: Any
    ) -> OrchestratorError:
        """What a report is refused with."""
        return self.refusal("route", session_id=session, current_agent=role, status=status, group_id=group, **more)

    def code(self, role: str, status: str, group: str | None = None, **more: Any) -> str:
        return self.refused(role, status, group, **more).code

    def move(self, group: str, status: str, by: str = "project_manager", reason: str = "a reason") -> Answer:
        return self.do("group set-status", id=group, status=status, session_id=SESSION, by=by, reason=reason)

    def move_refused(
        self, group: str, status: str, by: str | None = "project_manager", reason: str = "a reason"
    ) -> OrchestratorError:
        return self.refusal("group set-status", id=group, status=status, session_id=SESSION, by=by, reason=reason)

    # Ways through a group's life

    def submit(self, group: str, role: str = "developer") -> None:
        """Tested and found good."""
        self.says(role, "READY_FOR_QA", group)
        self.says("qa_expert", "PASS", group)

    def approve(self, group: str, role: str = "developer") -> Answer:
        """Tested and approved; somebody is sent to merge."""
        self.submit(group, role)
        return self.says("tech_lead", "APPROVED", group)

    def complete(self, group: str, role: str = "developer") -> Answer:
        """All the way to the merge."""
        self.approve(group, role)
        return self.says(role, "MERGE_SUCCESS", group)

    def block(self, group: str) -> str:
        """QA cannot test; the blocker's id."""
        self.says("developer", "READY_FOR_QA", group)
        (blocker,) = self.says("qa_expert", "BLOCKED", group, summary="no environment")["blockers_opened"]
        return str(blocker)

    def mark_external(self, group: str) -> str:
        """QA is blocked and the tech lead says by what, outside; the blocker's id."""
        blocker = self.block(group)
        self.says("tech_lead", "UNBLOCKING_GUIDANCE", group, details={
            "external": True, "external_dependency": "the hospital's IT"})  # fmt: skip
        return blocker

    def defer(self, group: str) -> str:
        """Deferred by the project manager; the blocker's id."""
        blocker = self.mark_external(group)
        self.says("project_manager", "DEFER_EXTERNAL", group, summary="no environment this month")
        return blocker

    def confirmable(self, group: str) -> Answer:
        """Once blocked, then approved and merged: it awaits its confirmation."""
        self.block(group)
        self.says("tech_lead", "APPROVED", group)
        return self.says("developer", "MERGE_SUCCESS", group)

    # What a person does

    @contextmanager
    def person(self, credential: human.Credential | None = None) -> Iterator[None]:
        """Calls inside come from a person: at a terminal where nothing else is said."""
        self.context.credential = credential
        if credential is None:
            persons.sit(self.context)
        try:
            yield
        finally:
            self.context.credential = None

    def answer(self, question: str, decision: str, note: str = "because", **more: Any) -> Answer:
        """A person's answer, given at a terminal."""
        with self.person():
            return self.do("answer", id=question, decision=decision, note=note, **more)

    def asked(self) -> list[str]:
        """The ids of the open questions, in the inbox's order."""
        return [each["id"] for each in self.do("inbox")["questions"]]

    def new_rules(self, made: dict[str, Any], texts: dict[str, str] | None = None) -> Answer:
        """A person makes a changed transitions file the active workflow."""
        with self.person():
            return load(self.context, made, texts, by="user")

    def upgrade(self, **more: Any) -> Answer:
        """A person moves the session to the active workflow version."""
        with self.person():
            return self.do("session upgrade-workflow", id=SESSION, by="user", reason="the new rules", **more)

    # What is on record

    def rows(self, sql: str, **parameters: Any) -> list[tuple[Any, ...]]:
        found: list[tuple[Any, ...]] = self.context.connection.execute(sql, parameters).fetchall()
        return found

    def count(self, table: str) -> int:
        return int(self.rows(f"SELECT count(*) FROM {table}")[0][0])

    def state(self) -> dict[str, list[tuple[Any, ...]]]:
        return {table: self.rows(f"SELECT * FROM {table}") for table in MOVING}

    def row(self, group: str, columns: str, session: str = SESSION) -> tuple[Any, ...]:
        (found,) = self.rows(
            f"SELECT {columns} FROM task_groups WHERE session_id = :session AND id = :group",
            session=session, group=group,
        )  # fmt: skip
        return found

    def status(self, group: str) -> str:
        return str(self.row(group, "status")[0])

    def awaited(self, group: str) -> str | None:
        found: str | None = self.row(group, "awaited_role")[0]
        return found

    def turn(self, group: str) -> int:
        return int(self.row(group, "turn")[0])

    def session(self, columns: str = "status, awaited_role") -> tuple[Any, ...]:
        return self.rows(f"SELECT {columns} FROM sessions WHERE id = :id", id=SESSION)[0]

    def blockers(self, columns: str = "id, external, resolution") -> list[tuple[Any, ...]]:
        return self.rows(f"SELECT {columns} FROM blockers ORDER BY opened_seq")

    def decisions(self, columns: str = DECISION) -> list[tuple[Any, ...]]:
        return self.rows(f"SELECT {columns} FROM router_decisions ORDER BY session_id, seq, part")

    def running(self) -> list[str]:
        return [row[0] for row in self.rows(
            "SELECT id FROM task_groups WHERE status = 'in_progress' AND held IS NULL"
            " AND awaited_role NOT IN ('project_manager', 'user') ORDER BY created_seq")]  # fmt: skip


def document() -> dict[str, Any]:
    """The shipped transitions file."""
    found: dict[str, Any] = json.loads((resources.path("workflow") / "transitions.json").read_text("utf-8"))
    return found


def load(
    context: Context, made: dict[str, Any], texts: dict[str, str] | None = None, by: str = "project_manager"
) -> Answer:
    """Make a changed transitions file the active workflow, with the shipped agent files where none are given."""
    given = {"content": json.dumps(made), "agent_texts": texts or setup.agent_texts(), "source": "changed.json"}
    return operations.call(context, "workflow load", **given, by=by)


def changed(*groups: str, **rules: Any) -> Table:
    """A table whose sessions follow the shipped workflow with changed special rules."""
    context, made = testing.memory_context(), document()
    for name, keys in rules.items():
        made["_special_rules"][name].update(keys)
    load(context, made)
    return Table(*groups, context=context)


def tight(table: Table) -> Table:
    """From now on whatever comes once more asks a person."""
    made = document()
    made["_special_rules"]["loop_guard"] = {"max_visits": 1, "on_exhausted": ["question"]}
    table.new_rules(made)
    table.upgrade()
    return table


def names(answer: Answer) -> list[str]:
    """The rules that a decision names."""
    return [rule["name"] for rule in answer["rules"]]
