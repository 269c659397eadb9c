"""Sessions with everything that must hold between rows, each played twice: step for step under the same names.

What one of them lacks after a forgery the other one still has, in the same step.
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

from orchestrator import testing
from orchestrator.app.engine import state_changes
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Call, perform
from tests.integration.app.table import REVIEW, SESSION, Table, document

SOFT = {"status": "blocked", "errors": [{"type": "timeout", "message": "no answer", "recoverable": True}]}
MANAGER, LEAD, QA = "project_manager", "tech_lead", "qa_expert"


class Twin(Table):
    """A table whose words are about another session than the usual one."""

    def __init__(self, name: str, *groups: str, **session: Any) -> None:
        self.name = name
        super().__init__(*groups, **session)

    def do(self, words: str, **arguments: Any) -> dict[str, Any]:
        return operations.call(
            self.context, words, **{key: self.name if value == SESSION else value for key, value in arguments.items()}
        )

    def open_of(self, group: str) -> str:
        """The open blocker of a group."""
        ((id_,),) = self.rows(
            "SELECT id FROM blockers WHERE session_id = :session AND group_id = :group AND resolved_seq IS NULL",
            session=self.name, group=group,
        )  # fmt: skip
        return str(id_)

    def task(self, id: str, **more: Any) -> None:
        self.do("task create", id=id, title=id, session_id=SESSION, by=MANAGER, **more)

    def to(self, id: str, status: str, by: str = MANAGER) -> None:
        self.do("task set-status", id=id, status=status, session_id=SESSION, by=by, reason="r")


def blockers(table: Twin) -> None:
    """A blocker for each way in which a group's is closed, beside deferred work and a question."""
    for id_ in "ABCDEFGHI":
        table.group(id_)
    table.do("group depend", id="H", on="D", session_id=SESSION, by=MANAGER, reason="r")
    table.plan()
    table.block("A")
    table.says(LEAD, "UNBLOCKING_GUIDANCE", "A", summary="use the other host")
    table.confirmable("B")
    table.block("C")
    with table.person():
        table.do("blocker resolve", id=table.open_of("C"), session_id=SESSION, by="user", reason="r")
    table.block("D")
    table.move("D", "cancelled")
    table.do("group undepend", id="H", on="D", session_id=SESSION, by=MANAGER, reason="r")
    table.defer("E")
    table.move("E", "in_progress")
    table.defer("F")
    question = table.says(
        "developer", "BLOCKED", "G", summary="r", metadata=REVIEW | {"status": "blocked"}
    )["question_id"]
    table.answer(question, "continue")
    table.answer(table.says("developer", "PARTIAL", "H", metadata=REVIEW)["question_id"], "abandon")
    table.says("developer", "PARTIAL", "I", metadata=REVIEW)
    table.says(MANAGER, "BAZINGA", acknowledge={"B": "seen", "F": "later"})


def tasks(table: Twin) -> None:
    """A blocker for each way in which a task's is closed."""
    table.group("A")
    table.plan()
    for id_ in "VXN":
        table.task(id_, group_id="A")
    table.to("V", "in_progress")
    table.to("V", "done")
    table.task("Y", group_id="A", depends_on=["V", "X"], auto_unblock=True)
    table.task("Z", group_id="A", depends_on=["V", "X"], auto_unblock=True)
    table.do("task undepend", id="Z", on="X", session_id=SESSION, by=MANAGER, reason="r")
    table.to("X", "in_progress")
    table.to("X", "done")
    for id_ in "YZ":
        table.do("task depend", id=id_, on="N", session_id=SESSION, by=MANAGER)
    table.task("W", group_id="A")
    table.to("W", "in_progress")
    table.to("W", "blocked")
    table.to("W", "cancelled")
    table.task("P", group_id="A")
    table.task("C", parent="P")
    table.task("D", parent="C")
    table.to("P", "in_progress")
    table.to("P", "blocked")
    table.to("P", "in_progress")
    table.to("P", "cancelled")
    table.task("Q", group_id="A")
    table.to("Q", "in_progress")
    table.to("Q", "blocked")

    def ask(work: Any) -> dict[str, Any]:
        return {"question": state_changes.open_question(work, "A", kind="reply", text="what now?", task_id="Q")}

    table.answer(perform(table.context, Call("route", table.name, "developer", {}), ask)["question"], "continue")
    table.to("Q", "cancelled")


def settings(table: Twin) -> None:
    """Settings and criteria that were changed by whoever may; the second twin goes on changing them."""
    table.group("A")
    table.group("B")
    for id_, more in (
        ("works", {}), ("tested", {"command": ["true"]}),
        ("fast", {"metric": "ms", "operator": "le", "target": "5"}), ("gone", {}), ("late", {}),
        ("slow", {"metric": "ms", "operator": "ge", "target": "5"}),
        ("plain", {"command": ["true"]} if table.name.endswith("2") else {}),
    ):  # fmt: skip
        table.do("criterion add", id=id_, session_id=SESSION, text="t", by=MANAGER, **more)
    table.do("criterion set", id="works", session_id=SESSION, text="u", by=MANAGER, reason="r")
    table.do("criterion set", id="works", session_id=SESSION, text="v", by=MANAGER, reason="r")
    table.do("criterion set", id="works", session_id=SESSION, status="met", by=MANAGER, reason="r")
    table.do("criterion set", id="fast", session_id=SESSION, actual="7", by="developer", reason="r")
    table.do("criterion set", id="fast", session_id=SESSION, actual="4", by="developer", reason="r")
    table.do("criterion remove", id="gone", session_id=SESSION, by=MANAGER, reason="r")
    with table.person():
        table.do("session upgrade-workflow", id=SESSION, by="user", reason="r")
        table.do("session testing-mode", id=SESSION, mode="minimal", by="user", reason="r")
        table.do("session testing-mode", id=SESSION, mode="full", by="user", reason="r")
    table.plan()
    table.says("developer", "PARTIAL", "A")
    table.do("criterion set", id="slow", session_id=SESSION, actual="9", by="developer", reason="r")
    table.do("criterion set", id="late", session_id=SESSION, text="w", by=MANAGER, reason="r")
    if table.name.endswith("1"):
        table.do("criterion set", id="plain", session_id=SESSION, status="met", by=MANAGER, reason="r")
        return
    for id_ in ("works", "slow"):
        table.do("criterion set", id=id_, session_id=SESSION, text="x", by=MANAGER, reason="r")
    table.do("criterion set", id="fast", session_id=SESSION, actual="3", by="developer", reason="r")
    with table.person():
        table.do("session testing-mode", id=SESSION, mode="minimal", by="user", reason="r")


def accepted(table: Twin) -> None:
    """Work that was accepted, beside what was deferred and asked before."""
    for id_ in "ABC":
        table.group(id_)
    table.plan()
    table.complete("A")
    table.defer("B")
    table.answer(table.says("developer", "PARTIAL", "C", metadata=REVIEW)["question_id"], "continue")
    table.block("C")
    with table.person():
        table.do("blocker resolve", id=table.open_of("C"), session_id=SESSION, by="user", reason="r")
    table.says(QA, "PASS", "C")
    table.says(LEAD, "APPROVED", "C")
    table.says("developer", "MERGE_SUCCESS", "C")
    turn = table.row("C", "turn", table.name)[0]
    table.says(MANAGER, "BAZINGA", turn=turn, acknowledge={"B": "later", "C": "seen"})
    table.do("validate", session_id=SESSION)


def rules(table: Twin) -> None:
    """Decisions that rules turned."""
    for id_, more in (("A", {}), ("B", {"security_sensitive": True}), ("C", {"kind": "research"}), ("D", {}), ("E", {}),
                      ("F", {})):  # fmt: skip
        table.group(id_, **more)
    table.plan()
    for _ in range(2):
        table.says("developer", "READY_FOR_QA", "A")
        table.says(QA, "FAIL", "A")
    table.says("senior_software_engineer", "READY_FOR_QA", "A")
    table.says(QA, "FAIL", "A")
    while table.row("D", "awaited_role", table.name) == ("developer",):
        table.says("developer", "PARTIAL", "D")
    table.says("senior_software_engineer", "PARTIAL", "B")
    table.says("requirements_engineer", "READY_FOR_REVIEW", "C")
    table.says(LEAD, "APPROVED", "C")
    table.block("E")
    table.says(MANAGER, "REWORK", "E", summary="again", interrupt=True)
    table.says("developer", "PARTIAL", "F", metadata=REVIEW)


def ended(table: Twin) -> None:
    """Blockers that their opener and who stands above lifted, and a question that ended with its session."""
    for id_ in "ABC":
        table.group(id_)
    table.plan()
    for group, by in (("A", f"qa_expert@{table.name}:A"), ("B", LEAD)):
        table.says("developer", "READY_FOR_QA", group)
        table.says(QA, "BLOCKED", group, summary="r", metadata=SOFT)
        table.do("blocker resolve", id=table.open_of(group), session_id=SESSION, by=by, reason="r")
    table.says("developer", "PARTIAL", "C", metadata=REVIEW)
    with table.person():
        table.do("session end", id=SESSION, by="user", reason="r")


def lenient(table: Twin) -> None:
    """Work that the testing mode sends past QA."""
    table.group("A")
    table.plan()
    table.says("developer", "READY_FOR_QA", "A")
    with table.person():
        table.do("session testing-mode", id=SESSION, mode="full", by="user", reason="r")


def withheld(table: Twin) -> None:
    """A report that a person let go on."""
    for number, status in enumerate(("PLANNING_COMPLETE", *("CONTINUE",) * 5)):
        table.says(MANAGER, status, summary="more", details={"plan": {"groups": [{"id": f"G{number}"}]}})
    held = table.says(MANAGER, "CONTINUE", details={"plan": {"groups": [{"id": "A"}]}})
    table.answer(held["question_id"], "continue")


def loose(table: Twin) -> None:
    """Work that goes past QA, and what is merged at once."""
    table.group("A")
    table.group("B")
    table.says("developer", "MERGE_SUCCESS", "B")
    table.says("developer", "READY_FOR_QA", "A")


STORIES: dict[str, tuple[Callable[[Twin], None], dict[str, Any]]] = {
    "blockers": (blockers, {}), "tasks": (tasks, {}), "settings": (settings, {}), "accepted": (accepted, {}),
    "rules": (rules, {}), "ended": (ended, {}), "withheld": (withheld, {}),
    "lenient": (lenient, {"testing_mode": "minimal"}),
    "loose": (loose, {"testing_mode": "minimal", "disabled_roles": [QA]}),
}  # fmt: skip
FORMER = """INSERT INTO status_changes (session_id, seq, part, entity, entity_id, from_status, to_status, changed_by,
    changed_at, reason, cause) SELECT session_id, seq, {}, '{}', '{}', '{}', '{}', 'user', 't', 'r', 'manual'
    FROM audit_events WHERE session_id = 'settings{}' AND kind = 'session testing-mode'
    ORDER BY seq DESC LIMIT 1"""
EARLIER = (
    (91, "group_kind", "A", "code", "code", 1), (92, "group_security", "A", "0", "0", 1),
    (93, "group_kind", "B", "code", "research", 1), (94, "group_security", "B", "0", "1", 1),
    (95, "session_testing_mode", "other", "full", "minimal", 1), (96, "session_workflow", "other", "a", "b", 1),
    (97, "group_kind", "A", "code", "research", 2), (98, "group_security", "A", "0", "1", 2),
    (99, "session_workflow", "settings1", "a", "b", 2), (90, "session_testing_mode", "settings1", "full", "minimal", 2),
)  # fmt: skip
"""Changes that no command makes: part, entity, id, from, to, twin."""


@functools.cache
def world() -> bytes:
    """A database in which each story is played in two sessions, `NAME1` and `NAME2`, on changed rules."""
    context, made = testing.memory_context(), document()
    made["_special_rules"]["loop_guard"]["max_visits"] = 5
    for name, (play, session) in STORIES.items():
        for twin in "12":
            table = Twin(f"{name}{twin}", context=context, **session)
            if (name, twin) == ("settings", "1"):
                table.new_rules(made)
            play(table)
    return bytes(context.connection.serialize())


def changed_before(connection: Any) -> None:
    """Kinds and security of groups that were changed, as older versions recorded it; no guard may stand."""
    for change in EARLIER:
        connection.execute(FORMER.format(*change))
    connection.execute(
        "UPDATE task_groups SET kind = 'research', security_sensitive = 1 WHERE session_id = 'settings1' AND id = 'B'"
    )
