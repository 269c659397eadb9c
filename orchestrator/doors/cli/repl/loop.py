"""The loop: a line is read, done and answered, and only then the next one is read.

Source: seed 001, Properties 28, 29, 35, 36 and 39.
"""

from __future__ import annotations

from orchestrator.app.kernel import human
from orchestrator.app.running import execute_run, session_status, submission
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import states
from orchestrator.doors.cli import output
from orchestrator.doors.cli.repl import commands, parser
from orchestrator.doors.cli.repl.identity import Speaker, advice, speaking
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.repl.messages import Answer, Teller
from orchestrator.doors.cli.repl.progress import Line
from orchestrator.doors.cli.repl.sources import Source
from orchestrator.doors.cli.text.layout import visible
from orchestrator.errors import OrchestratorError, Refused
from orchestrator.hints import Any

HELP = "/help"
LINE = "line"
"""What a line is called that is no order."""
AGAIN = "Nothing is running. Press Ctrl-C again, Ctrl-D or type /exit to leave."


class Worker:
    """Executes runs for a person who may interrupt, and tells what came of them.

    Attributes:
        outcomes: the state of the newest run of each task, by session and task.
    """

    def __init__(self, session: RunSession, teller: Teller, interrupts: Interrupts) -> None:
        self.outcomes: dict[tuple[str, str], str] = {}
        self._session, self._teller, self._interrupts = session, teller, interrupts
        self._progress = Line()

    def take_up(self, name: str, found: Answer) -> None:
        """Write an answer, and execute the run that it queues, if any."""
        self._note(found.document.get("run"))
        self._teller.answer(name, found)
        if found.run is not None:
            ended = self._executed(found.run)
            self._note(ended)
            self._teller.run(ended)

    def _note(self, run: dict[str, Any] | None) -> None:
        if run is not None:
            self.outcomes[run["session_id"], run["task_id"]] = run["state"]

    def _executed(self, id: str) -> dict[str, Any]:
        try:
            found = execute_run.execute(self._session, id, self._progress.watch, self._interrupts.came)
        except KeyboardInterrupt:
            found = self._stopped(id)
        finally:
            self._progress.clear()
            self._interrupts.run_is_over()
        if found["state"] == states.QUEUED:
            found = self._stopped(id)
        return found

    def _stopped(self, id: str) -> dict[str, Any]:
        """A run that was broken off where nobody could end it: what is queued still is cancelled now."""
        run = session_status.log(self._session, id)
        return submission.cancel(self._session, id) if run["state"] == states.QUEUED else run


class Loop:
    """Reads lines until they end, `/exit` is read, or somebody interrupts.

    Args:
        interactive: whether a person types the lines.
        is_project: whether the folder is set up, so that there is more than help and `/init`.
    """

    def __init__(
        self, session: RunSession, source: Source, teller: Teller, interrupts: Interrupts, worker: Worker,
        speaker: Speaker, *, interactive: bool, is_project: bool,
    ) -> None:
        self._session, self._source, self._teller = session, source, teller
        self._interrupts, self._worker, self._speaker = interrupts, worker, speaker
        self._interactive, self._is_project = interactive, is_project
        self._number = 0

    def run(self) -> bool:
        """Do every line; whether an interrupt ended it.

        Raises:
            EnvironmentProblem: nothing can go on: the database, the disk or stdout fails.
        """
        while not self._interrupts.leaving:
            line = self._next()
            if self._interrupts.leaving:
                # A terminal that went away hands over what was typed so far.
                break
            if line is None or not self._done(line):
                return False
        return True

    def _next(self) -> bytes | None:
        """The next line, an empty one where a person broke it off; None at the end."""
        try:
            with self._interrupts.breaking_in():
                line = self._source.read()
        except KeyboardInterrupt:
            self._broken_off()
            return b""
        if self._interactive:
            self._interrupts.forget()
        self._number += 1
        return line

    def _broken_off(self) -> None:
        if self._interactive and not self._interrupts.leaving:
            output.complain(f"\n{AGAIN}")

    def _done(self, line: bytes) -> bool:
        """Do a line; False where it was the last one."""
        name = LINE
        try:
            order = parser.order(parser.decoded(line, self._number))
            if order is None:
                return True
            name = order.name or order.kind
            return self._obey(name, order)
        except OrchestratorError as problem:
            self._teller.problem(name, problem)
            return True

    def _obey(self, name: str, order: parser.Order) -> bool:
        if order.kind == parser.SLIP:
            self._teller.slip()
        elif name == parser.EXIT_COMMAND:
            parser.nothing(name, order.rest)
            return False
        elif not self._is_project:
            self._prepare(name, order)
        elif order.kind == parser.TASK:
            self._worker.take_up(name, commands.task(self._session, order.rest))
        elif commands.is_of_a_person(name, order.rest):
            self._obey_person(name, order.rest)
        else:
            self._worker.take_up(name, commands.called(self._session, name, order.rest))
        return True

    def _obey_person(self, name: str, rest: str) -> None:
        """Do what only a person may do, with the proof that one speaks."""
        run = commands.look(self._session, name, rest)
        try:
            with self._interrupts.breaking_in():
                proof = self._speaker.proof(self._session.context, visible(f"{name} {rest}"))
        except KeyboardInterrupt:
            self._broken_off()
            return
        try:
            with speaking(self._session, proof):
                found = commands.called(self._session, name, rest)
        except Refused as problem:
            if problem.code == "HUMAN_REQUIRED":
                self._speaker.forget()
                problem.suggestion = advice(proof, name, rest, run, self._session.project.root)
            raise
        level = human.found(self._session.context, proof).get("proof")
        if level is not None:
            found = found._replace(document={**found.document, "proof": level}, lines=[*found.lines, f"proof: {level}"])
        self._worker.take_up(name, found)

    def _prepare(self, name: str, order: parser.Order) -> None:
        """Do what there is where the folder is no project yet.

        Raises:
            Refused: E101, anything else.
        """
        if name not in parser.WITHOUT_PROJECT:
            raise Refused("E101", "This folder is not a project yet, or an incomplete one.", "/init sets it up")
        if name == HELP:
            self._worker.take_up(name, commands.helped(parser.WITHOUT_PROJECT))
        else:
            self._worker.take_up(name, commands.called(self._session, name, order.rest))
            self._is_project = True
