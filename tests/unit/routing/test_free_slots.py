"""Free slots, the phase check, and never waiting for nobody."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.core.routing import blocking, free_slots
from orchestrator.core.routing.free_slots import Board
from tests.unit.routing import build
from tests.unit.routing.build import pending, session

DEV, SSE, RE, TL, PM = (
    "developer", "senior_software_engineer", "requirements_engineer", "tech_lead", "project_manager",
)  # fmt: skip
EMPTY = Board(
    limit=4, running=0, research_running=0, held=0, startable=(), pending=False, open_others=False,
    person_awaited=False, manager_called=False, session_awaits=None,
)  # fmt: skip


def board(**values: Any) -> Board:
    return EMPTY._replace(**values)


def groups(count: int, kind: str = "code", letter: str = "G") -> tuple[Any, ...]:
    return tuple(pending(id=f"{letter}{n}", kind=kind) for n in range(count))


def started(used: Board, at: Any = build.SESSION) -> list[str]:
    return [start.group.id for start in free_slots.batch(build.shipped(), at, used)]


@pytest.mark.parametrize(
    ("mode", "expected"), [pytest.param("parallel", 4, id="parallel"), pytest.param("simple", 1, id="simple")]
)
def test_the_limit_is_the_plan_transitions(mode: str, expected: int) -> None:
    assert free_slots.limit(build.shipped(), session(mode=mode)) == expected


@pytest.mark.parametrize(
    ("running", "held", "waiting", "expected"),
    [
        pytest.param(0, 0, 6, 4, id="all free"),
        pytest.param(3, 0, 6, 1, id="one free"),
        pytest.param(4, 0, 6, 0, id="none free"),
        pytest.param(5, 0, 6, 0, id="more than the limit"),
        pytest.param(1, 2, 6, 1, id="held groups come first"),
        pytest.param(2, 5, 6, 0, id="held groups take all"),
        pytest.param(0, 0, 2, 2, id="fewer than free"),
        pytest.param(0, 0, 0, 0, id="nothing pending"),
    ],
)
def test_a_batch_fills_the_slots_that_are_free(running: int, held: int, waiting: int, expected: int) -> None:
    used = board(running=running, held=held, startable=groups(waiting))
    assert started(used) == [f"G{n}" for n in range(expected)]


@pytest.mark.parametrize(
    "values",
    [pytest.param({"planned": 0}, id="before planning"), pytest.param({"status": "paused"}, id="while paused")],
)
def test_nothing_starts(values: dict[str, Any]) -> None:
    assert started(board(startable=groups(2)), session(**values)) == []


@pytest.mark.parametrize(
    ("running", "expected"),
    [
        pytest.param(0, ["R0", "R1", "G0"], id="two of three"),
        pytest.param(1, ["R0", "G0"], id="one of three"),
        pytest.param(2, ["G0"], id="none of three"),
        pytest.param(3, ["G0"], id="over its limit"),
    ],
)
def test_research_has_a_limit_of_its_own(running: int, expected: list[str]) -> None:
    used = board(research_running=running, startable=(*groups(3, "research", "R"), *groups(1)))
    assert started(used) == expected


@pytest.mark.parametrize(
    ("values", "role", "reasons"),
    [
        pytest.param({}, DEV, (), id="plain"),
        pytest.param({"complexity": 6}, DEV, (), id="complexity 6"),
        pytest.param({"complexity": 7}, SSE, ("complexity: group G has complexity 7",), id="complexity 7"),
        pytest.param({"complexity": 10}, SSE, ("complexity: group G has complexity 10",), id="complexity 10"),
        pytest.param({"security_sensitive": 1}, SSE, ("security: group G is security-sensitive",), id="security"),
        pytest.param({"kind": "research"}, RE, ("research: group G is research",), id="research"),
        pytest.param({"kind": "research", "security_sensitive": 1}, RE, ("research: group G is research",),
                     id="research and security"),
    ],
)  # fmt: skip
def test_each_group_gets_its_agent(values: dict[str, Any], role: str, reasons: tuple[str, ...]) -> None:
    (start,) = free_slots.batch(build.shipped(), build.SESSION, board(startable=(pending(**values),)))
    assert (start.role, start.reasons) == (role, reasons)


@pytest.mark.parametrize(
    ("values", "disabled", "fallback", "expected"),
    [
        pytest.param({}, (DEV,), None, TL, id="else the tech lead"),
        pytest.param({}, (DEV,), SSE, SSE, id="the plan transition's fallback"),
        pytest.param({}, (DEV, SSE), SSE, TL, id="which may be disabled too"),
        pytest.param({"security_sensitive": 1}, (SSE,), DEV, TL, id="never a developer for security"),
        pytest.param({}, (DEV, TL), None, PM, id="at last the project manager"),
    ],
)
def test_a_batch_does_without_disabled_roles(
    values: dict[str, Any], disabled: tuple[str, ...], fallback: str | None, expected: str
) -> None:
    used = build.workflow(build.put(PM, "PLANNING_COMPLETE", fallback_agent=fallback))
    (start,) = free_slots.batch(used, session(disabled_roles=disabled), board(startable=(pending(**values),)))
    assert (start.role, start.reasons[-1].partition(":")[0]) == (expected, "fallback")


def test_without_a_plan_transition_the_tech_lead_replaces_a_disabled_role() -> None:
    used = build.workflow(lambda made: made[PM].pop("PLANNING_COMPLETE"))
    (start,) = free_slots.batch(used, session(disabled_roles=(DEV,)), board(startable=(pending(),)))
    assert start.role == TL


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({"senior": 1}, SSE, id="the senior engineer has it"),
        pytest.param({"kind": "research", "senior": 1}, SSE, id="research of the senior engineer"),
        pytest.param({"builder_role": RE}, RE, id="who built it last"),
    ],
)
def test_who_builds_a_group(values: dict[str, Any], expected: str) -> None:
    assert blocking.builder(build.shipped(), pending(**values)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, None, id="nobody at all"),
        pytest.param({"pending": True}, None, id="pending groups wait for nobody"),
        pytest.param({"running": 4, "pending": True}, "all_slots_busy", id="all slots run"),
        pytest.param({"running": 3, "held": 1, "pending": True}, "all_slots_busy", id="all slots run or are held"),
        pytest.param({"running": 1, "pending": True}, "waiting_on_dependencies", id="dependencies"),
        pytest.param({"running": 1}, "groups_running", id="nothing pending"),
        pytest.param({"person_awaited": True}, "person_awaited", id="a person"),
        pytest.param({"person_awaited": True, "pending": True}, "waiting_on_dependencies", id="a person and pending"),
    ],
)
def test_waiting_has_its_reason(values: dict[str, Any], expected: str | None) -> None:
    assert free_slots.why_nothing(board(**values)) == expected


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        pytest.param({}, True, id="nobody"),
        pytest.param({"pending": True}, True, id="pending only"),
        pytest.param({"running": 1}, False, id="an agent"),
        pytest.param({"held": 1}, False, id="a held group"),
        pytest.param({"person_awaited": True}, False, id="a person"),
        pytest.param({"manager_called": True}, False, id="the manager for a group"),
        pytest.param({"session_awaits": "validator"}, False, id="the validator"),
    ],
)
def test_a_session_stalls_where_nobody_is_awaited(values: dict[str, Any], expected: bool) -> None:
    assert free_slots.stalled(board(**values)) is expected


KINDS = ("completed", "deferred_external", "cancelled", "awaiting_confirmation", "in_progress", "pending")


@pytest.mark.parametrize(
    ("present", "expected"),
    [
        pytest.param(KINDS[:4], "complete", id="all in sets that are fine"),
        pytest.param((), "complete", id="no group"),
        pytest.param(("completed", "in_progress"), "attention", id="one in progress"),
        pytest.param(("completed", "pending"), "attention", id="one pending"),
    ],
)
def test_a_phase_is_complete_when_every_group_is_fine(present: tuple[str, ...], expected: str) -> None:
    kinds: dict[str, list[dict[str, Any]]] = {name: [{"group_id": "G"}] if name in present else [] for name in KINDS}
    assert free_slots.phase(kinds) == expected


@pytest.mark.parametrize(
    ("awaited", "held", "expected"),
    [
        pytest.param(DEV, None, True, id="an agent works"),
        pytest.param(DEV, "slot", False, id="held"),
        pytest.param(PM, None, False, id="the project manager"),
        pytest.param("user", None, False, id="a person"),
        pytest.param(None, None, False, id="nobody"),
    ],
)
def test_a_group_runs_while_an_agent_works_on_it(awaited: str | None, held: str | None, expected: bool) -> None:
    assert build.group(awaited_role=awaited, held=held).running is expected
