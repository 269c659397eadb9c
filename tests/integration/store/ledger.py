# ruff: noqa: C408 - columns read better as keywords, several to a line
"""A small writer of recorded rows, for tests that ask what the database makes of them."""

from __future__ import annotations

import contextlib
import functools
import pathlib
import sqlite3
import sys
import tempfile
from typing import Any

import pytest
import sqlalchemy as sa

from orchestrator.store import constants, guards, path_history, queries, schema

SESSION = "S1"
T = "2026-01-01T00:00:00.000000Z"
AGENTS = (
    "project_manager",
    "tech_lead",
    "developer",
    "senior_software_engineer",
    "qa_expert",
    "investigator",
    "requirements_engineer",
    "validator",
    "orchestrator",
)
CHAIN = (("developer", "submit_test"), ("qa_expert", "test_pass"), ("tech_lead", "approve"), ("developer", "merge"))
BLOCKED_CHAIN = (("developer", "submit_test"), ("qa_expert", "block"), ("tech_lead", "approve"), ("developer", "merge"))
Row = dict[str, Any]


@functools.cache
def _template() -> sqlite3.Connection:
    engine = sa.create_engine("sqlite://")
    with engine.begin() as connection:
        schema.metadata.create_all(connection)
        guards.create_all(connection)
        made = sqlite3.connect(":memory:")
        connection.connection.dbapi_connection.backup(made)  # type: ignore[union-attr]
    engine.dispose()
    return made


def empty(path: pathlib.Path | str = ":memory:") -> sqlite3.Connection:
    """A database with the declared tables, views and triggers, and nothing in it."""
    connection = sqlite3.connect(path, isolation_level=None)
    _template().backup(connection)
    return prepared(connection)


def prepared(connection: sqlite3.Connection) -> sqlite3.Connection:
    """A connection with the settings that the orchestrator's own have."""
    connection.execute("PRAGMA foreign_keys = ON")
    connection.row_factory = sqlite3.Row
    register(connection)
    return connection


def register(connection: sqlite3.Connection) -> None:
    """What only the orchestrator's own connections do."""
    connection.create_function(constants.WRITE_FUNCTION, 0, lambda: 1)


def content(file: pathlib.Path) -> list[str]:
    """All that a file holds, as statements."""
    if file.with_name(f"{file.name}-wal").exists() or file.with_name(f"{file.name}-journal").exists():
        return _dumped(file)
    return _content_of(file.read_bytes())


@functools.lru_cache(maxsize=2)
def _content_of(written: bytes) -> list[str]:
    """The same of a file whose bytes are all there is; equal bytes hold the same."""
    with tempfile.TemporaryDirectory() as folder:
        copy = pathlib.Path(folder) / "copy.db"
        copy.write_bytes(written)
        return _dumped(copy)


def _dumped(file: pathlib.Path) -> list[str]:
    connection = sqlite3.connect(file)
    lines = list(connection.iterdump())
    connection.close()
    return lines


def refused(code: str) -> Any:
    """What a guard refuses, and with which code."""
    return pytest.raises(sqlite3.IntegrityError, match=rf"\A{code}: ")


def failed(name: str = r"\w+") -> Any:
    """What a check refuses by its name, on a file or a server."""
    said = rf'constraint failed: {name}\Z|violates check constraint "{name}"\Z'
    return pytest.raises(sqlite3.IntegrityError, match=said)


def violated(kind: str) -> Any:
    """What a constraint of a kind refuses, on a file or a server."""
    said = rf"\A{kind} constraint failed|violates {'not-null' if kind == 'NOT NULL' else kind.lower()} constraint"
    return pytest.raises(sqlite3.IntegrityError, match=said)


def change(book: Ledger, sql: str, *values: Any) -> None:
    """Run a statement as anybody may who has the file."""
    book.connection.execute(sql, values)


def one(book: Ledger, sql: str, *values: Any) -> Any:
    """The first column of the first row."""
    return book.connection.execute(sql, values).fetchone()[0]


def begin_another_session(book: Ledger, monkeypatch: pytest.MonkeyPatch, id: str = "S2") -> None:
    """What is written from now on belongs to it."""
    monkeypatch.setattr(sys.modules[__name__], "SESSION", id)
    row = dict(book.connection.execute("SELECT * FROM sessions WHERE id = 'S1'").fetchone())
    book.insert("sessions", **row | {"id": id, "testing_mode": "disabled"})


def merged(book: Ledger, group: str) -> None:
    """Give a group everything that a group that was never blocked needs."""
    book.reports(*CHAIN, group=group)


class Ledger:
    """One session and its groups, written row by row; every step has the next `seq`."""

    def __init__(self, connection: sqlite3.Connection, *, testing_mode: str = "full", seq: int = 0) -> None:
        self.connection = connection
        self.seq = seq
        if not seq:
            self._begin(testing_mode)

    def _begin(self, testing_mode: str) -> None:
        self.insert(
            "workflow_versions", id=1, hash="h", name="w", content="{}", transitions_hash="t", loaded_at=T, seq=1
        )
        for role in AGENTS:
            self.insert("agents", id=role, role=role, kind="ai", created_at=T, created_seq=1)
        self.insert(
            "sessions",
            **dict(id=SESSION, kind="orchestration", mode="parallel", testing_mode=testing_mode, goal="a goal"),
            **dict(workflow_version_id=1, turn_timeout=3600, disabled_roles="[]", created_by="project_manager"),
            **dict(created_at=T, status="active", status_changed_by="project_manager", status_changed_at=T),
            status_seq=self.step(),
        )

    def step(self) -> int:
        self.seq += 1
        return self.seq

    def insert(self, table: str, **values: Any) -> None:
        names, places = ", ".join(f'"{name}"' for name in values), ", ".join("?" * len(values))
        self.connection.execute(f"INSERT INTO {table} ({names}) VALUES ({places})", list(values.values()))

    def group(self, group: str, *, kind: str = "code", security: bool = False, started: bool = True) -> str:
        status = "in_progress" if kind == "chat" else "pending"
        seq = self.step()
        self.insert(
            "task_groups",
            **dict(session_id=SESSION, id=group, name=group, kind=kind, security_sensitive=int(security)),
            **dict(created_by="project_manager", created_at=T, created_seq=seq, status=status),
            **dict(status_changed_by="project_manager", status_changed_at=T, status_seq=seq),
        )
        if started and kind != "chat":
            self.move(group, "pending", "in_progress")
        return group

    def record(self, entity: str, entity_id: str, old: str | None, new: str, *, by: str = "project_manager") -> int:
        """The row of a move, without the move."""
        seq = self.step()
        self.insert(
            "status_changes",
            **dict(session_id=SESSION, seq=seq, entity=entity, entity_id=entity_id, from_status=old, to_status=new),
            **dict(changed_by=by, changed_at=T, reason="a reason", cause="set_status"),
        )
        return seq

    def move(self, group: str, old: str, new: str, *, by: str = "project_manager") -> int:
        seq = self.record("group", group, old, new, by=by)
        self.set_status(group, new, seq, by=by)
        return seq

    def set_status(self, group: str, new: str, seq: int, *, by: str = "project_manager") -> None:
        self.connection.execute(
            "UPDATE task_groups SET status = ?, status_changed_by = ?, status_changed_at = ?, status_seq = ?"
            " WHERE session_id = ? AND id = ?",
            [new, by, T, seq, SESSION, group],
        )

    def complete(self, group: str) -> int:
        return self.move(group, "in_progress", "completed")

    def reopen(self, group: str) -> int:
        return self.move(group, "completed", "in_progress")

    def report(
        self, role: str, effect: str, group: str | None = "G", *, acknowledge: tuple[str, ...] = (),
        turn: int | None = None,
    ) -> int:
        seq = self.step()
        self.insert(
            "agent_reports",
            **dict(session_id=SESSION, seq=seq, group_id=group, role=role, agent_id=role, response_status="X"),
            **dict(raw_role=role, raw_status="X", effect=effect, turn_assumed=0, summary="s", details="{}"),
            **dict(reported_at=T, turn=turn),
        )
        for part, name in enumerate(acknowledge, start=1):
            self.insert("acknowledgements", session_id=SESSION, seq=seq, part=part, group_id=name, reason="known")
        return seq

    def reports(self, *answers: tuple[str, str], group: str = "G") -> list[int]:
        return [self.report(role, effect, group) for role, effect in answers]

    def start(self, group: str = "G", isolation: str | None = "worktree", turn: int | None = None) -> tuple[int, int]:
        """A start of an agent by a driver, in a turn of its own or once more in one; its turn and step."""
        seq = self.step()
        self.connection.execute(
            "UPDATE starts SET ended_seq = ?, ended_at = ?, outcome = 'failed' WHERE session_id = ? AND group_id = ?"
            " AND ended_seq IS NULL",
            [seq, T, SESSION, group],
        )
        who = dict.fromkeys(("role", "agent_id", "client"), "developer")
        place = dict(session_id=SESSION, group_id=group, turn=turn or seq, seq=seq)
        self.insert("starts", **place, **who, via="drive", isolation=isolation, started_at=T)
        return turn or seq, seq

    def merge(
        self, group: str = "G", *proofs: str, turn: int | None = None, rules: int | None = None
    ) -> int:
        """A merge that is reported in a turn, with what its driver wrote of it, judged by a version of the rules."""
        seq = self.report("developer", "merge", group, turn=turn)
        self.prove(group, seq, *proofs)
        if rules is not None:
            self.judge(seq, rules=rules, group=group)
        return seq

    def prove(self, group: str, seq: int, *proofs: str) -> None:
        """What a driver writes of a merge in a step."""
        for part, proof in enumerate(proofs, start=1):
            row = {"kind": "merge", "subject": group, "outcome": proof, "hash": "h", "size": 0, "content": ""}
            self.insert("evidence", session_id=SESSION, seq=seq, **row, part=part, group_id=group)

    def judge(self, seq: int, *, rules: int, group: str = "G", part: int = 1) -> None:
        """The decision on the report of a step, or another one of that step, by a version of the rules."""
        cause = {"cause": "report", "report_id": f"{SESSION}:R{seq}"} if part == 1 else {"cause": "set_status"}
        row = {"group_id": group, "current_agent": "x", "response_status": "X", "action": "wait", "timestamp": T}
        row |= {"rules": "[]", "workflow_version_id": 1, "rules_version": rules, "answer": "{}"}
        self.insert("router_decisions", session_id=SESSION, seq=seq, part=part, **cause, **row)

    def block(self, group: str = "G", *, external: bool = False) -> str:
        seq = self.step()
        self.insert(
            "blockers",
            **{"id": f"B{seq}", "session_id": SESSION, "group_id": group, "type": "manual", "class": "hard"},
            **dict(reason="no environment", opened_by="qa_expert", opened_at=T, opened_seq=seq, cause="manual"),
            **dict(external=int(external), external_dependency="vendor" if external else None),
        )
        return f"B{seq}"

    def resolve(self, blocker: str, *, seq: int | None = None) -> int:
        step = seq or self.step()
        self.connection.execute(
            "UPDATE blockers SET resolved_at = ?, resolved_by = 'tech_lead', resolved_seq = ?, resolution = 'accepted'"
            " WHERE id = ?",
            [T, step, blocker],
        )
        return step

    def ask(self, group: str = "G") -> str:
        seq = self.step()
        self.insert(
            "questions",
            **dict(id=f"Q{seq}", session_id=SESSION, group_id=group, kind="review", text="?", asked_by="orchestrator"),
            **dict(asked_at=T, opened_seq=seq),
        )
        return f"Q{seq}"

    def answer(self, question: str) -> int:
        seq = self.step()
        self.connection.execute(
            "UPDATE questions SET closed_at = ?, closed_by = 'ann', closed_seq = ?, answer = 'yes' WHERE id = ?",
            [T, seq, question],
        )
        return seq

    def decide(self, group: str = "G", *, mandatory_review: bool = False) -> int:
        seq = self.step()
        self.insert(
            "router_decisions",
            **dict(session_id=SESSION, seq=seq, group_id=group, current_agent="x", response_status="X", action="spawn"),
            **dict(timestamp=T, cause="set_status", rules="[]", workflow_version_id=1, rules_version=1, answer="{}"),
            mandatory_review=int(mandatory_review),
        )
        return seq

    def task(self, id: str, group: str, *statuses: str) -> None:
        """A task of a group, moved along."""
        row = {"title": "t", "description": "", "type": "REPORT", "assignee": "developer", "created_at": T}
        key, old = {"session_id": SESSION, "id": id}, "todo"
        created = self.record("task", id, None, old)
        changed = {"created_seq": created, "status_changed_at": T, "status_seq": created}
        self.insert("tasks", **key, **row, **changed, group_id=group, status=old)
        for version, status in enumerate(statuses, start=2):
            seq = self.record("task", id, old, status)
            self.connection.execute(
                "UPDATE tasks SET status = ?, status_seq = ?, version = ?, status_changed_by_agent_id ="
                " 'project_manager' WHERE session_id = ? AND id = ?",
                [status, seq, version, *key.values()],
            )
            old = status

    def depend(self, group: str, on: str) -> int:
        seq = self.step()
        self.insert(
            "group_dependencies",
            **dict(session_id=SESSION, group_id=group, depends_on=on, seq=seq, added_by="project_manager"),
        )
        return seq

    def undepend(self, group: str, on: str) -> int:
        seq = self.step()
        self.connection.execute(
            "UPDATE group_dependencies SET removed_seq = ?, removed_by = 'project_manager', removed_reason = 'moot'"
            " WHERE session_id = ? AND group_id = ? AND depends_on = ? AND removed_seq IS NULL",
            [seq, SESSION, group, on],
        )
        return seq

    def defer(self, group: str, blocker: str) -> int:
        """Defer a group as the project manager does, with the deferral in the same step."""
        seq = self.record("group", group, "in_progress", "deferred_external")
        self.insert(
            "deferrals",
            **dict(session_id=SESSION, seq=seq, group_id=group, blocker_id=blocker, reason="r", dependency="vendor"),
            **dict(confirmed_by="tech_lead", confirmed_seq=1, deferred_by="project_manager", deferred_at=T),
        )
        self.set_status(group, "deferred_external", seq)
        return seq

    def path(self, group: str = "G") -> Row:
        """What the view says of a group, which is what follows from the record."""
        row = self.viewed(group)
        with contextlib.closing(path_history.History(self.connection, SESSION)) as history:
            judged = history.judge(group, self.seq + 1)
        assert judged is not None
        assert judged[:2] == (row["valid"], row["missing"])
        # What `status` takes for proven without a look at the view is proven.
        assert row["chain"] == 1 or not self.is_plain(group)
        return row

    def is_plain(self, group: str = "G") -> bool:
        """Whether `status` takes the group for proven without a look at the view."""
        sql = f"SELECT {queries.PLAIN} FROM task_groups g WHERE g.session_id = :session AND g.id = :group"
        return bool(self.connection.execute(sql, {"session": SESSION, "group": group}).fetchone()[0])

    def viewed(self, group: str = "G") -> Row:
        """What the view says of a group."""
        query = "SELECT * FROM completion_paths WHERE session_id = ? AND group_id = ?"
        return dict(self.connection.execute(query, [SESSION, group]).fetchone())

    def part(self, name: str, group: str = "G") -> tuple[int, str, int | None]:
        """Whether a part is met, why, and which step says so."""
        row = self.path(group)
        return row[f"{name}_met"], row[f"{name}_why"], row[f"{name}_seq"]
