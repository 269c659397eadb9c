"""The real Claude Code in one conversation of many turns: in print mode, and at a terminal.

Source: spec 80, sections 4 and 6.
"""

from __future__ import annotations

import contextlib
import fcntl
import json
import os
import pty
import re
import struct
import termios
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import NamedTuple

import pytest

from tests.clients import house
from tests.clients.house import House, heard, place_of, report, start
from tests.clients.scripted_model import Asked, Model, Said
from tests.conftest import long_form

pytestmark = [*house.NEEDS_CLIENT, long_form]


class Talk(NamedTuple):
    """The house and what the model heard."""

    house: House
    model: Model


# Messages, stopped agents, nested agents, --strict


class Meddler:
    """A main agent that edits files, starts a helper, writes to agents, and stops one of them."""

    def __init__(self, made: House) -> None:
        self.file, self.stopped = str(made.project / "x.txt"), threading.Event()

    def __call__(self, asked: Asked) -> Said:
        if asked.turns == 0:
            return Said(calls=(("Write", {"file_path": self.file, "content": "x"}), start("general-purpose", "Help."),
                               start("project_manager", "Plan.")))  # fmt: skip
        if asked.turns == 1:
            (manager,) = re.findall(r"agentId: (\w+)", asked.last)
            return Said(calls=(message(manager),))
        if asked.turns == 2:
            lines = dict.fromkeys(re.findall(r"\[orchestrator S1 [AB] turn \d+ developer spawn\]", asked.last))
            return Said(calls=tuple(start("developer", line, background=True) for line in lines))
        if asked.turns == 3:
            one, other = re.findall(r"agentId: (\w+)", asked.last)
            return Said(calls=(message(one), ("TaskStop", {"task_id": other})))
        self.stopped.set()
        return Said("That is all.")

    def works(self, _: Asked, place: re.Match[str]) -> Said:
        if place[4] == "project_manager":
            return Said(report("PLANNING_COMPLETE", plan=house.PLAN))
        return Said(report("READY_FOR_QA"), after=self.stopped)


def message(agent: str) -> tuple[str, dict[str, str]]:
    """A call that writes to an agent."""
    return "SendMessage", {"to": agent, "message": "Say more.", "summary": "more"}


@pytest.fixture(scope="module")
def meddled(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A client that is strict and takes on one of two open sessions by its name."""
    made = House(tmp_path_factory.mktemp("meddled"))
    made.orchestrator("install", "claude-code", "--strict")
    for session in ("S1", "S2"):
        made.orchestrator("session", "create", session, "--goal", house.GOAL)
    meddler = Meddler(made)
    with made.played(meddler, meddler.works) as model:
        made.claude("/orchestrate S1")
        yield Talk(made, model)


def test_orchestrate_takes_on_the_session_that_is_named(meddled: Talk) -> None:
    rows = meddled.house.orchestrator("audit", "query", "SELECT session_id FROM adoptions")["rows"]
    assert rows == [["S1"]]
    assert "<goal>\nS1\n</goal>" in meddled.model.heard[0][0].first


def test_a_strict_main_agent_neither_edits_nor_lets_others_build(meddled: Talk) -> None:
    (told,) = heard(meddled.model, "You direct session S1; its agents do the work")
    assert told.count("You direct session S1; its agents do the work") == 2
    assert not (meddled.house.project / "x.txt").exists()
    assert not [asked for asked, _ in meddled.model.heard if "Help." in asked.first and asked.turns == 0]


def test_a_message_reaches_an_agent_while_its_turn_is_open_alone(meddled: Talk) -> None:
    assert heard(meddled.model, "Turn 1 of project_manager is over; a message to its agent has no effect")
    assert heard(meddled.model, "Message queued for delivery")
    (again,) = [asked for asked, _ in meddled.model.heard if "Say more." in asked.last and place_of(asked)]
    assert again.turns == 1
    decided = meddled.house.orchestrator("audit", "decisions", "-s", "S1", "--limit", "100")["decisions"]
    assert [each["response_status"] for each in decided].count("READY_FOR_QA") == 1


def test_an_agent_that_was_stopped_is_due_again(meddled: Talk) -> None:
    assert heard(meddled.model, "<status>killed</status>")
    sql = "SELECT outcome, reason FROM starts WHERE outcome IS NOT NULL"
    rows = meddled.house.orchestrator("audit", "query", sql)["rows"]
    assert rows == [["failed", "the client says that its agent was killed"]]
    roles = sorted(each["agent"] for each in meddled.house.orchestrator("status", "S1")["spawns"])
    assert roles == ["developer", "qa_expert"]


# At a terminal


PROMPT = "\N{HEAVY RIGHT-POINTING ANGLE QUOTATION MARK ORNAMENT}".encode()
"""What the client draws where a user may type."""


class Terminal:
    """The client at a terminal of its own, on which a user types."""

    def __init__(self, made: House, *words: str) -> None:
        self.process, self._terminal = pty.fork()
        if not self.process:
            os.chdir(made.project)
            os.execve(house.PROGRAM, ["claude", *words], made.environment(TERM="xterm-256color"))  # noqa: S606
        fcntl.ioctl(self._terminal, termios.TIOCSWINSZ, struct.pack("HHHH", 50, 160, 0, 0))
        self._drawn = b""
        self._reader = threading.Thread(target=self._read)
        self._reader.start()
        house.until(lambda: PROMPT in self._drawn, "the client's prompt")

    def _read(self) -> None:
        with contextlib.suppress(OSError):
            while drawn := os.read(self._terminal, 65536):
                self._drawn += drawn

    def type(self, text: str) -> None:
        """Type a line; the client takes a key that comes with others for pasted text."""
        os.write(self._terminal, text.encode())
        time.sleep(0.5)
        os.write(self._terminal, b"\r")

    def ends(self) -> int:
        """The status with which it ends."""
        house.until(lambda: self._ended(), "the client ends")
        self._reader.join()
        os.close(self._terminal)
        return self.status

    def _ended(self) -> bool:
        process, self.status = os.waitpid(self.process, os.WNOHANG)
        return process != 0


@contextmanager
def at_terminal(made: House, *words: str) -> Iterator[Terminal]:
    """The client at a terminal, which is left at the end."""
    terminal = Terminal(made, *words)
    try:
        yield terminal
        terminal.type("/exit")
    except BaseException:
        os.kill(terminal.process, 9)
        raise
    finally:
        terminal.ends()


def listens(asked: Asked) -> Said:
    """A main agent that starts the manager once, and then only answers."""
    if asked.turns == 0 and "# Orchestrate" in asked.last:
        return Said(calls=(start("project_manager", "Plan it."),))
    return Said("<summary>It was talked.</summary>" if "<summary>" in asked.last else "That is all.")


@pytest.fixture(scope="module")
def typed(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Talk]:
    """A user who takes on a session, compacts and forgets the conversation, leaves, and comes back."""
    made = House(tmp_path_factory.mktemp("typed"))
    made.orchestrator("install", "claude-code")
    made.orchestrator("session", "create", "S1", "--goal", house.GOAL)
    trusted = {str(made.project): {"hasTrustDialogAccepted": True, "hasCompletedProjectOnboarding": True}}
    known = {"hasCompletedOnboarding": True, "customApiKeyResponses": {"approved": ["made-up"], "rejected": []}}
    (made.home / ".claude.json").write_text(json.dumps({**known, "projects": trusted}))
    made.orchestrator("install", "claude-code", "--session", "S1")
    with made.played(listens) as model:
        with at_terminal(made) as terminal:
            house.until(lambda: len(clients(made)) == 2, "the session is taken on")
            terminal.type("/orchestrate")
            house.until(lambda: heard(model, "start developer on A"), "the plan")
            terminal.type("/compact")
            house.until(lambda: heard(model, "<summary>"), "the compaction")
            asks(terminal, model, "One?")
            terminal.type("/clear")
            house.until(lambda: len(clients(made)) == 4, "the next conversation takes it on")
            asks(terminal, model, "Two?")
        with at_terminal(made, "--continue") as terminal:
            asks(terminal, model, "Three?")
        yield Talk(made, model)


def asks(terminal: Terminal, model: Model, words: str) -> None:
    """Type words, and wait until the model has heard them; what is drawn anew may swallow a key."""
    terminal.type(words)
    house.until(lambda: heard(model, re.escape(words)), words)


def clients(made: House) -> list[str | None]:
    """The clients that took on a session, in their order."""
    return [row[0] for row in made.orchestrator("audit", "query", "SELECT client FROM adoptions ORDER BY seq")["rows"]]


def test_an_agent_at_a_terminal_hands_its_report_back(typed: Talk) -> None:
    (manager,) = [asked for asked, _ in typed.model.heard if place_of(asked)]
    assert house.HANDING_BACK in manager.tools
    decided = typed.house.orchestrator("audit", "decisions", "-s", "S1")["decisions"]
    assert [each["response_status"] for each in decided] == ["SESSION", "PLANNING_COMPLETE"]
    assert typed.house.orchestrator("audit", "refusals", "-s", "S1")["refusals"] == []


@pytest.mark.parametrize(("forgotten", "then"), [("<summary>", "One?"), ("One?", "Two?")], ids=["compact", "clear"])
def test_what_a_conversation_forgets_is_told_again(typed: Talk, forgotten: str, then: str) -> None:
    said = [asked.last for asked, _ in typed.model.heard]
    (end,) = [number for number, text in enumerate(said) if then in text]
    begin = max(number for number, text in enumerate(said[:end]) if forgotten in text)
    assert any("you direct session S1" in text for text in said[begin + 1 : end + 1])


def test_the_conversation_after_clear_directs_the_session_and_goes_on(typed: Talk) -> None:
    first, second = [each for each in clients(typed.house) if each]
    assert first != second
    (third,) = [asked for asked, _ in typed.model.heard if "Three?" in asked.last]
    assert third.turns >= 1
