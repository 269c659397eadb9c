"""`drive` with the real Claude Code, from a goal to ACCEPT, through everything that may go wrong on the way.

Source: spec 80, sections 5 and 6.
"""

from __future__ import annotations

import json
import pathlib
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.clients import house
from tests.clients.house import GOAL, House, heard, report
from tests.clients.scripted_model import Asked, Model, Said

pytestmark = house.NEEDS_CLIENT

GROUPS = {"groups": [{"id": id, "name": id, "description": "Write names.txt."} for id in ("A", "B", "C")]}
SUBSCRIPTION = {"ANTHROPIC_API_KEY": "", "CLAUDE_CODE_OAUTH_TOKEN": "made-up"}
"""What a client has that can reach a usage limit."""
LIMIT = Said(
    "You have hit it", status=429, error="rate_limit_error",
    headers=(
        ("anthropic-ratelimit-unified-status", "rejected"), ("anthropic-ratelimit-unified-reset", "1"),
        ("anthropic-ratelimit-unified-representative-claim", "five_hour"), ("x-should-retry", "false"),
    ),
)  # fmt: skip

class Team:
    """Agents of three groups: two write the same file, one writes none, and those who build try what is forbidden."""

    def __init__(self, made: House) -> None:
        self.project, self.trees = made.project, made.project / ".orchestrator/worktrees/S1"
        self.works = self.limited = False

    def __call__(self, asked: Asked, place: re.Match[str]) -> Said:
        group, role, action = place[2], place[4], place[5]
        if role == "project_manager":
            return Said(report("PLANNING_COMPLETE", plan=GROUPS) if place[3] == "1" else report("BAZINGA"))
        if role != "developer":
            return Said(report("PASS" if role == "qa_expert" else "APPROVED"))
        if not self.works:
            return Said("Too late.", wait=20.0)
        return self.merges(asked, group) if action == "spawn_merge" else self.builds(asked, group)

    def builds(self, asked: Asked, group: str) -> Said:
        if group == "B" and not self.limited:
            self.limited = True
            return LIMIT
        if group == "C" or "has been denied" in asked.last:
            return Said(report("READY_FOR_QA" if group == "A" else "READY_FOR_REVIEW"))
        commands = f"git -C {self.project} commit --allow-empty -m stolen", "git add names.txt", "git push origin HEAD"
        return Said(calls=(
            ("Write", {"file_path": f"{self.project}/stolen.txt", "content": "x\n"}),
            ("Write", {"file_path": f"{self.trees}/{group}/names.txt", "content": f"{group}\n"}),
            *(("Bash", {"command": each}) for each in commands),
        ))  # fmt: skip

    def merges(self, asked: Asked, group: str) -> Said:
        file = f"{self.trees}/{group}/names.txt"
        if "conflicts: names.txt" not in asked.first or asked.turns == 2:
            return Said(report("MERGE_SUCCESS"))
        both = {"file_path": file, "content": "A\nB\n"}
        return Said(calls=(("Read", {"file_path": file}) if asked.turns == 0 else ("Write", both),))


class Driven(NamedTuple):
    """The house, the model, and what the second driver told."""

    house: House
    model: Model
    told: list[dict[str, Any]]

    def events(self, name: str) -> list[tuple[str | None, str]]:
        """The group and role of each event of a name."""
        return [(each["group_id"], each["role"]) for each in self.told if each["event"] == name]


def developers(model: Model) -> int:
    """How often a developer has asked the model."""
    places = [house.place_of(asked) for asked, _ in model.heard]
    return sum(place is not None and place[4] == "developer" for place in places)


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    """A team whose first driver is killed while three agents are at work."""
    made = House(tmp_path_factory.mktemp("driven"))
    (made.project / ".gitignore").write_text(".orchestrator/\n")
    made.orchestrator("install", "claude-code", "--scope", "project")
    made.git("add", ".")
    made.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Ignore")
    team = Team(made)
    with made.played(worker=team) as model:
        with made.driver("--goal", GOAL, **SUBSCRIPTION) as driver:
            house.until(lambda: developers(model) == 3, "three developers")
            driver.kill()
        team.works = True
        with made.driver(**SUBSCRIPTION) as driver:
            out, _ = driver.communicate(timeout=house.SECONDS)
        yield Driven(made, model, [json.loads(line) for line in out.splitlines()])


def test_a_goal_comes_to_its_verdict_though_the_driver_was_killed(driven: Driven) -> None:
    assert sorted(driven.events("lost")) == [(group, "developer") for group in "ABC"]
    assert (driven.told[-1]["outcome"], driven.told[-1]["next"]) == (
        "accepted", ["git merge orchestrator/S1/_integration"]
    )  # fmt: skip
    assert driven.house.orchestrator("audit", "verify")["ok"] is True
    assert driven.house.orchestrator("audit", "replay", "S1")["equal"] is True


def test_a_usage_limit_is_waited_for_and_the_same_conversation_goes_on(driven: Driven) -> None:
    (limited,) = [each for each in driven.told if each["event"] == "limited"]
    assert (limited["group_id"], limited["role"]) == ("B", "developer")
    (goes_on,) = [asked for asked, _ in driven.model.heard if "The usage limit has been reset" in asked.last]
    assert "B turn" in goes_on.first
    rows = driven.house.orchestrator("audit", "query", "SELECT outcome FROM starts WHERE outcome IS NOT NULL")["rows"]
    assert sorted(outcome for (outcome,) in rows) == ["limited", "lost", "lost", "lost"]


def test_hooks_that_are_committed_leave_a_driven_agent_alone(driven: Driven) -> None:
    assert "orchestrator-hook" in driven.house.git("show", "orchestrator/S1/A:.claude/settings.json")
    rows = driven.house.orchestrator("audit", "query", "SELECT DISTINCT via FROM starts")["rows"]
    assert rows == [["drive"]]
    assert driven.house.orchestrator("audit", "query", "SELECT count(*) FROM adoptions")["rows"] == [[0]]


def test_work_without_a_change_is_asked_for_once(driven: Driven) -> None:
    assert driven.events("sent_back") == [("C", "developer")]


def test_an_agent_reaches_its_own_tree_alone(driven: Driven) -> None:
    refused = heard(driven.model, "has been denied")
    assert len(refused) == 2
    for text in refused:
        assert "requested permissions to write" in text
        assert re.search("git -C .* has been denied", text)
        assert re.search("git push .* has been denied", text)
    assert driven.house.git("status", "--porcelain") == ""
    assert driven.house.git("log", "--format=%s") == "Ignore\nBegin\n"


def test_a_conflict_is_resolved_and_nothing_is_merged_where_there_is_nothing(driven: Driven) -> None:
    assert driven.house.git("show", "orchestrator/S1/_integration:names.txt") == "A\nB\n"
    assert len(heard(driven.model, "<<<<<<<")) == 1
    merged = driven.house.git("log", "--merges", "--format=%s", "orchestrator/S1/_integration").splitlines()
    assert {"Merge A", "Merge B"} <= set(merged)
    assert "Merge C" not in merged
    warned = [each["reason"] for each in driven.told if each["event"] == "warning"]
    assert "C has no commit of its own: nothing_to_merge" in warned


def test_the_client_stops_where_the_budget_is_used_up(tmp_path: pathlib.Path) -> None:
    made = House(tmp_path)
    made.orchestrator("init")

    def looks(asked: Asked, _: re.Match[str]) -> Said:
        return Said(calls=(("Bash", {"command": "git status"}),)) if asked.turns < 3 else Said("Too late.")

    with made.played(worker=looks) as model, made.driver("--goal", GOAL, "--max-cost", "0.0003") as driver:
        out, _ = driver.communicate(timeout=house.SECONDS)
    assert (driver.returncode, json.loads(out.splitlines()[-1])["outcome"]) == (2, "budget")
    # One call costs 0.00024 here: the second one is the one too many.
    assert len(model.heard) == 2
    assert made.orchestrator("audit", "query", "SELECT outcome FROM starts")["rows"] == [["freed"]]
