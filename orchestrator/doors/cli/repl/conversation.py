"""Tasks and commands, line by line, from a person or a script, as `repl` takes them."""

from __future__ import annotations

import gc
import sys

from orchestrator.core.running import advice, exits
from orchestrator.core.suggestions import reword, suggest
from orchestrator.doors.cli import output
from orchestrator.doors.cli.options import Given, Result
from orchestrator.doors.cli.repl import exit, flags, parser, sources
from orchestrator.doors.cli.repl.identity import Speaker
from orchestrator.doors.cli.repl.interrupts import Interrupts
from orchestrator.doors.cli.repl.loop import Loop, Worker
from orchestrator.doors.cli.repl.messages import Answer, Teller
from orchestrator.doors.cli.repl.sources import Source, Stream, Terminal
from orchestrator.errors import OrchestratorError

WELCOME = "Type a task, or /help."
NO_PROJECT = "This folder is not a project yet: /init sets it up."


def held(given: Given) -> Result:
    """Run the loop; its answers are written line by line, so nothing is left to print."""
    if flags.forbidden(given):
        return Result({}, exit_code=exits.FAILED, printed=True)
    flags.check_clocks(given.arguments)
    # A long life needs what a short one does without.
    gc.enable()
    interactive = not given.arguments.get("non_interactive") and sources.is_terminal(sys.stdin)
    with Interrupts(forgives=interactive) as interrupts:
        try:
            code = _run(given, interrupts, interactive=interactive)
        except OrchestratorError as problem:
            raise flags.as_negative(problem) from None
    return Result({}, exit_code=code, printed=True)


def _run(given: Given, interrupts: Interrupts, *, interactive: bool) -> int:
    session = flags.opened(given, interrupts, interactive=interactive)
    on_database = flags.copyable(given, session)

    def by_a_person(text: str) -> str:
        repl = on_database(suggest("repl", project=session.project.root))
        return str(reword(text, lambda each: on_database(advice.in_a_script(each, repl))))

    is_of_a_person = interactive or given.arguments.get("human_token_file") is not None
    teller = Teller(json=given.json, copyable=on_database if is_of_a_person else by_a_person)
    worker = Worker(session, teller, interrupts)

    def lines() -> bool:
        is_project = flags.is_project(session, interactive=interactive)
        exit.greet(session, teller, given)
        if interactive:
            output.complain(WELCOME if is_project else NO_PROJECT)
        speaker = Speaker(given.arguments.get("human_token_file"), interactive=interactive)
        source = _source(interactive=interactive)
        loop = Loop(
            session, source, teller, interrupts, worker, speaker, interactive=interactive, is_project=is_project
        )
        return loop.run()

    closed = exit.ended(session, teller, worker, interrupts, lines, debug=given.debug)
    teller.answer("end", Answer(closed, exit.reported(closed)))
    exit.remind(session, teller)
    return int(closed["exit_code"])


def _source(*, interactive: bool) -> Source:
    if interactive:
        return Terminal(tuple(parser.COMMANDS))
    return Stream(sys.stdin.buffer if sys.stdin else None)
