"""The refusals that ordinary calls meet, each with its code and what belongs to it, and each recorded."""

from __future__ import annotations

from typing import Any

import pytest

from tests.integration.cli.conftest import Ask, Lines

PM = "project_manager"


def report(role: str, status: str, group: str | None = "A", **more: Any) -> tuple[str, dict[str, Any]]:
    """A report in the prepared session."""
    named = {"group_id": group} if group else {}
    return "route", {"session_id": "S1", "current_agent": role, "status": status, **named, **more}


def change(words: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """A change in the prepared session."""
    return words, {"session_id": "S1", "by": PM, "reason": "because", **more}


def of_session(words: str, **more: Any) -> tuple[str, dict[str, Any]]:
    """A change of a session."""
    return words, {"id": "S1", "by": PM, "reason": "because", **more}


READY = report("developer", "READY_FOR_QA")
BLOCKED = report("developer", "BLOCKED", summary="no key")

ROWS: dict[str, tuple[list[tuple[str, dict[str, Any]]], str, tuple[str, ...]]] = {
    "unknown role": ([report("astronaut", "PASS")], "UNKNOWN_ROLE", ("did_you_mean",)),
    "orchestrator reports nothing": ([report("orchestrator", "PASS")], "UNKNOWN_ROLE", ()),
    "unknown session": ([("route", {"session_id": "S9", "current_agent": "developer", "status": "PASS"})],
                        "UNKNOWN_SESSION", ("sessions",)),
    "unknown group": ([report("developer", "PARTIAL", "Z")], "UNKNOWN_GROUP", ("did_you_mean",)),
    "unknown agent": ([report("developer", "PARTIAL", agent_id="nobody")], "UNKNOWN_AGENT", ()),
    "unknown status": ([report("developer", "DONE")], "UNKNOWN_STATUS", ("valid_statuses", "fallback_action")),
    "reserved role": ([report("validator", "ACCEPT", None)], "RESERVED_ROLE", ()),
    "out of turn": ([READY, report("developer", "PARTIAL")], "OUT_OF_TURN", ("expected_agent", "turn")),
    "stale turn": ([READY, report("qa_expert", "PASS", turn=1)], "STALE_TURN", ("turn",)),
    "request id reused": ([("group create", {"id": "X", "session_id": "S1", "request_id": "r"}),
                           ("group create", {"id": "Y", "session_id": "S1", "request_id": "r"})],
                          "REQUEST_ID_REUSED", ()),
    "looser testing mode": ([report("developer", "PARTIAL", testing_mode="disabled"),
                             of_session("session testing-mode", mode="disabled")], "HUMAN_REQUIRED", ()),
    "nothing blocked": ([READY, report("qa_expert", "PASS"), report("tech_lead", "UNBLOCKING_GUIDANCE", details={
        "external": True, "external_dependency": "the test server"})], "NOTHING_BLOCKED", ()),
    "open dependencies": ([report("developer", "PARTIAL", "B")], "DEPENDENCIES_OPEN", ("open",)),
    "exists already": ([("session create", {"id": "S1"})], "ALREADY_EXISTS", ()),
    "illegal move": ([change("group set-status", id="A", status="pending")], "ILLEGAL_MOVE", ()),
    "not permitted": ([change("group set-status", id="A", status="cancelled", by="developer")], "NOT_PERMITTED", ()),
    "actor required": ([change("group set-status", id="A", status="cancelled", by="")], "ACTOR_REQUIRED", ()),
    "a name alone is no person": ([change("group set-status", id="A", status="cancelled", by="user")],
                                  "HUMAN_REQUIRED", ()),
    "no path": ([READY, change("group set-status", id="A", status="completed")], "COMPLETION_PATH_MISSING",
                ("required", "path")),
    "reason required": ([change("group set-status", id="A", status="cancelled", reason=" ")], "REASON_REQUIRED", ()),
    "circle": ([change("group depend", id="A", on="B")], "DEPENDENCY_CYCLE", ("cycle",)),
    "depends on itself": ([change("group depend", id="A", on="A")], "DEPENDENCY_INVALID", ("why",)),
    "unknown decision": ([("why", {"id": "S1:D999"})], "UNKNOWN_ID", ("kind",)),
    "unknown version": ([("workflow show", {"version": "99"})], "UNKNOWN_ID", ("kind",)),
    "no dependency named": ([BLOCKED, report("investigator", "ROOT_CAUSE_FOUND"),
                             report("tech_lead", "UNBLOCKING_GUIDANCE", details={"external": True})],
                            "DEFERRAL_INCOMPLETE", ()),
    "deferral of what is not external": ([BLOCKED, change("group set-status", id="A", status="deferred_external")],
                                         "DEFERRAL_NOT_CONFIRMED", ()),
    "closed group": ([change("group set-status", id="A", status="cancelled"), report("developer", "PARTIAL")],
                     "GROUP_CLOSED", ()),
    "open groups": ([READY, report(PM, "INVESTIGATION_ONLY", None)], "OPEN_GROUPS", ()),
    "open question": ([report("developer", "BLOCKED", summary="no key", metadata={
        "status": "blocked", "requires_user_review": True, "review_reason": "a person must buy a licence",
        "errors": [{"type": "missing_dependency", "recoverable": False}]}), report(PM, "PLANNING_COMPLETE")],
                      "QUESTION_OPEN", ("question_id",)),
}  # fmt: skip


@pytest.mark.parametrize("name", ROWS)
def test_a_refusal_has_its_code(name: str, lines: Lines) -> None:
    calls, code, keys = ROWS[name]
    answers = lines(*calls)
    last = answers[-1]
    assert (last["success"], last.get("code"), last["exit_code"]) == (False, code, 3), last
    assert [key for key in (*keys, "suggestion", "error") if key not in last] == []
    assert [key for key in last if key.startswith("_")] == []


def test_a_refused_write_is_recorded_with_its_door(ask: Ask, lines: Lines) -> None:
    lines(report("developer", "DONE"))
    ask("route", "astronaut", "PASS", "-s", "S1", "-g", "A")
    rows = ask("audit", "refusals", "-s", "S1")["refusals"]
    assert [(row["door"], row["code"]) for row in rows] == [("batch", "UNKNOWN_STATUS"), ("cli", "UNKNOWN_ROLE")]


def test_a_fallback_can_be_followed(ask: Ask) -> None:
    refused = ask("route", "developer", "READY", "-s", "S1", "-g", "A")
    assert refused["fallback_action"]["next_agent"] == "tech_lead"
