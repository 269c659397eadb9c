"""Creating groups, their dependencies, and the flag that says security."""

from __future__ import annotations

import itertools
from typing import Any

import pytest

from tests.integration.app.table import SESSION, Table, names


def test_a_group_is_created_once() -> None:
    table = Table("A")
    refusal = table.refusal("group create", id="A", session_id=SESSION, name="other")
    assert (refusal.code, table.row("A", "name")) == ("ALREADY_EXISTS", ("A",))


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param({"depends_on": ("X",)}, "UNKNOWN_GROUP", id="unknown dependency"),
        pytest.param({"depends_on": ("B",)}, "DEPENDENCY_INVALID", id="of itself"),
        pytest.param({"by": "developer"}, "NOT_PERMITTED", id="by a developer"),
        pytest.param({"by": "nobody"}, "UNKNOWN_AGENT", id="by nobody known"),
        pytest.param({"session_id": "S9"}, "UNKNOWN_SESSION", id="in no session"),
    ],
)
def test_a_group_is_not_created(arguments: dict[str, Any], code: str) -> None:
    table = Table("A")
    assert table.refusal("group create", **{"id": "B", "session_id": SESSION, **arguments}).code == code


def test_a_group_is_not_created_in_an_ended_session() -> None:
    table = Table()
    table.says("project_manager", "INVESTIGATION_ONLY")
    assert table.refusal("group create", id="B", session_id=SESSION).code == "SESSION_CLOSED"


@pytest.mark.parametrize(
    ("name", "flag", "warned"),
    [
        ("Author list page", False, False),
        ("Authentic recipes", False, False),
        ("OAuth2 login", False, True),
        ("AUTH", False, True),
        ("payments", True, False),
    ],
)
def test_r13_only_the_flag_changes_the_route_and_a_name_gives_a_warning(name: str, flag: bool, warned: bool) -> None:
    table = Table(plan=True)
    answer = table.group("A", name=name, security_sensitive=flag)
    assert ("warnings" in answer) is warned
    builder = "senior_software_engineer" if flag else "developer"
    assert table.awaited("A") == builder
    table.says(builder, "READY_FOR_QA", "A")
    decision = table.says("qa_expert", "FAIL", "A")
    assert (decision["next_agent"], decision.get("security_override", False)) == (builder, flag)
    assert names(decision) == (["security"] if flag else [])


def test_r13_in_a_security_group_that_nobody_built_yet_the_rule_is_named() -> None:
    table = Table()
    table.group("A", security_sensitive=True)
    decision = table.says("qa_expert", "FAIL", "A")
    assert (decision["next_agent"], names(decision), decision["security_override"]) == (
        "senior_software_engineer", ["security"], True,
    )  # fmt: skip


def test_security_owes_a_review_by_the_tech_lead() -> None:
    table = Table()
    table.group("A", security_sensitive=True)
    table.plan()
    table.says("senior_software_engineer", "READY_FOR_QA", "A")
    assert table.decisions("mandatory_review")[-1] == (1,)


# Dependencies


def depend(table: Table, id: str, on: str, by: str = "project_manager") -> Any:
    return table.do("group depend", id=id, on=on, session_id=SESSION, by=by)


def depend_refused(table: Table, id: str, on: str, by: str = "project_manager") -> Any:
    return table.refusal("group depend", id=id, on=on, session_id=SESSION, by=by)


@pytest.mark.parametrize("order", [(0, 1, 2), (0, 2, 1), (1, 0, 2), (1, 2, 0), (2, 0, 1), (2, 1, 0)], ids=str)
def test_d03_the_edge_that_closes_a_ring_is_refused_in_every_order(order: tuple[int, ...]) -> None:
    table = Table("A", "B", "C")
    edges = [("A", "B"), ("B", "C"), ("C", "A")]
    *first, last = [edges[n] for n in order]
    for edge in first:
        depend(table, *edge)
    refusal = depend_refused(table, *last)
    ring = refusal.data["cycle"]
    assert (refusal.code, ring[0], ring[-1]) == ("DEPENDENCY_CYCLE", last[0], last[0])
    assert set(itertools.pairwise(ring)) == set(edges)


def test_d03_a_long_ring_is_found_without_recursion() -> None:
    table = Table(*(f"G{n}" for n in range(1200)))
    for n in range(1199):
        depend(table, f"G{n}", f"G{n + 1}")
    assert len(depend_refused(table, "G1199", "G0").data["cycle"]) == 1201


@pytest.mark.parametrize(
    ("id_", "on", "by", "code"),
    [
        pytest.param("A", "A", "project_manager", "DEPENDENCY_INVALID", id="of itself"),
        pytest.param("A", "X", "project_manager", "UNKNOWN_GROUP", id="on no group"),
        pytest.param("X", "A", "project_manager", "UNKNOWN_GROUP", id="of no group"),
        pytest.param("B", "A", "project_manager", "ALREADY_EXISTS", id="twice"),
        pytest.param("A", "C", "developer", "NOT_PERMITTED", id="by a developer"),
        pytest.param("A", "C", "user", "HUMAN_REQUIRED", id="by a person's name"),
        pytest.param("D", "A", "project_manager", "GROUP_CLOSED", id="of a closed group"),
    ],
)
def test_a_dependency_is_not_added(id_: str, on: str, by: str, code: str) -> None:
    table = Table("A", "B", "C", "D")
    depend(table, "B", "A")
    table.move("D", "cancelled")
    assert depend_refused(table, id_, on, by).code == code


def undepend(table: Table, reason: str = "not needed after all", by: str = "project_manager", on: str = "A") -> Any:
    return {"id": "B", "on": on, "session_id": SESSION, "by": by, "reason": reason}


@pytest.mark.parametrize("closed", ["cancelled", "deferred_external"])
def test_a_dependency_on_what_will_not_come_may_be_dropped_and_the_group_starts(closed: str) -> None:
    table = Table("A", plan=True)
    table.group("B", depends_on=("A",))
    table.defer("A") if closed == "deferred_external" else table.move("A", closed)
    answer = table.do("group undepend", **undepend(table))
    assert (answer["followed_by"][0]["groups_to_spawn"], table.running()) == (["B"], ["B"])
    assert table.rows("SELECT removed_by, removed_reason FROM group_dependencies") == [
        ("project_manager", "not needed after all")
    ]


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        pytest.param({}, "DEPENDENCY_INVALID", id="on an open group"),
        pytest.param({"on": "C"}, "UNKNOWN_ID", id="that does not exist"),
        pytest.param({"by": "developer"}, "NOT_PERMITTED", id="by a developer"),
    ],
)
def test_a_dependency_is_not_dropped(arguments: dict[str, str], code: str) -> None:
    table = Table("A", "C")
    table.group("B", depends_on=("A",))
    assert table.refusal("group undepend", **undepend(table, **arguments)).code == code


def test_dropping_a_dependency_needs_a_reason() -> None:
    table = Table("A")
    table.group("B", depends_on=("A",))
    table.move("A", "cancelled")
    assert table.refusal("group undepend", **undepend(table, reason=" ")).code == "REASON_REQUIRED"


def test_a_group_that_a_dropped_dependency_was_all_that_it_missed_is_completed() -> None:
    table = Table("A", plan=True)
    table.complete("A")
    table.group("B", depends_on=("A",))
    table.move("A", "in_progress")
    table.complete("B")
    assert (table.status("B"), table.awaited("B")) == ("in_progress", "project_manager")
    table.move("A", "cancelled")
    table.do("group undepend", **undepend(table))
    assert table.status("B") == "completed"
