"""Nobody is ever left waiting for nobody: long random walks, and every short way through small sessions."""

from __future__ import annotations

import pathlib

import pytest

from tests.acceptance import exploring, walking
from tests.acceptance.exploring import Setting
from tests.conftest import LONG

WALKS, STEPS = (2000, 100) if LONG else (24, 60)
STATES = 20_000 if LONG else 40
BLOCKS = 8


@pytest.mark.parametrize("block", range(BLOCKS))
def test_a_random_walk_meets_no_stall_and_no_broken_rule(block: int) -> None:
    for seed in range(block, WALKS, BLOCKS):
        walk = walking.Walk(seed)
        found = walk.go(STEPS)
        assert not found, f"seed {seed}: {walking.counterexample(found, walk.trace)}"


def test_the_walks_go_somewhere() -> None:
    """Walks prove nothing if they are refused at every step, or never come to what they look for."""
    codes: list[str | None] = []
    statuses: set[str] = set()
    answers: set[str] = set()
    for seed in range(24):
        walk = walking.Walk(seed)
        walk.go(STEPS)
        codes += walk.codes
        statuses |= {row[0] for row in walk.context.connection.execute("SELECT to_status FROM status_changes")}
        answers |= {row[0] for row in walk.context.connection.execute("SELECT answer FROM questions")}
    assert {"continue", "abandon"} <= answers
    assert codes.count(None) > len(codes) / 4
    assert {"in_progress", "completed", "cancelled", "paused"} <= statuses
    assert {"OUT_OF_TURN", "GROUP_CLOSED", "COMPLETION_PATH_MISSING", "UNKNOWN_STATUS", "STALE_TURN"} <= set(codes)


SETTINGS = (
    Setting("one group", ({"id": "A"},)),
    Setting("one group before the plan", ({"id": "A"},), planned=False),
    Setting("one research group", ({"id": "A", "kind": "research"},)),
    Setting("one secure group without an investigator", ({"id": "A", "security_sensitive": True},),
            testing_mode="minimal", disabled=("investigator",)),
    Setting("one group under the tightest limits", ({"id": "A"},), threshold=1, visits=2),
    Setting("two groups on one slot", ({"id": "A"}, {"id": "B"}), slots=1),
    Setting("two groups on two slots", ({"id": "A"}, {"id": "B"})),
    Setting("one group that depends on the other", ({"id": "A"}, {"id": "B", "depends_on": ("A",)})),
    Setting("two groups on one slot under the tightest limits", ({"id": "A"}, {"id": "B"}),
            slots=1, threshold=1, visits=2),
    Setting("three groups of three kinds on two slots", (
        {"id": "A"}, {"id": "B", "depends_on": ("A",)}, {"id": "C", "kind": "research"})),
)


@pytest.mark.slow
@pytest.mark.parametrize("setting", SETTINGS, ids=lambda setting: setting.name)
def test_every_state_awaits_somebody_and_leads_to_an_end(setting: Setting, tmp_path: pathlib.Path) -> None:
    context = exploring.begin(setting, tmp_path)

    found = exploring.search(context, setting, states=STATES)

    assert not found.wrong, walking.counterexample(found.wrong[0][1], found.trace(found.wrong[0][0]))
    assert len(found.came) >= STATES or not found.rest
    stuck = exploring.dead_ends(context, found)
    assert not stuck, stuck[0]


def test_a_search_finds_what_is_wrong_and_prints_the_way_there(tmp_path: pathlib.Path) -> None:
    """The search is only worth its time if it would find something: here a group that is made to wait for nobody."""
    context = exploring.begin(SETTINGS[0], tmp_path)
    context.connection.execute(
        "CREATE TRIGGER forget AFTER UPDATE OF awaited_role ON task_groups WHEN NEW.awaited_role = 'qa_expert'"
        " BEGIN UPDATE task_groups SET awaited_role = NULL WHERE session_id = NEW.session_id AND id = NEW.id; END"
    )

    found = exploring.search(context, SETTINGS[0], states=50)

    key, wrong = found.wrong[0]
    assert "group A is in progress and waits for nobody" in wrong
    text = walking.counterexample(wrong, found.trace(key))
    assert text.splitlines()[-2] == walking.report("developer", "READY_FOR_QA", "A").line()
