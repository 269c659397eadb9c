"""No command is offered that would be refused: every one that is printed is played, in hundreds of states."""

from __future__ import annotations

import pytest

from orchestrator import testing
from orchestrator.app.kernel import human, operations
from orchestrator.core.suggestions import reword
from orchestrator.doors import python
from orchestrator.doors.mcp import suggested_calls
from orchestrator.errors import OrchestratorError
from tests.acceptance import offered, walking
from tests.acceptance.offered import OTHER, TaskWalk
from tests.acceptance.walking import SESSION, Op, Walk
from tests.conftest import LONG
from tests.unit.doors import test_mcp_wording
from tests.unit.doors.test_python_wording import called

STATES = 20
WALKS = 12 if LONG else 1
"""How many states of a walk are looked at."""


def step(walk: Walk) -> tuple[str, object]:
    """One step of a walk, with what it was answered."""
    op = walk._next()
    walk.trace.append(op)
    walk.context.credential = human.Credential(human.TERMINAL) if op.words in walking.PERSONS else None
    try:
        return op.line(), operations.call(walk.context, op.words, **op.arguments)
    except OrchestratorError as problem:
        return f"{problem.code} of {op.line()}", {"suggestion": problem.suggestion}
    finally:
        walk.context.credential = None


def told(found: list[offered.Fault], trace: list[Op]) -> str:
    """What is wrong, and the batch that leads there."""
    lines = [f"{each.command}\n  of {each.source}\n  {each.code}: {each.message}" for each in found]
    return walking.counterexample(lines, trace)


def hold(walk: Walk | TaskWalk, answered: tuple[str, object]) -> None:
    """Hold what every door tells in a state against what there is at that door.

    At the command line every command is played; over MCP every call is one that its tool takes, and no command is left;
    in Python every call is one that its method takes.
    """
    found = offered.faults(walk.context, (answered,))
    assert not found, told(found, walk.trace)
    for _, answer in (*offered.answers(walk.context), answered):
        if isinstance(answer, dict):
            test_mcp_wording.offered(test_mcp_wording.without_role(reword(answer, suggested_calls.worded)))
            for text in test_mcp_wording.texts(reword(answer, python.call.worded)):
                called(text)


@pytest.mark.parametrize("seed", range(WALKS))
def test_of_groups(seed: int) -> None:
    walk = Walk(seed)
    assert walking.perform(walk.context, Op("session create", {"id": OTHER})) is None
    for _ in range(STATES):
        if walk.context.require_session(SESSION).status == "ended":
            break
        hold(walk, step(walk))
    verdict = operations.call(walk.context, "validate", session_id=SESSION, dry_run=True)
    hold(walk, ("validate", verdict))


@pytest.mark.parametrize("seed", range(WALKS))
def test_of_tasks(seed: int) -> None:
    walk = TaskWalk(seed)
    for number in range(2 * STATES):
        answered = walk.step()
        if number % 3 == 0:
            hold(walk, answered)


class TestWhatIsPlayed:
    def test_are_the_commands_of_every_answer(self) -> None:
        walk = TaskWalk(0)
        told = {command for _, answer in offered.answers(walk.context) for command in offered.commands(answer)}
        played = {command for command in told if not offered.is_template(command)}
        assert "orchestrator handoff A --turn 4 --session-id S1" in played
        assert any(each.startswith("orchestrator next --session-id S1 --agent-id dev-1") for each in played)

    def test_finds_one_that_is_refused_and_leaves_the_state(self) -> None:
        context = testing.memory_context()
        assert walking.perform(context, Op("session create", {"id": SESSION})) is None
        before = context.connection.serialize()
        command = "orchestrator group set-status X9 completed --session-id S1 --by project_manager --reason TEXT"
        (found,) = offered.faults(context, (("test", {"suggestion": f"Call `{command}`"}),))
        assert (found.command, found.code) == (command, "UNKNOWN_GROUP")
        assert context.connection.serialize() == before

    @pytest.mark.parametrize(
        ("command", "expected"),
        [
            ("orchestrator task claim T1 --agent-id AGENT", True),
            ("orchestrator group undepend A --on GROUP --reason TEXT", True),
            ("orchestrator group create", True),
            ("orchestrator answer S1:Q1 --decision revise --note TEXT", False),
        ],
    )
    def test_is_no_template(self, command: str, expected: bool) -> None:
        assert offered.is_template(command) is expected
