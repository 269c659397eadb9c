"""Sessions and runs for the pages to show: one question of every kind, blockers, verdicts."""

from __future__ import annotations

import json
import time

from tests.integration.web.asgi import Web

ASKS = "Which glossary should I use, A or B?"
ASKS_AGAIN = "Is the old or the new spelling right?"
ASKS_WHETHER = "YES/NO: May I rewrite the glossary?"
STEPS = json.dumps([
    {"when": "whether", "status": "INCOMPLETE", "output": ASKS_WHETHER},
    {"when": "Ask", "status": "INCOMPLETE", "output": ASKS},
    {"when": "Ask", "status": "INCOMPLETE", "output": ASKS_AGAIN, "repeat": True},
    {"when": "", "status": "COMPLETE", "output": "It says: be kind.", "repeat": True},
])  # fmt: skip
READ = "Read the README and tell what it says"
ASK = "Read the glossary. Ask which one is meant"
WHETHER = "Read the glossary and ask whether it is right"
DANGEROUS = "Delete all files in the database folder: rm -rf data"


def review(web: Web, session: str = "rev", *, reason: str = "Is the schema right?", goal: str = "Ship it") -> str:
    """A session in which a developer's report waits for a person; the question's id."""
    web.call("session create", id=session, goal=goal)
    web.call("group create", id="A", session_id=session, name="First group")
    web.call("route", session_id=session, current_agent="project_manager", status="PLANNING_COMPLETE")
    metadata = {"status": "partial", "requires_user_review": True, "review_reason": reason}
    found = web.call(
        "route", session_id=session, group_id="A", current_agent="developer", status="PARTIAL", metadata=metadata,
        summary="Half of it is written.",
    )  # fmt: skip
    return str(found["question_id"])


def clarification(web: Web, session: str = "clar") -> str:
    """A session whose project manager asks; the question's id."""
    web.call("session create", id=session, goal="Sort out billing")
    asked = web.call(
        "route", session_id=session, current_agent="project_manager", status="NEEDS_CLARIFICATION",
        summary="Which provider is kept?",
    )  # fmt: skip
    return str(asked["question_id"])


def blocked(web: Web, session: str = "blocked") -> None:
    """A session with a group that is blocked."""
    web.call("session create", id=session, goal="Test the portal")
    web.call("group create", id="E2E", session_id=session, name="End-to-end tests")
    web.call("route", session_id=session, current_agent="project_manager", status="PLANNING_COMPLETE")
    web.call("route", session_id=session, group_id="E2E", current_agent="developer", status="READY_FOR_QA")
    web.call(
        "route", session_id=session, group_id="E2E", current_agent="qa_expert", status="BLOCKED",
        summary="no test environment",
    )  # fmt: skip


def taken_as_it_is(web: Web, session: str = "taken") -> None:
    """A session whose group was completed on the project manager's word."""
    web.call("session create", id=session, goal="Ship it")
    web.call("group create", id="A", session_id=session, name="First group")
    given = {"session_id": session, "current_agent": "project_manager"}
    web.call("route", status="PLANNING_COMPLETE", **given)
    web.call("route", status="BAZINGA", acknowledge={"A": "good enough"}, **given)
    given = {"session_id": session, "by": "project_manager", "reason": "as it is"}
    web.call("group set-status", id="A", status="completed", **given)


def run(web: Web, content: str, session: str = "chat", until: str = "AWAITING_RESPONSE") -> str:
    """Say something in the project, and wait until its run is in a state; the run's id."""
    web.service.add_project(str(web.project), "portal")
    id = str(web.service.chat("portal", content, session)["task_id"])
    return wait(web, id, until)


def wait(web: Web, id: str, until: str, asking: str | None = None) -> str:
    """Wait until a run is in a state, and asks something; its id."""
    limit = time.monotonic() + 20
    while state(web, id) != until or (asking and not web.rows(f"SELECT 1 FROM questions WHERE text = '{asking}'")):
        assert time.monotonic() < limit, f"{id} is {state(web, id)}, not {until}: {web.faults}"
        time.sleep(0.01)
    return id


def state(web: Web, id: str) -> str:
    """The state of a run."""
    ((found,),) = web.rows(f"SELECT state FROM runs WHERE id = '{id}'")
    return str(found).upper()
