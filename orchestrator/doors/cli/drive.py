"""`drive`: a team that runs by itself, with one line for each thing that happens, or on a terminal a live table."""

from __future__ import annotations

import contextlib
import gc
import sys

from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.doors.cli import drive_board, invoke, options, output
from orchestrator.doors.cli.options import Given, Result
from orchestrator.doors.cli.repl import flags
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.text.layout import visible
from orchestrator.errors import EXIT_NEGATIVE
from orchestrator.hints import Any

Answer = dict[str, Any]


def _drive(given: Given) -> Result:
    """Run the team; Ctrl-C lets what runs end, a second one cancels it."""
    if flags.forbidden(given):
        return Result({}, exit_code=EXIT_NEGATIVE, printed=True)
    from orchestrator.app.driving import drive

    # A long life needs what a short one does without.
    gc.enable()
    asks = given.arguments.get("check") or given.arguments.get("clean")
    board = drive_board.Board(given) if drive_board.is_drawn(given) and not asks else None
    teller = Teller(json=given.json, board=board)
    with Interrupts(forgives=False) as interrupts, interrupts.shielded():

        def wants() -> int:
            if interrupts.cancels:
                return drive.CANCEL
            if interrupts.leaving:
                teller.stopping()
            return drive.START_NONE if interrupts.leaving else drive.GO_ON

        watcher = drive.Watcher(teller.tell, wants)

        def call(context: Context, words: str, **arguments: Any) -> Answer:
            teller.db = context.path
            return drive.drive(context, Drive(**arguments), watcher)

        with board.open() if board is not None else contextlib.nullcontext():
            found = invoke.operation("drive", given, call)
    if "checks" in found.answer:
        return found._replace(text=_checks(found.answer))
    if given.json:
        return found
    if "removed" in found.answer:
        return found._replace(text=cleaned(found.answer))
    return found._replace(text="\n".join(ended(found.answer)))


STOPPING = "Stopping: running turns may finish. Press Ctrl-C again to cancel them."


class Teller:
    """Tells events as they happen: a line each, an object each with `--json`, on a terminal in one live region."""

    def __init__(self, *, json: bool, board: drive_board.Board | None = None) -> None:
        self._json, self._board = json, board
        self._stops = False
        self.db: str | None = None

    def stopping(self) -> None:
        """Say once that no further turn is started."""
        if self._stops:
            return
        self._stops = True
        if self._board is not None:
            self._board.tell(STOPPING)
        else:
            output.complain(STOPPING)

    def tell(self, event: Answer) -> None:
        """Write one event; a reader that has gone away stops nothing."""
        if self._board is not None:
            if event["event"] == "session":
                self._board.of(event["session_id"], self.db)
            else:
                self._board.tell(line(event))
        elif self._json:
            output.write(output.line(operations.success(output.worded(event), self.db)))
        else:
            output.write(output.text(line(event), sys.stdout))


def line(event: Answer) -> str:
    """An event in one line; the errors and warnings of a verdict in one each."""
    words = f"{_who(event)}{_LINES[event['event']].format(**_Words(event))}"
    checks = (f"{each['id']} {each['level']} {each['subject']}: {each['message']}" for each in event.get("checks", ()))
    return "\n  ".join(map(visible, [f"{words}{_then(event.get('decision'))}", *checks]))


_LINES = {
    "session": "Session {session_id}.",
    "started": "started ({executor})",
    "reported": "reported {response_status}",
    "sent_back": "answered without a report and is asked again: {reason}",
    "failed": "failed: {reason}",
    "lost": "was lost: {reason}",
    "recovered": "had already answered when its driver was killed: {response_status}",
    "freed": "{reason}",
    "limited": "reached a usage limit; it starts again at {due_at}: {reason}",
    "verdict": "Verdict {verdict}: {reason}",
    "waiting": "waiting: {reason}",
    "warning": "warning: {reason}",
}


class _Words(dict[str, Any]):
    """The values of an event, those of its decision among them; one that is missing is left empty."""

    def __init__(self, event: Answer) -> None:
        super().__init__((event.get("decision") or {}) | event)

    def __missing__(self, name: str) -> str:
        return ""


def _who(event: Answer) -> str:
    if "turn" not in event:
        return ""
    return f"{event['group_id'] or '-'} turn {event['turn']} {event['role']} "


def _then(decision: Answer | None) -> str:
    """What follows from a decision, in a few words."""
    if not decision:
        return ""
    target = decision.get("next_agent")
    said = f"; {decision['action']}{f' {target}' if target else ''}"
    return said + (f"; completed: {', '.join(decision['completed'])}" if decision.get("completed") else "")


def ended(answer: Answer) -> list[str]:
    """How a driver ended, and what goes on from here, a line each."""
    outcome, next_ = answer["outcome"], answer["next"]
    why = "" if outcome in _SAID else f": {answer['reason']}"
    lines = [f"{_HOW[outcome]} after {_count(answer['steps'])}{why}"]
    lines += [f"Question {each}" for each in answer["questions"]]
    # Whoever drives goes on by driving; the single steps by hand are for programs.
    next_ = next_[:1] if outcome in _DRIVEN_ON else next_
    return [visible(each) for each in [*lines, *(f"Next: {each}" for each in next_)]]


def _count(steps: int) -> str:
    return "1 turn" if steps == 1 else f"{steps} turns"


_HOW = {
    "accepted": "ACCEPT", "ended": "Ended without ACCEPT", "person": "Waiting for a person", "budget": "Budget used up",
    "work_remains": "Work remains", "stopped": "Stopped", "limited": "Stopped", "stalled": "Stalled",
}  # fmt: skip


_DRIVEN_ON = ("budget", "work_remains", "stopped", "limited")
_SAID = ("person", "budget", "work_remains", "stopped")
"""Outcomes whose reason would only repeat them."""


def _checks(answer: Answer) -> str:
    lines = []
    for each in answer["checks"]:
        lines.append(f"{'ok  ' if each['ok'] else 'FAIL'} {each['name']}: {each['message']}")
        if each["suggestion"]:
            lines.append(f"     try: {each['suggestion']}")
    return "\n".join(map(visible, lines))


def cleaned(answer: Answer) -> str:
    """What `--clean` has removed and what stays, a line each."""
    lines = [f"removed {each}" for each in answer["removed"]]
    lines += [f"kept {each}: not merged into the checked-out branch" for each in answer["kept"]]
    lines += [f"kept {each}: a driver, an agent, or another --clean is at work" for each in answer["in_use"]]
    return "\n".join(map(visible, lines)) or "Nothing left to remove."


COMMANDS = {"drive": options.of_operation(Drive, handler=_drive)}
