"""What holds for every decision, whatever the facts."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.routing import engine, free_slots, rules
from orchestrator.core.routing.facts import PERSON, SPAWNING, Case, Path
from orchestrator.core.workflow import vocabulary
from tests.unit.routing import build

ROLES = tuple(role for role in vocabulary.ROLES if role not in ("orchestrator", "validator"))
DISABLED = ("developer", "senior_software_engineer", "qa_expert", "investigator", "requirements_engineer")
KEYS = sorted(build.shipped().transitions)

small = st.integers(0, 12)
flag = st.integers(0, 1)


@st.composite
def groups(draw: st.DrawFn) -> Any:
    return build.group(
        status=draw(st.sampled_from(["pending", "in_progress", "deferred_external"])),
        kind=draw(st.sampled_from(["code", "research"])),
        security_sensitive=draw(flag),
        senior=draw(flag),
        complexity=draw(st.integers(1, 10)),
        qa_attempts=draw(small),
        tl_review_attempts=draw(small),
        merge_attempts=draw(small),
        iterations=draw(small),
        builder_role=draw(st.sampled_from([None, "developer", "senior_software_engineer", "requirements_engineer"])),
        awaited_role=draw(st.sampled_from([*ROLES, None])),
        awaited_action=draw(st.sampled_from(["spawn", "respawn", "spawn_merge"])),
        turn=draw(st.integers(1, 9)),
        held=draw(st.sampled_from([None, None, "slot"])),
    )


blockers = st.builds(
    lambda id_, external, role, cause: build.blocker(
        f"B{id_}", external=external, opened_role=role, opened_by=role and f"{role}@S1:G", cause=cause
    ),
    small, flag, st.sampled_from([*ROLES, None]), st.sampled_from(["report", "manual"]),
)  # fmt: skip
details = st.sampled_from([{}, {"external": True, "external_dependency": "the vendor"}, {"external": "true"}])
paths = st.builds(Path, approved=st.booleans(), merged=st.booleans(), valid=st.booleans())
sessions = st.builds(
    build.session,
    testing_mode=st.sampled_from(["full", "minimal", "disabled"]),
    status=st.sampled_from(["active", "paused", "ended"]),
    disabled_roles=st.lists(st.sampled_from(DISABLED), unique=True).map(tuple),
    turn=st.sampled_from([None, 4]),
)


@st.composite
def reports(draw: st.DrawFn) -> dict[str, Any]:
    """What `build.case` takes: small enough to be shown where a property fails."""
    role, status = draw(st.sampled_from(KEYS))
    return dict(  # noqa: C408 - the names of parameters
        role=role,
        status=status,
        group=draw(st.none() | groups()),
        session=draw(sessions),
        path=draw(paths),
        blockers=draw(st.lists(blockers, max_size=3)),
        facts={
            "visits": draw(small),
            "question_id": draw(st.sampled_from([None, None, "Q1"])),
            "open_dependencies": draw(st.sampled_from([(), (), ("X",)])),
            "refusal": draw(st.sampled_from([None, "UNKNOWN_STATUS"])),
            "manager_turns": draw(st.sampled_from([(), (4,)])),
        },
        details=draw(details),
        summary=draw(st.sampled_from(["", "why"])),
        turn=draw(st.sampled_from([None, None, 4])),
        interrupt=draw(st.booleans()),
        review_reason=draw(st.sampled_from([None, None, "look"])),
    )


def admitted(case: Case) -> bool:
    return engine.admit(case, case.workflow, case.facts, case.report) is None


def spawned(case: Case) -> set[str | None]:
    decision = engine.decide(case)
    targets = (decision.target, decision.postponed)
    return {target.agent for target in targets if target and target.action != "spawn_batch"}


@given(reports())
def test_deciding_is_total_and_always_the_same(report: dict[str, Any]) -> None:
    case = build.case(**report)
    assert engine.decide(case) == engine.decide(case)


@given(reports())
def test_admission_is_total_and_always_the_same(report: dict[str, Any]) -> None:
    case = build.case(**report)
    first = engine.admit(case, case.workflow, case.facts, case.report)
    assert first == engine.admit(case, case.workflow, case.facts, case.report)
    assert first is None or (first.code.isupper() and bool(first.message) and bool(first.suggestion))


@given(reports())
def test_a_security_group_never_gets_a_developer(report: dict[str, Any]) -> None:
    case = build.case(**report)
    secured = case.group is not None and case.group.security_sensitive
    assert not (secured and "developer" in spawned(case))


@given(reports())
def test_what_the_senior_engineer_has_never_goes_to_a_developer(report: dict[str, Any]) -> None:
    case = build.case(**report)
    kept = case.group is not None and case.group.senior
    assert not (kept and "developer" in spawned(case))


@given(reports())
def test_research_is_never_merged(report: dict[str, Any]) -> None:
    case = build.case(**report)
    decision = engine.decide(case)
    research = case.group is not None and case.group.kind == "research"
    assert not (research and decision.target.action == "spawn_merge")


@given(reports())
def test_a_disabled_role_is_never_started(report: dict[str, Any]) -> None:
    case = build.case(**report)
    assert not spawned(case) & set(case.session.disabled_roles)


@given(reports())
def test_a_rule_is_named_whenever_somebody_else_acts_than_the_transition_says(report: dict[str, Any]) -> None:
    case = build.case(**report)
    decision, transition = engine.decide(case), case.transition
    asks = transition.action == "pause_for_user"
    same = (decision.target.agent, decision.target.action) == (transition.next_agent, transition.action)
    assert same or asks or decision.rules


@given(reports())
def test_an_admitted_report_has_somebody_to_go_to(report: dict[str, Any]) -> None:
    """Whoever is named is a role or a person, never a placeholder, and every order to start names somebody."""
    case = build.case(**report)
    decision = engine.decide(case)
    known = {*ROLES, PERSON, None}
    if admitted(case):
        assert decision.target.agent in known
        assert (decision.target.action in SPAWNING) == (decision.target.agent not in (None, PERSON))


@given(reports())
def test_a_question_is_asked_exactly_where_a_person_is_to_act(report: dict[str, Any]) -> None:
    case = build.case(**report)
    decision = engine.decide(case)
    assert (decision.question is not None) == (decision.target.action == "pause_for_user")


COUNTED = [("qa_expert", "FAIL", "qa_attempts"), ("tech_lead", "CHANGES_REQUESTED", "tl_review_attempts")]


@given(st.sampled_from(COUNTED), small, small, small, small)
def test_more_failures_and_more_repetitions_never_lower_the_rung(
    counted: tuple[str, str, str], failures: int, more_failures: int, visits: int, more_visits: int
) -> None:
    role, status, counter = counted

    def height(failed: int, visited: int) -> int:
        made = build.case(role, status, group=build.group(**{counter: failed}), facts={"visits": visited})
        return rules.height(made, engine.decide(made).target)

    assert height(failures, visits) <= height(failures + more_failures, visits + more_visits)


boards = st.builds(
    free_slots.Board,
    limit=st.integers(1, 5),
    running=st.integers(0, 6),
    research_running=st.integers(0, 3),
    held=st.integers(0, 3),
    startable=st.lists(groups(), max_size=8).map(tuple),
    pending=st.booleans(),
    open_others=st.booleans(),
    person_awaited=st.booleans(),
    manager_called=st.booleans(),
    session_awaits=st.none(),
)


@given(boards, sessions)
def test_a_batch_never_takes_more_slots_than_are_free(board: free_slots.Board, session: Any) -> None:
    starts = free_slots.batch(build.shipped(), session, board)
    research = sum(start.group.kind == "research" for start in starts)
    assert not starts or board.running + board.held + len(starts) <= board.limit
    assert not research or board.research_running + research <= 2


@given(boards, sessions)
def test_a_batch_starts_no_developer_on_security_and_no_disabled_role(board: free_slots.Board, session: Any) -> None:
    for start in free_slots.batch(build.shipped(), session, board):
        assert start.role not in session.disabled_roles
        assert not (start.group.security_sensitive and start.role == "developer")


@given(boards)
def test_a_reason_to_wait_is_given_only_where_somebody_is_at_work(board: free_slots.Board) -> None:
    assert (free_slots.why_nothing(board) is not None) == bool(board.running or board.person_awaited)
