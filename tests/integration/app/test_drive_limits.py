"""`drive` at usage limits and with a budget of money, and the Claude Code program as the executor of a turn."""

from __future__ import annotations

import datetime
import json
import pathlib
import sys
from typing import Any

import pytest

from orchestrator.app import starts
from orchestrator.app.driving import drive
from orchestrator.app.kernel import operations
from orchestrator.app.reports import limits
from orchestrator.errors import UsageError
from orchestrator.runner import port, process
from orchestrator.runner.executors.claude_code import ClaudeCode
from tests.cases import every
from tests.integration.app.test_drive import BUILT, REST, Team, planned

NOON = datetime.datetime(2026, 3, 1, 12, 0, tzinfo=datetime.UTC).timestamp()
HIT = "You've hit your session limit · resets "
LIMITED = {"role": "developer", "status": "ERROR", "error": f"USAGE_LIMIT: {HIT}12pm (UTC)"}


@pytest.fixture
def team(tmp_path: pathlib.Path) -> Team:
    (tmp_path / "project").mkdir()
    return Team(tmp_path / "project")


WAITS: list[Any] = [
    (HIT + "3pm (UTC)", None, 0, 3 * 3600 + 60),
    (HIT + "3pm (Europe/Warsaw)", None, 0, 2 * 3600 + 60),
    (HIT + "1:31am (UTC)", None, 0, 13 * 3600 + 31 * 60 + 60),
    (HIT + "12am (UTC)", None, 0, 12 * 3600 + 60),
    (HIT + "15:30 (UTC)", None, 0, 3.5 * 3600 + 60),
    (HIT + "99pm (UTC)", None, 0, 60),
    ("limit reached", int(NOON) + 600, 0, 660),
    ("limit reached", int(NOON) - 600, 0, 60),
    ("limit reached", int(NOON) + 10**6, 0, 24 * 3600),
    *[("limit reached", None, before, wait) for before, wait in enumerate((60, 300, 900, 1800, 1800))],
]


@every(("said", "resets_at", "before", "wait"), WAITS)
def test_it_is_waited_until_a_minute_after_the_reset(
    said: str, resets_at: int | None, before: int, wait: float
) -> None:
    assert limits.wait_s(said, resets_at, NOON, before) == wait


def test_a_limit_is_no_answer_and_no_failure_and_the_conversation_goes_on_after_it(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(team)
    monkeypatch.setattr(limits, "wait_s", lambda said, at, now, before: 0.5 + before)
    assert team.drive(LIMITED, LIMITED, BUILT, *REST)["outcome"] == "accepted"
    assert team.told("limited", "failed") == ["limited", "limited"]
    ended = team.rows("SELECT outcome, due_at IS NOT NULL FROM starts WHERE ended_seq IS NOT NULL")
    assert ended == [("limited", 1)] * 2
    prompts = [row[0] for row in team.rows("SELECT prompt FROM turn_runs ORDER BY created_seq LIMIT 3")]
    assert [each.startswith("The usage limit has been reset") for each in prompts] == [False, True, True]


def test_who_does_not_want_to_wait_ends_at_a_limit(team: Team) -> None:
    planned(team)
    ended = team.drive(LIMITED, no_wait=True)
    assert (ended["outcome"], ended["exit_code"], ended["steps"]) == ("limited", 2, 1)


def test_a_driver_that_is_started_again_waits_for_the_limit_that_another_had_reached(team: Team) -> None:
    planned(team)
    team.drive(LIMITED, no_wait=True)
    (spawn,) = team.desk.call("status", session_id="S1")["spawns"]
    assert spawn["limited"]["due_at"] == "2025-01-01T12:01:00.000000Z"
    assert "session limit" in spawn["limited"]["reason"]
    team.events.clear()
    again = team.drive(BUILT, *REST, no_wait=True)
    assert (again["outcome"], again["steps"], team.told("waiting")) == ("limited", 0, ["waiting"])
    # Another executor has no limit, and after the reset there is none.
    agent = team.program("print('STATUS: READY_FOR_QA')")
    assert team.drive(executor=agent, no_wait=True, once=True)["steps"] == 1


def test_after_the_reset_nothing_is_waited_for(team: Team) -> None:
    planned(team)
    team.drive(LIMITED, no_wait=True)
    team.desk.clock.minutes = 12 * 60 + 2
    (spawn,) = team.desk.call("status", session_id="S1")["spawns"]
    assert "limited" not in spawn
    assert team.drive(BUILT, *REST, no_wait=True)["outcome"] == "accepted"
    # Whoever drives then, the conversation goes on where the limit broke it off.
    first, second = (row[0] for row in team.rows("SELECT prompt FROM turn_runs ORDER BY created_seq LIMIT 2"))
    assert (first.startswith("[orchestrator S1 A"), second.startswith("The usage limit has been reset")) == (True, True)


def test_another_executor_begins_a_conversation_of_its_own_after_a_limit(team: Team) -> None:
    planned(team)
    team.drive(LIMITED, no_wait=True)
    team.drive(executor=team.program("print('STATUS: READY_FOR_QA')"), once=True)
    prompts = [row[0] for row in team.rows("SELECT prompt FROM turn_runs ORDER BY created_seq")]
    assert [each.startswith("[orchestrator S1 A") for each in prompts] == [True, True]


def test_money_is_a_budget(team: Team) -> None:
    planned(team)
    costly = {**BUILT, "usage": {"cost_microusd": 2_500_000}}
    assert team.drive(costly, *REST, max_cost="2.50")["outcome"] == "budget"
    assert team.drive(*REST, max_cost="2.51", once=True)["steps"] == 1
    with pytest.raises(UsageError):
        team.drive(*REST, max_cost="much")


def test_a_turn_that_has_used_up_the_budget_is_open_again_and_not_failed(team: Team) -> None:
    planned(team)
    spent = {"role": "developer", "status": "ERROR", "error": "BUDGET_EXHAUSTED: Reached maximum budget ($1)"}
    ended = team.drive(spent, BUILT, *REST, max_cost="2.50")
    assert (ended["outcome"], ended["exit_code"], ended["steps"], team.told("failed")) == ("budget", 2, 1, [])
    assert team.rows("SELECT outcome FROM starts") == [("freed",)]
    assert team.drive(BUILT, *REST, max_cost="3")["outcome"] == "accepted"


RESULT = {"type": "result", "subtype": "success", "is_error": False, "permission_denials": []}
CLAUDE = """
import json, pathlib, sys
pathlib.Path(sys.argv[0] + ".argv").write_text(json.dumps(sys.argv[1:]))
session = sys.argv[sys.argv.index("--resume" if "--resume" in sys.argv else "--session-id") + 1]
for event in json.loads(pathlib.Path(sys.argv[0] + ".events").read_text()):
    print(json.dumps({**event, "session_id": session}))
"""


def claude(team: Team, *events: dict[str, Any]) -> tuple[ClaudeCode, pathlib.Path]:
    """The program with a stream that it prints, and where it leaves its arguments."""
    program = team.folder.parent / "claude"
    program.write_text(f"#!{sys.executable}\n{CLAUDE}")
    program.chmod(0o755)
    pathlib.Path(f"{program}.events").write_text(json.dumps(events))
    return ClaudeCode(str(program), {"PATH": "/usr/bin:/bin"}), pathlib.Path(f"{program}.argv")


def task(team: Team, **more: Any) -> port.ExecutorTask:
    given = {"role": "developer", "group": "A", "writes": True, "commands": ("make test",), **more}
    limit = process.Limits(executor_timeout_ms=20_000, progress_timeout_ms=20_000)
    folder = str(team.folder)
    return port.ExecutorTask("turn-1", "S1", "Build it.", "IMPLEMENTATION", folder, "opus", limit, None, **given)


def test_the_program_gets_exact_tools_and_permissions_that_hold_for_its_own_tree(team: Team) -> None:
    program, told = claude(team, {**RESULT, "result": "STATUS: READY_FOR_QA", "total_cost_usd": 0.00024})
    first = program.execute(task(team))
    argv = json.loads(told.read_text())
    assert argv[argv.index("--tools") + 1] == "Read,Glob,Grep,Bash,Edit,Write"
    assert argv[argv.index("--permission-mode") + 1] == "acceptEdits"
    allowed = argv[argv.index("--allowedTools") + 1].split(",")
    assert {"Bash(git commit *)", "Bash(make test)"} <= set(allowed)
    assert not {"Edit", "Write", "Bash", "Bash(git *)"} & set(allowed)
    assert json.loads(argv[argv.index("--settings") + 1]) == {"disableAllHooks": True}
    assert (first.status, first.cost) == ("COMPLETE", 240)
    program.execute(task(team, conversation=first.conversation, role="tech_lead", writes=False))
    again = json.loads(told.read_text())
    assert again[again.index("--resume") + 1] == first.conversation
    assert again[again.index("--tools") + 1] == "Read,Glob,Grep,Bash"
    assert "Bash(git commit *)" not in again[again.index("--allowedTools") + 1]


def test_the_program_is_told_what_is_left_of_the_budget_and_what_it_says_of_it(
    team: Team, monkeypatch: pytest.MonkeyPatch
) -> None:
    planned(team)
    team.drive({"role": "developer", "status": "ERROR", "error": "x", "usage": {"cost_microusd": 1_250_000}}, once=True)
    denied = [{"tool_name": "Bash", "tool_input": {}}]
    over = {**RESULT, "subtype": "error_max_budget_usd", "is_error": True, "errors": ["Reached maximum budget ($1)"],
            "permission_denials": denied, "total_cost_usd": 1.3}  # fmt: skip
    program, told = claude(team, over)
    monkeypatch.setattr(drive.crews.catalogue, "chosen", lambda *_: program)
    ended = team.drive(executor="claude-code", max_cost="2.50")
    argv = json.loads(told.read_text())
    assert argv[argv.index("--max-budget-usd") + 1] == "1.250000"
    assert (ended["outcome"], ended["steps"]) == ("budget", 1)
    assert team.rows("SELECT outcome, reason FROM starts ORDER BY seq DESC LIMIT 1") == [
        ("freed", "The executor reported an error: BUDGET_EXHAUSTED: Reached maximum budget ($1)")
    ]
    team.drive(executor="claude-code", once=True)
    assert "--max-budget-usd" not in json.loads(told.read_text())


def test_a_limit_is_known_by_the_event_that_refuses(team: Team) -> None:
    refused = {**RESULT, "is_error": True, "result": f"{HIT}11:53pm (UTC)", "api_error_status": 429}
    event = {"type": "rate_limit_event", "rate_limit_info": {"status": "rejected", "resetsAt": 1_800_000_000}}
    found = claude(team, event, refused)[0].execute(task(team))
    assert (str(found.error).partition(":")[0], found.resets_at) == ("USAGE_LIMIT", 1_800_000_000)
    event["rate_limit_info"] = {"status": "allowed", "resetsAt": 1_800_000_000}
    assert claude(team, event, {**RESULT, "result": "x"})[0].execute(task(team)).resets_at is None


def test_the_last_result_that_holds_a_report_counts(team: Team, monkeypatch: pytest.MonkeyPatch) -> None:
    planned(team)
    report = {**RESULT, "result": "Built.\n\nSTATUS: READY_FOR_QA"}
    program, _ = claude(team, report, {**RESULT, "result": "Good, the helper is finished."})
    monkeypatch.setattr(drive.crews.catalogue, "chosen", lambda *_: program)
    assert team.drive(executor="claude-code", once=True)["steps"] == 1
    ((status,),) = team.rows("SELECT response_status FROM agent_reports WHERE role = 'developer'")
    assert status == "READY_FOR_QA"


def test_what_driven_turns_used_is_summed_by_role_and_group(team: Team) -> None:
    planned(team)
    used = {"input_tokens": 10, "output_tokens": 4, "cost_microusd": 1_250_000, "duration_ms": 1500}
    team.drive({**BUILT, "usage": used}, {**REST[0], "usage": used}, *REST[1:])
    found = team.desk.call("audit stats", session_id="S1")["stats"]["driven"]
    whole = {"runs": 5, "seconds": 3, "input_tokens": 20, "output_tokens": 8, "cost_usd": "2.500000"}
    assert {name: found[name] for name in whole} == whole
    parts = {(each["role"], each["group_id"]): (each["runs"], each["cost_usd"]) for each in found["by_role_and_group"]}
    assert parts["developer", "A"] == (2, "1.250000")
    assert parts["project_manager", None] == (1, "0.000000")


def test_starts_of_every_kind_are_counted_with_the_time_that_they_took(team: Team) -> None:
    planned(team)
    given: dict[str, Any] = {"session_id": "S1", "group_id": "A", "turn": team.turn(), "client": "c"}
    start = operations.ask(team.desk.context, starts.ReserveStart(**given, via="hook"))["start"]
    team.desk.clock.minutes += 2
    starts.end(team.desk.context, start, outcome=starts.FAILED, reason="it died")
    operations.ask(team.desk.context, starts.ReserveStart(**given, via="mcp"))
    team.desk.clock.minutes += 3
    found = team.desk.call("audit stats", session_id="S1")["stats"]["starts"]
    parts = [(each["role"], each["group_id"], each["via"], each["outcomes"], each["seconds"])
             for each in found["by_role_and_group"]]  # fmt: skip
    assert parts == [
        ("developer", "A", "hook", {"failed": 1}, 120), ("developer", "A", "mcp", {"open": 1}, 180),
    ]  # fmt: skip
    team.desk.report("developer READY_FOR_QA", "A", interrupt=True)
    team.desk.clock.minutes += 1
    (group,) = (each for each in team.desk.call("audit stats", session_id="S1")["stats"]["starts"]["by_role_and_group"]
                if each["via"] == "mcp")  # fmt: skip
    assert (group["outcomes"], group["seconds"]) == ({"answered": 1}, 180)
