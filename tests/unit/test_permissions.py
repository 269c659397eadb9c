"""Who may lift a block and who may move a task: every row of the table, over a forest with instances."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core import permissions
from orchestrator.core.permissions import Block, Standing

USER = Standing("user", "user", "human", 1, None, None)
PM = Standing("project_manager", "project_manager", "ai", 1, None, None, ("user",))
TL = Standing("tech_lead", "tech_lead", "ai", 1, None, None, ("project_manager", "user"))
_ABOVE = ("tech_lead", "project_manager", "user")
DEV = Standing("developer", "developer", "ai", 1, None, None, _ABOVE)
DEV_1 = Standing("dev-1", "developer", "ai", 1, None, None, ("developer", *_ABOVE))
QA = Standing("qa_expert", "qa_expert", "ai", 1, None, None, _ABOVE)
ROUTER = Standing("system:router", "system:router", "system", 1, None, None)


def instance(role: str, session: str, group: str | None, *above: str) -> Standing:
    place = f"{role}@{session}" + (f":{group}" if group else "")
    return Standing(place, role, "ai", 1, session, group, (role, *above))


TL_A = instance("tech_lead", "S1", "A", "project_manager", "user")
TL_B = instance("tech_lead", "S1", "B", "project_manager", "user")
DEV_A = instance("developer", "S1", "A", *_ABOVE)
DEV_A2 = DEV_A._replace(id="developer@S1:A-2")
DEV_B = instance("developer", "S1", "B", *_ABOVE)
DEV_OTHER = instance("developer", "S2", "A", *_ABOVE)
PM_S1 = instance("project_manager", "S1", None, "user")
PM_S2 = instance("project_manager", "S2", None, "user")

ABOVE = [
    ("a parent", DEV, DEV_1, True),
    ("a grandparent", TL, DEV_1, True),
    ("the top", PM, DEV_1, True),
    ("a person at the top", USER, DEV_1, True),
    ("itself", DEV_1, DEV_1, False),
    ("a child", DEV_1, DEV, False),
    ("another branch", QA, DEV_1, False),
    ("an instance of the lead over one of the developer", TL_A, DEV_A, True),
    ("the other way round", DEV_A, TL_A, False),
    ("an instance in another group", TL_A, DEV_B, False),
    ("an instance in another session", TL_A, DEV_OTHER, False),
    ("a role agent over an instance of its own role", DEV, DEV_A, True),
    ("an instance over its own role agent", DEV_A, DEV, False),
    ("two instances of one role", DEV_A, DEV_A2, False),
    ("a role agent reaches everywhere", TL, DEV_OTHER, True),
    ("an instance of the lead over who acts without instance", TL_A, DEV_1, True),
    ("an instance of the manager over any group of its session", PM_S1, DEV_B, True),
    ("an instance of the manager over the lead's", PM_S1, TL_A, True),
    ("an instance of the manager in another session", PM_S2, DEV_A, False),
    ("an instance of an equal", DEV_A, DEV_1, True),
]


@pytest.mark.parametrize(("one", "other", "above"), [row[1:] for row in ABOVE], ids=[row[0] for row in ABOVE])
def test_one_agent_stands_above_another(one: Standing, other: Standing, above: bool) -> None:
    assert above == permissions.is_above(one, other)


def block(opener: Standing | None, severity: str = "soft") -> Block:
    type_ = "manual" if severity == "soft" else "missing_dependency"
    return Block("B1", type_, severity, "no data", opener and opener.id, "2026", "manual")


LIFTS = [
    ("nobody on record", DEV_1, None, "soft", True),
    ("itself", DEV_1, DEV_1, "soft", True),
    ("a child", DEV, DEV_1, "soft", True),
    ("a descendant", PM, DEV_1, "soft", True),
    ("an ancestor", DEV_1, DEV, "soft", False),
    ("another branch", QA, DEV_1, "soft", False),
    ("a person", DEV_1, USER, "soft", False),
    ("a person, for who stands below", PM, USER, "soft", False),
    ("the system", PM, ROUTER, "soft", False),
    ("itself, hard", DEV_1, DEV_1, "hard", False),
    ("a descendant, hard", PM, DEV_1, "hard", False),
    ("nobody on record, hard", PM, None, "hard", False),
    ("an instance itself", DEV_A, DEV_A, "soft", True),
    ("a second instance", DEV_A2, DEV_A, "soft", False),
    ("its role's agent", DEV_A, DEV, "soft", False),
]


@pytest.mark.parametrize(
    ("requester", "opener", "severity", "may"), [row[1:] for row in LIFTS], ids=[row[0] for row in LIFTS]
)
def test_a_block_is_lifted_by_who_may(requester: Standing, opener: Standing | None, severity: str, may: bool) -> None:
    answer = permissions.lift(requester, block(opener, severity), opener, person=False)
    assert answer.allowed == may
    assert answer.legacy == (may and opener is None)
    assert bool(answer.why and answer.may) == (not may)


@pytest.mark.parametrize("severity", ["soft", "hard"])
@pytest.mark.parametrize("opener", [None, USER, ROUTER, DEV_1, PM], ids=lambda each: each.id if each else "nobody")
def test_a_person_may_always_lift(opener: Standing | None, severity: str) -> None:
    assert permissions.lift(USER, block(opener, severity), opener, person=True) == permissions.YES


WHY = [
    (DEV_1, DEV, "developer stands above dev-1"),
    (QA, DEV_1, "dev-1 stands neither at nor below qa_expert"),
    (DEV_1, USER, "user is a person"),
    (PM, ROUTER, "system:router is the system"),
]


@pytest.mark.parametrize(("requester", "opener", "why"), WHY, ids=[row[2] for row in WHY])
def test_a_refusal_says_why(requester: Standing, opener: Standing, why: str) -> None:
    assert permissions.lift(requester, block(opener), opener, person=False).why == why


def test_a_refusal_says_who_may() -> None:
    person, system = permissions.A_PERSON, permissions.THE_SYSTEM
    may = [
        permissions.lift(QA, block(opener, severity), opener, person=False).may
        for opener, severity in ((DEV_1, "soft"), (USER, "soft"), (ROUTER, "soft"), (DEV_1, "hard"))
    ]
    below = ("dev-1", "developer", "tech_lead", "project_manager", person)
    assert may == [below, (person,), (system, person), (person,)]


MOVES = [
    ("the assignee", DEV_1, DEV_1, "dev-1", False, True),
    ("an ancestor of the assignee", TL, DEV_1, "dev-1", False, True),
    ("a descendant of the assignee", DEV_1, DEV, "developer", False, False),
    ("another branch", QA, DEV_1, "dev-1", False, False),
    ("an instance of the assignee", DEV_A, DEV, "developer", False, True),
    ("who created what nobody has", TL, TL, None, False, True),
    ("another one, of what nobody has", QA, TL, None, False, False),
    ("whoever starts what nobody has", QA, TL, None, True, True),
    ("whoever starts what another has", QA, DEV_1, "dev-1", True, False),
    ("anybody where nobody is on record", QA, None, None, False, True),
]


@pytest.mark.parametrize(
    ("requester", "owner", "assignee", "starts", "may"), [row[1:] for row in MOVES], ids=[row[0] for row in MOVES]
)
def test_a_task_is_moved_by_who_may(
    requester: Standing, owner: Standing | None, assignee: str | None, starts: bool, may: bool
) -> None:
    answer = permissions.move(requester, owner, assignee, person=False, starts=starts)
    assert (answer.allowed, bool(answer.why)) == (may, not may)


def test_a_person_may_move_any_task() -> None:
    assert permissions.move(USER, DEV_1, "dev-1", person=True).allowed


def test_what_hard_blocks_a_task_is_overruled_by_the_manager_and_people() -> None:
    found = [permissions.may_cancel(each, person=each.kind == "human") for each in (PM, PM_S1, USER, TL, DEV_1)]
    assert found == [True, True, True, False, False]


_forest = st.lists(st.integers(0, 9), min_size=2, max_size=10)


@given(_forest, st.integers(0, 9), st.integers(0, 9))
def test_nobody_lifts_what_who_stands_above_has_opened(parents: list[int], one: int, other: int) -> None:
    """Parents have smaller numbers, so that it is a forest; each agent's way up is walked by hand."""

    def agent(number: int) -> Standing:
        way, here = [], number
        while 0 < here < len(parents):
            here = parents[here] % here
            way.append(f"a{here}")
        return Standing(f"a{number}", "developer", "ai", 1, None, None, tuple(way))

    requester, opener = agent(one % len(parents)), agent(other % len(parents))
    may = permissions.lift(requester, block(opener), opener, person=False).allowed
    assert may == (requester.id == opener.id or requester.id in opener.above)
    assert not (permissions.is_above(requester, opener) and permissions.is_above(opener, requester))


def test_only_who_is_in_service_is_named() -> None:
    opener = DEV_1._replace(active=0, gone=("developer",))
    block = Block("B", "manual", "soft", "r", "dev-1", "t", "manual")
    expected = ("tech_lead", "project_manager", permissions.A_PERSON)
    assert permissions.lift(QA, block, opener, person=False).may == expected
    assert permissions.move(QA, opener, "dev-1", person=False).may == expected
