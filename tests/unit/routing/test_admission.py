"""May this report be accepted? State, turn, transition, content: each refusal with its code, in this order."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.routing import admission, engine
from orchestrator.core.routing.facts import Facts, Refusal, Report
from tests.unit.routing import build
from tests.unit.routing.build import blocker, group, pending, session

DEV, QA, TL, PM = "developer", "qa_expert", "tech_lead", "project_manager"
MERGING = group(awaited_action="spawn_merge")
EXTERNAL = {"external": True, "external_dependency": "the vendor"}


def data(role: str, status: str, **more: Any) -> dict[str, Any]:
    refusal = build.admit(role, status, **more)
    assert refusal is not None
    return refusal.data


# State


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param("active", None, id="active"),
        pytest.param("paused", None, id="paused"),
        pytest.param("ended", "SESSION_CLOSED", id="ended"),
    ],
)
def test_a_session_takes_reports_until_it_ends(status: str, expected: str | None) -> None:
    assert build.code(DEV, "PARTIAL", session=session(status=status)) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param("pending", None, id="pending"),
        pytest.param("in_progress", None, id="in progress"),
        pytest.param("completed", "GROUP_CLOSED", id="completed"),
        pytest.param("deferred_external", "GROUP_CLOSED", id="deferred"),
        pytest.param("cancelled", "GROUP_CLOSED", id="cancelled"),
    ],
)
@pytest.mark.parametrize("role", [DEV, PM])
def test_a_group_takes_reports_until_it_closes(status: str, expected: str | None, role: str) -> None:
    reported = "PARTIAL" if role == DEV else "CONTINUE"
    at = pending() if status == "pending" else group(status=status)
    assert build.code(role, reported, group=at, interrupt=True) == expected


@pytest.mark.parametrize(
    ("status", "expected"),
    [
        pytest.param("deferred_external", None, id="deferred"),
        pytest.param("completed", "GROUP_CLOSED", id="completed"),
        pytest.param("cancelled", "GROUP_CLOSED", id="cancelled"),
    ],
)
def test_resuming_opens_a_deferred_group_and_no_other(status: str, expected: str | None) -> None:
    at = group(status=status, **build.NOBODY)
    found = build.code(PM, "RESUME_BLOCKED", group=at, blockers=(blocker(external=1),), summary="it is there")
    assert found == expected


@pytest.mark.parametrize(("role", "status"), [(DEV, "PARTIAL"), (PM, "REWORK")], ids=["developer", "manager"])
def test_a_group_with_an_open_question_takes_no_report_of_anybody(role: str, status: str) -> None:
    asked = {"question_id": "S1:Q4"}
    assert build.code(role, status, facts=asked, interrupt=True) == "QUESTION_OPEN"
    assert data(role, status, facts=asked, interrupt=True) == {"question_id": "S1:Q4"}


@pytest.mark.parametrize(
    ("of_session", "of_report", "expected"),
    [
        pytest.param(of_session, of_report, expected, id=f"{of_session}, report {of_report}")
        for of_session, of_report, expected in (
            ("full", None, None),
            ("full", "full", None),
            ("full", "minimal", "TESTING_MODE_MISMATCH"),
            ("full", "disabled", "TESTING_MODE_MISMATCH"),
            ("minimal", "full", None),
            ("minimal", "minimal", None),
            ("minimal", "disabled", "TESTING_MODE_MISMATCH"),
            ("disabled", "full", None),
            ("disabled", "minimal", None),
            ("disabled", "disabled", None),
        )
    ],
)
def test_a_report_may_repeat_or_tighten_the_testing_mode(
    of_session: str, of_report: str | None, expected: str | None
) -> None:
    at = session(testing_mode=of_session)
    assert build.code(DEV, "READY_FOR_QA", session=at, testing_mode=of_report) == expected


# Turn


@pytest.mark.parametrize(
    ("role", "turn", "expected"),
    [
        pytest.param(DEV, None, None, id="the awaited role, turn assumed"),
        pytest.param(DEV, 7, None, id="the awaited role, its turn"),
        pytest.param(DEV, 6, "STALE_TURN", id="an older turn"),
        pytest.param(DEV, 8, "STALE_TURN", id="a turn that never was"),
        pytest.param(QA, None, "OUT_OF_TURN", id="another role"),
        pytest.param(QA, 7, "OUT_OF_TURN", id="another role in the open turn"),
        pytest.param(QA, 6, "STALE_TURN", id="another role in an older turn"),
    ],
)
def test_the_awaited_role_reports_in_its_turn(role: str, turn: int | None, expected: str | None) -> None:
    status = "PARTIAL"
    assert build.code(role, status, turn=turn) == expected


def test_out_of_turn_names_who_is_awaited() -> None:
    expected = {"expected_agent": DEV, "expected_action": "spawn", "turn": 7}
    assert data(QA, "PASS") == expected


def test_a_stale_turn_names_the_open_one() -> None:
    assert data(DEV, "PARTIAL", turn=3) == {"turn": 7}


def test_a_held_group_awaits_nobody_yet() -> None:
    held = group(held="slot", turn=None)
    assert build.code(DEV, "PARTIAL", group=held) == "OUT_OF_TURN"


def test_nobody_is_awaited_in_a_chat_group() -> None:
    idle = group(**build.NOBODY)
    assert build.code(DEV, "PARTIAL", group=idle) == "OUT_OF_TURN"
    refusal = build.admit(DEV, "PARTIAL", group=idle)
    assert refusal is not None
    assert "waits for nobody" in refusal.message


def test_every_role_but_the_manager_reports_of_a_group() -> None:
    assert build.code(DEV, "PARTIAL", group=None) == "UNKNOWN_GROUP"
    assert build.code(PM, "CONTINUE", group=None) is None


@pytest.mark.parametrize("status", ["MERGE_SUCCESS", "MERGE_CONFLICT", "MERGE_TEST_FAILURE"])
def test_only_who_was_sent_to_merge_reports_a_merge(status: str) -> None:
    assert build.code(DEV, status, group=MERGING) is None
    assert data(DEV, status) == {"expected_agent": DEV, "expected_action": "spawn_merge", "turn": 7}
    assert build.code(DEV, status) == "OUT_OF_TURN"


def test_who_was_sent_to_merge_may_report_something_else() -> None:
    assert build.code(DEV, "MERGE_BLOCKED", group=MERGING) is None
    assert build.code(DEV, "PARTIAL", group=MERGING) is None


@pytest.mark.parametrize(
    ("role", "status"),
    [(DEV, "READY_FOR_QA"), (DEV, "MERGE_SUCCESS"), (QA, "PASS"), (TL, "APPROVED"), ("investigator", "EXHAUSTED")],
    ids=lambda value: str(value),
)
def test_a_group_that_nobody_started_takes_any_roles_first_report(role: str, status: str) -> None:
    assert build.code(role, status, group=pending()) is None


@pytest.mark.parametrize(
    ("role", "status", "more", "code", "expected"),
    [
        pytest.param(DEV, "PARTIAL", {"facts": {"open_dependencies": ("X", "Y")}}, "DEPENDENCIES_OPEN",
                     {"open": ["X", "Y"]}, id="dependencies"),
        pytest.param(DEV, "PARTIAL", {"blockers": (blocker("B9"),)}, "DEPENDENCIES_OPEN", {"open": ["B9"]},
                     id="an open blocker"),
        pytest.param(DEV, "PARTIAL", {"turn": 7}, "STALE_TURN", {"turn": None}, id="a turn that nobody was given"),
        pytest.param(PM, "REWORK", {"facts": {"open_dependencies": ("X",)}}, "DEPENDENCIES_OPEN", {"open": ["X"]},
                     id="the manager starts it"),
    ],
)  # fmt: skip
def test_a_first_report_is_refused(
    role: str, status: str, more: dict[str, Any], code: str, expected: dict[str, Any]
) -> None:
    refusal = build.admit(role, status, group=pending(), **more)
    assert refusal is not None
    assert (refusal.code, refusal.data) == (code, expected)


def test_a_report_of_the_manager_that_starts_nobody_leaves_a_pending_group_alone() -> None:
    assert build.code(PM, "CONTINUE", group=pending(), facts={"open_dependencies": ("X",)}) is None


@pytest.mark.parametrize("status", ["REWORK", "DEFER_EXTERNAL", "RESUME_BLOCKED", "ESCALATING_TO_TECH_LEAD"])
def test_what_concerns_one_group_must_name_it(status: str) -> None:
    assert build.code(PM, status, group=None) == "UNKNOWN_GROUP"


@pytest.mark.parametrize(
    ("awaited", "interrupt", "expected"),
    [
        pytest.param(DEV, False, "OUT_OF_TURN", id="another role"),
        pytest.param(DEV, True, None, id="another role, interrupted"),
        pytest.param(PM, False, None, id="the manager"),
        pytest.param(None, False, "OUT_OF_TURN", id="nobody"),
    ],
)
def test_the_manager_takes_an_open_turn_away_only_on_purpose(
    awaited: str | None, interrupt: bool, expected: str | None
) -> None:
    at = group(awaited_role=awaited)
    assert build.code(PM, "REWORK", group=at, interrupt=interrupt) == expected


@pytest.mark.parametrize(
    ("turn", "at", "turns", "expected"),
    [
        pytest.param(9, None, (7, 9), None, id="of the session"),
        pytest.param(7, None, (7, 9), None, id="of a group"),
        pytest.param(5, None, (7, 9), "STALE_TURN", id="over"),
        pytest.param(5, None, (), "STALE_TURN", id="none open"),
        pytest.param(7, group(awaited_role=PM), (7, 8, 9), None, id="of the named group"),
        pytest.param(9, group(awaited_role=PM), (7, 8, 9), None, id="of the session, with a group"),
        pytest.param(8, group(awaited_role=PM), (7, 8, 9), "STALE_TURN", id="of another group than the named one"),
    ],
)
def test_the_manager_answers_a_turn_of_their_own(
    turn: int, at: Any, turns: tuple[int, ...], expected: str | None
) -> None:
    found = build.admit(PM, "CONTINUE", group=at, turn=turn, facts={"manager_turns": turns}, session=session(turn=9))
    assert (found and found.code) == expected


def test_a_stale_turn_of_the_manager_names_the_newest_open_one() -> None:
    assert data(PM, "CONTINUE", group=None, turn=5, facts={"manager_turns": (7, 9)}) == {"turn": 9}
    assert data(PM, "CONTINUE", group=None, turn=5) == {"turn": None}


def test_the_manager_too_merges_only_when_sent_to_merge() -> None:
    used = build.workflow(build.put(PM, "MERGED", next_agent=None, action="check_phase", effect="merge"))
    at = group(awaited_role=PM)
    assert build.code(PM, "MERGED", group=at, workflow=used) == "OUT_OF_TURN"
    assert build.code(PM, "MERGED", group=at._replace(awaited_action="spawn_merge"), workflow=used) is None


def test_a_verdict_has_no_turn() -> None:
    assert build.code("validator", "ACCEPT", group=None) is None


# Transition


def unknown(role: str, status: str, **facts: Any) -> Refusal:
    used = build.shipped()
    known = Facts(build.SESSION, **{"group": group(), **facts})
    refusal = engine.admit(None, used, known, Report(role, status, role, status))
    assert refusal is not None
    return refusal


def test_an_unknown_status_is_refused_with_the_way_on() -> None:
    refusal = unknown(DEV, "READY_FOR_QQ")
    assert refusal.code == "UNKNOWN_STATUS"
    assert refusal.suggestion == "orchestrator route developer READY_FOR_QA --session-id S1 --group-id G"
    assert refusal.data == {
        "valid_statuses": list(build.shipped().statuses_of(DEV)),
        "did_you_mean": "READY_FOR_QA",
        "fallback_action": {
            "next_agent": TL,
            "action": "spawn",
            "reason": "developer reported a status that the workflow does not know; the tech lead judges it",
        },
    }


@pytest.mark.parametrize(
    ("role", "status", "at"), [pytest.param(DEV, "", "G", id="empty"), pytest.param(PM, "XYZ", None, id="no group")]
)
def test_without_a_near_status_the_ones_of_the_role_are_listed(role: str, status: str, at: str | None) -> None:
    refusal = unknown(role, status, group=group() if at else None)
    listed = f"Repeat with one of: {', '.join(build.shipped().statuses_of(role))}"
    assert (refusal.suggestion, refusal.data["did_you_mean"]) == (listed, None)


def test_a_role_without_statuses_has_none_to_name() -> None:
    found = admission.refuse_status(
        build.workflow(lambda made: made.pop("qa_expert")), Facts(build.SESSION), Report(QA, "X", QA, "X")
    )
    assert found.suggestion == "orchestrator workflow show"
    assert found.data["valid_statuses"] == []


@pytest.mark.parametrize("status", ["X" * 900_000, "APPROVED\u202e", "A\x1b[31m"], ids=["long", "turned", "coloured"])
def test_an_unknown_status_is_shown_in_a_sentence_and_recorded_as_it_was(status: str) -> None:
    refusal = unknown(TL, status, group=group(awaited_role=TL))
    assert len(refusal.message) < 130
    assert refusal.message.isprintable()
    assert refusal.data["_recorded"] == f"tech_lead has no status {status} in this workflow."


@pytest.mark.parametrize("status", ["NOT APPROVED", "DISAPPROVED", "UNAPPROVED"])
def test_a_negated_status_is_never_taken_for_its_opposite(status: str) -> None:
    refusal = unknown(TL, status, group=group(awaited_role=TL))
    assert (refusal.code, refusal.data["did_you_mean"]) == ("UNKNOWN_STATUS", None)


@pytest.mark.parametrize(
    ("newest", "expected"),
    [
        pytest.param("UNKNOWN_STATUS", None, id="after an unknown status"),
        pytest.param("OUT_OF_TURN", "OUT_OF_TURN", id="after another refusal"),
        pytest.param(None, "OUT_OF_TURN", id="after none"),
    ],
)
def test_after_an_unknown_status_the_tech_lead_is_in_turn_too(newest: str | None, expected: str | None) -> None:
    assert build.code(TL, "CHANGES_REQUESTED", facts={"refusal": newest}) == expected


def test_after_an_unknown_status_nobody_else_is_in_turn() -> None:
    assert build.code(QA, "PASS", facts={"refusal": "UNKNOWN_STATUS"}) == "OUT_OF_TURN"


# Content


@pytest.mark.parametrize(
    ("role", "status", "blockers"),
    [
        pytest.param(TL, "UNBLOCKING_GUIDANCE", (), id="guidance, nothing open"),
        pytest.param(TL, "UNBLOCKING_GUIDANCE", (blocker(external=1),), id="guidance, external ones only"),
        pytest.param(PM, "RESUME_BLOCKED", (), id="resumption, nothing open"),
        pytest.param(PM, "RESUME_BLOCKED", (blocker(),), id="resumption, none external"),
    ],
)
def test_nobody_to_return_to_is_refused(role: str, status: str, blockers: Any) -> None:
    assert build.code(role, status, group=group(awaited_role=role), blockers=blockers) == "NOTHING_BLOCKED"


def test_a_design_decision_needs_no_blocker() -> None:
    assert build.code(TL, "ARCHITECTURAL_DECISION_MADE", group=group(awaited_role=TL)) is None


def test_a_return_without_a_group_names_none() -> None:
    used = build.workflow(build.put(PM, "BACK", next_agent="_return_to_blocked", action="spawn"))
    refusal = build.admit(PM, "BACK", group=None, workflow=used)
    assert refusal is not None
    assert refusal.code == "UNKNOWN_GROUP"


def test_starting_an_agent_without_a_group_is_refused_but_for_an_investigation() -> None:
    used = build.workflow(build.put(PM, "CONSULT", next_agent=TL, action="spawn"))
    refusal = build.admit(PM, "CONSULT", group=None, workflow=used)
    assert refusal is not None
    assert refusal.code == "UNKNOWN_GROUP"
    assert build.admit(PM, "INVESTIGATION_NEEDED", group=None) is None


@pytest.mark.parametrize(
    ("details", "blockers", "expected"),
    [
        pytest.param({"external": True}, (blocker(),), "DEFERRAL_INCOMPLETE", id="no dependency"),
        pytest.param({"external": True, "external_dependency": ""}, (blocker(),), "DEFERRAL_INCOMPLETE", id="empty"),
        pytest.param({"external": True, "external_dependency": "  "}, (blocker(),), "DEFERRAL_INCOMPLETE", id="blank"),
        pytest.param({"external": True, "external_dependency": 7}, (blocker(),), "DEFERRAL_INCOMPLETE", id="no text"),
        *(
            pytest.param({**EXTERNAL, "external": marked}, (blocker(),), "DEFERRAL_INCOMPLETE", id=f"marked {marked!r}")
            for marked in ("true", "True", "yes", "", 1, 0, 1.0, [True], {})
        ),
        pytest.param({"external": "false"}, (blocker(),), "DEFERRAL_INCOMPLETE", id="a word, and no dependency"),
        pytest.param({"external_dependency": "the vendor"}, (blocker(),), "DEFERRAL_INCOMPLETE", id="not marked"),
        pytest.param({**EXTERNAL, "external": None}, (blocker(),), "DEFERRAL_INCOMPLETE", id="marked with nothing"),
        pytest.param({**EXTERNAL, "external": False}, (blocker(),), None, id="marked as none"),
        pytest.param({"external": None, "external_dependency": None}, (blocker(),), None, id="neither"),
        pytest.param(EXTERNAL, (), "NOTHING_BLOCKED", id="nothing open"),
        pytest.param(EXTERNAL, (blocker(),), None, id="complete"),
        pytest.param(EXTERNAL, (blocker(external=1),), None, id="external already"),
    ],
)
def test_external_guidance_must_be_whole(details: dict[str, Any], blockers: Any, expected: str | None) -> None:
    at = group(awaited_role=TL)
    assert build.code(TL, "UNBLOCKING_GUIDANCE", group=at, details=details, blockers=blockers) == expected


@pytest.mark.parametrize(
    ("at", "blockers", "report", "expected"),
    [
        pytest.param({}, (blocker(external=1),), {"summary": "no key"}, None, id="confirmed, with a summary"),
        pytest.param({}, (blocker(external=1),), {"details": {"reason": "r"}}, None, id="confirmed, reason in details"),
        pytest.param({}, (blocker(external=1),), {"summary": " "}, "REASON_REQUIRED", id="no reason"),
        pytest.param({}, (blocker(external=1),), {"details": {"reason": 5}}, "REASON_REQUIRED", id="no text"),
        pytest.param({}, (blocker(),), {"summary": "s"}, "DEFERRAL_NOT_CONFIRMED", id="not external"),
        pytest.param({}, (), {"summary": "s"}, "DEFERRAL_NOT_CONFIRMED", id="not blocked"),
        pytest.param({"status": "pending"}, (), {"summary": "s"}, "DEFERRAL_NOT_CONFIRMED", id="not started"),
    ],
)
def test_a_deferral_needs_confirmation_and_a_reason(
    at: dict[str, Any], blockers: Any, report: dict[str, Any], expected: str | None
) -> None:
    found = build.code(PM, "DEFER_EXTERNAL", group=group(awaited_role=PM, **at), blockers=blockers, **report)
    assert found == expected


@pytest.mark.parametrize(("open_", "expected"), [(2, None), (3, "CLARIFICATION_LIMIT")], ids=["third", "fourth"])
def test_a_fourth_clarification_without_an_answer_is_refused(open_: int, expected: str | None) -> None:
    assert build.code(PM, "NEEDS_CLARIFICATION", group=None, facts={"clarifications": open_}) == expected


@pytest.mark.parametrize(
    ("open_", "expected"), [((), None), (("A", "B"), "OPEN_GROUPS")], ids=["none", "code groups in progress"]
)
def test_research_ends_a_session_without_open_code_groups(open_: tuple[str, ...], expected: str | None) -> None:
    found = build.admit(PM, "INVESTIGATION_ONLY", group=None, facts={"open_code_groups": open_})
    assert (found and found.code) == expected
    assert found is None or found.data == {"open": ["A", "B"]}


# The order


ENDED = {"session": session(status="ended", testing_mode="full")}


@pytest.mark.parametrize(
    ("more", "expected"),
    [
        pytest.param(ENDED, "SESSION_CLOSED", id="the session first"),
        pytest.param({}, "QUESTION_OPEN", id="then the question"),
        pytest.param({"facts": {}}, "GROUP_CLOSED", id="then the group"),
        pytest.param({"facts": {}, "group": group(awaited_role=QA)}, "STALE_TURN", id="then the turn's number"),
        pytest.param({"facts": {}, "group": group(awaited_role=QA, turn=3)}, "OUT_OF_TURN", id="then the role"),
        pytest.param({"facts": {}, "group": group(awaited_role=TL, turn=3)}, "NOTHING_BLOCKED", id="then the content"),
    ],
)
def test_the_first_thing_that_is_wrong_is_named(more: dict[str, Any], expected: str) -> None:
    everything = {"group": group(status="cancelled"), "facts": {"question_id": "Q"}, "turn": 3, **more}
    assert build.code(TL, "UNBLOCKING_GUIDANCE", **everything) == expected


def test_the_turn_comes_before_the_status() -> None:
    assert unknown(QA, "NONSENSE").code == "OUT_OF_TURN"


def test_a_status_is_found_by_itself_by_an_alias_or_not_at_all() -> None:
    def found(role: str, status: str) -> tuple[str | None, str | None]:
        transition, alias = engine.find(build.shipped(), Report(role, status, role, status))
        return transition and transition.status, alias

    assert found("investigator", "INCOMPLETE") == ("INVESTIGATION_INCOMPLETE", "INCOMPLETE")
    assert found(DEV, "INCOMPLETE") == ("INCOMPLETE", None)
    assert found(QA, "INCOMPLETE") == (None, None)
