"""Doing what `next` says, to the letter: the command in its sentence, taken apart and called."""

from __future__ import annotations

import re
import shlex
from typing import Any

from tests.integration.tasks.board import Board

DOING = {
    "get_task", "work", "execute_subtask", "start_subtask", "unblock_and_continue", "report_completion",
    "completion_check", "needs_decision", "dependency_deadlock", "dispatch",
}  # fmt: skip
"""Actions that the asker can take at once."""
_PLACES = {"task set-status": ("id", "status")}


def parse(command: str) -> tuple[str, dict[str, Any]]:
    """The operation and the arguments of a command that stands in a sentence."""
    words = shlex.split(command)[1:]
    size = 1 if words[0] in ("next", "answer") else 2
    operation, rest = " ".join(words[:size]), words[size:]
    places = list(_PLACES.get(operation, ("id",)))
    given: dict[str, Any] = {}
    while rest:
        word = rest.pop(0)
        if word.startswith("--"):
            given[word.removeprefix("--").replace("-", "_")] = rest.pop(0)
        else:
            given[places.pop(0)] = word
    return operation, given


def commands(answer: dict[str, Any]) -> list[tuple[str, dict[str, Any]]]:
    """The commands of an instruction, those that only ask anew left out."""
    found = [parse(text) for text in re.findall(r"`(orchestrator [^`]*)`", answer["instruction"])]
    return [each for each in found if each[0] != "next"]


def obey(board: Board, answer: dict[str, Any]) -> bool:
    """Do what an answer says; whether there was something to do. A refusal is raised."""
    if answer["action"] not in DOING:
        return False
    todo = commands(answer)
    for words, given in todo:
        board.call(words, **given)
    return bool(todo)


def run(board: Board, agents: list[str], rounds: int = 400) -> bool:
    """Let agents in turn do what they are told, until nobody is told anything; whether that was reached."""
    for _ in range(rounds):
        if not any(_turn(board, agent) for agent in agents):
            return True
    return False


def _turn(board: Board, agent: str) -> bool:
    answer = board.next(agent)
    if obey(board, answer):
        return True
    meanwhile = re.search(r"Meanwhile (\S+) is yours", answer["instruction"])
    return meanwhile is not None and obey(board, board.next(agent, meanwhile[1]))
