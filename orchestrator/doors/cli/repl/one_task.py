"""One task from its words to its end, as `run` does it."""

from __future__ import annotations

import gc
from collections.abc import Callable

from orchestrator.core.running import advice, exits
from orchestrator.core.suggestions import reword, suggest
from orchestrator.doors.cli.options import Given, Result
from orchestrator.doors.cli.repl import commands, exit, flags
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.repl.loop import Worker
from orchestrator.doors.cli.repl.messages import Answer, Teller
from orchestrator.errors import OrchestratorError, UsageError
from orchestrator.hints import Any


def run(given: Given) -> Result:
    """Do one task; a person is not asked, so what needs one is incomplete."""
    if flags.forbidden(given):
        return Result({}, exit_code=exits.FAILED, printed=True)
    flags.check_clocks(given.arguments)
    if not given.arguments["prompt"].strip():
        raise UsageError("USAGE", "The prompt is empty.", suggest("run", prompt="create notes.md"))
    # A long life needs what a short one does without.
    gc.enable()
    with Interrupts(forgives=False) as interrupts:
        try:
            return _done(given, interrupts)
        except OrchestratorError as problem:
            raise flags.as_negative(problem) from None


class _Quiet(Teller):
    """Keeps answers for the one object that is printed at the end."""

    def __init__(self, copyable: Callable[[str], str]) -> None:
        super().__init__(json=True, copyable=copyable)
        self.kept: dict[str, Any] = {}

    def answer(self, name: str, found: Answer) -> None:
        """Keep what an answer says of the run and of where it ran."""
        self.kept |= self.repeatable(found.document)


def _done(given: Given, interrupts: Interrupts) -> Result:
    wanted = given.arguments
    session = flags.opened(given, interrupts, interactive=False)
    on_database = flags.copyable(given, session)

    def copyable(text: str) -> str:
        repl = on_database(suggest("repl", project=session.project.root))
        return str(reword(text, lambda each: on_database(advice.in_a_shell(each, repl))))

    teller = _Quiet(copyable) if given.json else Teller(copyable=copyable)
    worker = Worker(session, teller, interrupts)

    def work() -> bool:
        flags.is_project(session, interactive=False)
        exit.greet(session, teller, given)
        worker.take_up("run", commands.task(session, wanted["prompt"].strip(), wanted.get("type")))
        return interrupts.leaving

    closed = exit.ended(session, teller, worker, interrupts, work, debug=given.debug)
    code = int(closed.pop("exit_code"))
    if not isinstance(teller, _Quiet):
        teller.lines(exit.reported(closed))
        exit.remind(session, teller)
        return Result({}, exit_code=code, printed=True)
    return Result({"db": session.context.path, **closed, **teller.kept}, exit_code=code)
