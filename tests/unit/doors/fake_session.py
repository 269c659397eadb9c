"""A session of runs that executes nothing: what becomes of each task is told beforehand."""

from __future__ import annotations

import types
from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.app.running import (
    begin_session,
    end_session,
    execute_run,
    run_answers,
    session_status,
    submission,
)
from orchestrator.core.running import exits, states
from orchestrator.errors import Refused

Row = dict[str, Any]
FUNCTIONS = (
    begin_session.start, begin_session.set_up_project, end_session.close, execute_run.execute, submission.submit,
    submission.cancel, session_status.tasks, session_status.earlier_runs, session_status.log, session_status.tree,
    session_status.status, run_answers.respond, run_answers.answerable, run_answers.approve, run_answers.approvable,
    run_answers.proceed, run_answers.continuable,
)  # fmt: skip
"""What the REPL calls with its session; a fake session answers each by the method of that name."""


def answered_by_the_fake(function: Callable[..., Any]) -> Callable[..., Any]:
    """What stands for a function of the product where a fake session is given to it."""
    return lambda session, *values, **named: getattr(session, function.__name__)(*values, **named)


def outcome(state: str = states.DONE, **more: Any) -> Row:
    """What `execute` makes of a run."""
    return {"state": state, "status": states.word_of(state) or state.upper(), **more}


class FakeSession:
    """Gives each task the next outcome, and keeps count of what was asked of it.

    Args:
        outcomes: for the tasks in order; one that is an exception is raised by `execute`.
        held: outcomes of tasks, by their text, that no executor is called for.
    """

    def __init__(self, outcomes: Sequence[Row | BaseException] = (), held: dict[str, Row] | None = None) -> None:
        self.session_id: str | None = None
        self.settings: object = object()
        self.warnings: Sequence[str] = ()
        self.project = types.SimpleNamespace(root="/projects/one", warnings=())
        self.context = types.SimpleNamespace(path="/projects/one/orchestrator.db")
        self.calls: list[str] = []
        self.meanwhile: Callable[[], None] = lambda: None
        self._outcomes, self._held = list(outcomes), held or {}
        self._runs: dict[str, Row] = {}
        self._sessions = 0

    def start(self) -> Row:
        self._sessions += 1
        self.session_id = f"chat-{self._sessions}"
        return {"session": {"id": self.session_id}}

    def submit(self, text: str, task_type: str | None = None) -> Row:
        if self.session_id is None:
            self.start()
        number = len(self._runs) + 1
        run = {
            "id": f"task-{1768282936520 + number}", "log_id": f"task-{number:03d}", "session_id": self.session_id,
            "task_id": f"T{number}", "prompt": text, "task_type": task_type or "READ_INFO", "executor": "fake",
            "executor_blocked": False, "question": None, "why": None, "verified_files": [],
            **outcome(states.QUEUED), **self._held.get(text, {}),
        }  # fmt: skip
        self._runs[run["id"]] = run
        return dict(run)

    def execute(
        self, id: str, watch: Callable[[Any], None] | None = None, cancelled: Callable[[], bool] | None = None
    ) -> Row:
        self.calls.append(f"work {self._runs[id]['log_id']}")
        found = self._outcomes.pop(0) if self._outcomes else outcome(why="done as asked")
        self.meanwhile()
        if isinstance(found, BaseException):
            raise found
        if cancelled is not None and cancelled():
            found = outcome(states.CANCELLED, error_reason="cancelled")
        self._runs[id] |= found
        return dict(self._runs[id])

    def tasks(self) -> list[Row]:
        return list(self._runs.values())

    def earlier_runs(self) -> list[Row]:
        return []

    def log(self, id: str, level: str = "summary") -> Row:
        for run in self._runs.values():
            if id in (run["id"], run["log_id"]):
                shown = {**run, "events": [{"at": "T", "kind": "queued", "text": run["prompt"]}]}
                return shown if level == "full" else {name: value for name, value in shown.items() if name != "output"}
        raise Refused("UNKNOWN_ID", f"There is no run '{id}'.", "/tasks lists them")

    def tree(self) -> list[Row]:
        return [{"task_id": run["task_id"], "prompt": run["prompt"], "runs": [run]} for run in self.tasks()]

    def status(self) -> Row:
        return {"session_id": self.session_id, "tasks": len(self._runs), "states": {}, "question": None}

    def approve(self) -> Row:
        return self._again(list(self._runs)[-1])

    def respond(self, text: str, id: str | None = None) -> Row:
        self.calls.append(f"respond {id}: {text}")
        return self._again(id or list(self._runs)[-1])

    def proceed(self, id: str) -> Row:
        return self._again(id)

    def _again(self, id: str) -> Row:
        self._runs[id] |= outcome(states.QUEUED, question=None)
        return dict(self._runs[id])

    def answerable(self, text: str, id: str | None = None) -> Row:
        return self._runs[id or list(self._runs)[-1]]

    def approvable(self) -> types.SimpleNamespace:
        return types.SimpleNamespace(**self._runs[list(self._runs)[-1]])

    def continuable(self, id: str) -> types.SimpleNamespace:
        return types.SimpleNamespace(**self._runs[id])

    def cancel(self, id: str, reason: str = "cancelled") -> Row:
        self._runs[id] |= outcome(states.CANCELLED, error_reason=reason)
        return dict(self._runs[id])

    def provider(self, name: str | None) -> Row:
        return {"provider": name or "claude-code", "model": None}

    def model(self, name: str | None) -> Row:
        if name == "":
            raise Refused("E104", "The model name is blank.", "/model NAME")
        return {"provider": "claude-code", "model": name}

    def keys(self) -> dict[str, str]:
        return {"OPENAI_API_KEY": "SET", "ANTHROPIC_API_KEY": "NOT SET"}

    def set_up_project(self) -> Row:
        self.calls.append("init")
        return {"created": [".claude"], "project": self.project.root}

    def close(self) -> Row:
        self.calls.append("close")
        code = exits.exit_code([run["state"] for run in self._runs.values()])
        return {"report": None, "report_path": None, "exit_code": code}
