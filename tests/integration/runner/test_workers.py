"""Processes that answer questions side by side: in order, without those that are gone, and none is left behind."""

from __future__ import annotations

import signal
import subprocess
import sys
import threading
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator.runner import process_tree, workers

_ANSWERS = """
import os, sys, time
for line in sys.stdin:
    if line == "die\\n":
        sys.stdout.write("half"), sys.stdout.flush(), os._exit(1)
    print(os.getpid() if line != "wait\\n" else time.sleep(60), line, end="", flush=True)
"""
PROGRAM = (sys.executable, "-c", _ANSWERS)


def nothing(_: int) -> None:
    pass


def words(found: list[bytes | None]) -> list[str | None]:
    return [each and each.decode().split()[1] for each in found]


def test_answers_come_in_the_order_of_the_questions_and_are_counted() -> None:
    questions, counted = [f"q{number}" for number in range(20)], []
    found = workers.answers(PROGRAM, [each.encode() for each in questions], 2, counted.append)
    assert words(found) == questions
    assert sorted(counted)[-1] == 20
    assert len({each.split()[0] for each in found if each}) <= 2


def test_what_a_dying_process_was_asked_stays_unanswered() -> None:
    assert words(workers.answers(PROGRAM, [b"die", b"a", b"b"], 2, nothing)) in ([None, "a", "b"], [None, None, None])
    assert words(workers.answers(PROGRAM, [b"a", b"die", b"b"], 1, nothing)) == ["a", None, None]


@pytest.mark.parametrize(
    "command",
    [
        pytest.param(("/nowhere/at/all",), id="no program"),
        pytest.param((sys.executable, "-c", "raise SystemExit(1)"), id="one that fails"),
    ],
)
def test_what_cannot_be_started_answers_nothing(command: tuple[str, ...]) -> None:
    assert workers.answers(command, [b"a", b"b"], 2, nothing) == [None, None]


@pytest.mark.parametrize("place", [1, 2])
def test_an_interrupt_leaves_no_process_and_no_thread(monkeypatch: pytest.MonkeyPatch, place: int) -> None:
    """Whether it comes while all are asked, or while the second one is started."""
    before, started, main = threading.active_count(), [], threading.get_ident()
    popen = subprocess.Popen

    def noted(*given: Any, **named: Any) -> subprocess.Popen[bytes]:
        started.append(popen(*given, **named))
        return started[-1]

    def family(begin: Callable[[], subprocess.Popen[bytes]], token: str) -> tuple[subprocess.Popen[bytes], Any]:
        found = start(begin, token)
        if len(started) == place == 2:
            raise KeyboardInterrupt
        return found

    start = process_tree.start
    monkeypatch.setattr(process_tree, "start", family)
    monkeypatch.setattr(subprocess, "Popen", noted)
    questions = [b"wait"] * 2 if place == 2 else [b"a", b"wait"]
    with pytest.raises(KeyboardInterrupt):
        workers.answers(PROGRAM, questions, place, lambda _: signal.pthread_kill(main, signal.SIGINT))
    assert [process.returncode for process in started] == [-signal.SIGKILL] * place
    assert threading.active_count() == before
