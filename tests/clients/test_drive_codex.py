"""`drive` with the real Codex as developer: its conversation, its sandbox, its usage and its limits.

Source: spec 80, sections 4 to 6.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest

from tests.clients import house
from tests.clients.house import GOAL, House, place_of, report
from tests.clients.scripted_model import Asked, Model, Said
from tests.conftest import long_form

pytestmark = [*house.NEEDS_CODEX, long_form]

PLAN = {"groups": [{"id": "A", "name": "Names", "description": "Write names.txt."}]}
LIMIT = Said("You have hit it", status=429, error="usage_limit_reached")


class Driven(NamedTuple):
    """The house, the model, what the drivers told, and the trusted hooks that ran by hand and in driven turns."""

    house: House
    model: Model
    told: list[dict[str, Any]]
    hooks_run: tuple[str, str]


class Team:
    """A developer of Codex, who tries what is forbidden and forgets the report once; the others are of Claude Code."""

    def __init__(self, made: House) -> None:
        self.project, self.merges = made.project, 0

    def __call__(self, asked: Asked, place: re.Match[str]) -> Said:
        role, action = place[4], place[5]
        if role == "project_manager":
            return Said(report("PLANNING_COMPLETE", plan=PLAN) if place[3] == "1" else report("BAZINGA"))
        if role == "tech_lead":
            return Said(report("APPROVED"))
        if action == "spawn_merge":
            self.merges += 1
            return LIMIT if self.merges == 1 else Said(report("MERGE_SUCCESS"))
        if asked.turns == 0:
            commands = (
                "echo A > names.txt", f"echo x > {self.project}/stolen.txt",
                f"git -C {self.project} commit --allow-empty -m stolen", "env | grep ORCHESTRATOR_",
            )  # fmt: skip
            return Said(calls=tuple(("exec_command", {"cmd": each}) for each in commands))
        return Said("It is written." if asked.turns == 1 else report("READY_FOR_REVIEW"))


@pytest.fixture(scope="module")
def driven(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Driven]:
    made = House(tmp_path_factory.mktemp("codex"))
    (made.project / ".gitignore").write_text(".orchestrator/\n")
    made.git("add", ".")
    made.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Ignore")
    made.orchestrator("init")
    hooks = made.home / "hooked.txt"
    (made.home / ".codex").mkdir()
    hook = {"hooks": [{"type": "command", "command": f"echo hooked >> '{hooks}'", "timeout": 10}]}
    own = {"hooks": {event: [hook] for event in ("SessionStart", "PreToolUse", "Stop")}}
    (made.home / ".codex/hooks.json").write_text(json.dumps(own))
    with made.played(worker=Team(made)) as model:
        made.has_codex()
        made.codex("Say hello.")
        hooked = hooks.read_text() if hooks.exists() else ""
        hooks.unlink(missing_ok=True)
        with made.driver("--goal", GOAL, "--role", "developer=codex", OPENAI_API_KEY="made-up") as driver:
            out, _ = driver.communicate(timeout=house.SECONDS)
        hooks_run = hooked, hooks.read_text() if hooks.exists() else ""
        yield Driven(made, model, [json.loads(line) for line in out.splitlines()], hooks_run)


def developer(driven: Driven) -> list[Asked]:
    """What the developer was asked until the work was handed on."""
    places = ((place_of(asked), asked) for asked, _ in driven.model.heard)
    return [asked for place, asked in places if place and (place[4], place[5]) == ("developer", "spawn")]


def test_a_goal_comes_to_its_verdict(driven: Driven) -> None:
    assert driven.told[-1]["outcome"] == "accepted"
    assert driven.house.git("show", "orchestrator/S1/_integration:names.txt") == "A\n"
    executors = {each["role"]: each["executor"] for each in driven.told if each["event"] == "started"}
    assert executors == {"project_manager": "claude-code", "developer": "codex", "tech_lead": "claude-code"}


def test_an_answer_without_a_report_is_asked_for_one_in_the_same_conversation(driven: Driven) -> None:
    assert [each["role"] for each in driven.told if each["event"] == "sent_back"] == ["developer"]
    first, *_, last = developer(driven)
    assert "Statuses that you may report" in last.last
    assert last.first == first.first


def test_a_developer_reaches_its_own_tree_alone(driven: Driven) -> None:
    told = developer(driven)[1].last
    assert told.count("Read-only file system") == 2
    assert "ORCHESTRATOR_START=S1:A:" in told
    assert "ORCHESTRATOR_AGENT=developer@S1:A" in told
    assert driven.house.git("status", "--porcelain") == ""
    assert driven.house.git("log", "--format=%s") == "Ignore\nBegin\n"


def test_hooks_of_the_user_run_by_hand_and_not_in_driven_turns(driven: Driven) -> None:
    assert driven.hooks_run == ("hooked\n" * 2, "")


def test_a_usage_limit_is_waited_for_and_the_same_conversation_goes_on(driven: Driven) -> None:
    (limited,) = [each for each in driven.told if each["event"] == "limited"]
    assert (limited["role"], limited["reason"].partition(":")[0]) == ("developer", "USAGE_LIMIT")
    (goes_on,) = [asked for asked, _ in driven.model.heard if "The usage limit has been reset" in asked.last]
    assert "developer spawn_merge]" in goes_on.first


def test_each_run_counts_its_own_tokens_though_codex_counts_those_of_the_conversation(driven: Driven) -> None:
    sql = "SELECT usage FROM turn_runs WHERE executor = 'codex' AND state = 'answered' ORDER BY id"
    rows = driven.house.orchestrator("audit", "query", sql)["rows"]
    assert [json.loads(usage)["input_tokens"] for (usage,) in rows] == [20, 10, 10]
