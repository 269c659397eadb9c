"""One function for each command: what it asks the desk, and how the answer is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from orchestrator.core.running import states
from orchestrator.core.running.visibility import FULL, SUMMARY
from orchestrator.doors.cli.repl import parsing, show
from orchestrator.doors.cli.repl.desk import Desk, Row
from orchestrator.doors.cli.repl.telling import Answer
from orchestrator.doors.cli.text.layout import visible

Command = Callable[[Desk, str], Answer]
_OF_A_PERSON: dict[str, Callable[[str], object]] = {
    "/approve": lambda rest: parsing.nothing("/approve", rest),
    "/respond": parsing.response,
    "/continue": lambda rest: parsing.one_id("/continue", rest),
}


def called(desk: Desk, name: str, rest: str) -> Answer:
    """The answer of a command.

    Raises:
        OrchestratorError: what the desk refuses. UsageError: wrong arguments.
    """
    return _COMMANDS[name](desk, rest)


def is_of_a_person(name: str, rest: str) -> bool:
    """Whether only a person may give this command; its arguments are looked at before anybody is asked to prove it.

    Raises:
        UsageError: wrong arguments of such a command.
    """
    check = _OF_A_PERSON.get(name)
    if check is not None:
        check(rest)
    return check is not None


def look(desk: Desk, name: str, rest: str) -> str | None:
    """See whether there is anything to do for a command of a person, before anybody is asked to prove to be one.

    Returns:
        The id of the run that goes on, where that is what it is about.

    Raises:
        OrchestratorError: what the desk refuses, whoever asks.
    """
    if name == "/respond":
        id, text = parsing.response(rest)
        desk.answerable(text, id)
        return None
    found = desk.approvable() if name == "/approve" else desk.continuable(parsing.one_id(name, rest))
    return str(found.id)


def task(desk: Desk, text: str, task_type: str | None = None) -> Answer:
    """Hand a task in: what it became, and its id where it is to be executed."""
    return taken_up(desk.submit(text, task_type))


def taken_up(run: Row) -> Answer:
    """The answer of what queues a run, or ends it at once."""
    shown = show.brief(run)
    if run["state"] == states.QUEUED:
        return Answer({"run": shown}, show.begun(run), run["id"])
    return Answer({"run": shown, "summary": show.summarised(run)}, show.ended(run))


def helped(names: tuple[str, ...]) -> Answer:
    """The answer of `/help`."""
    known = {name: parsing.COMMANDS[name].text for name in names}
    return Answer({"commands": known}, show.help_lines(names))


def set_up(made: Row) -> Answer:
    """The answer of `/init`."""
    what = ", ".join(made["created"]) or "nothing was missing"
    return Answer(made, [visible(f"The project {made['project']} is set up: {what}")])


def _help(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/help", rest)
    return helped(tuple(parsing.COMMANDS))


def _init(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/init", rest)
    return set_up(desk.init())


def _start(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/start", rest)
    found = desk.start()
    return Answer(found, [visible(f"Session {desk.session_id} is started.")])


def _status(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/status", rest)
    found = desk.status()
    return Answer(found, show.status(found))


def _tasks(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/tasks", rest)
    return _listed("tasks", [show.brief(run) for run in desk.tasks()], desk, show.tasks)


def _listed(name: str, found: list[Row], desk: Desk, shown: Callable[[Sequence[show.Row]], list[str]]) -> Answer:
    """The runs of the session; where it has none, also those of the last one before it in the project."""
    before = [] if found else [show.brief(run) for run in desk.earlier()]
    document = {name: found, "earlier": before} if before else {name: found}
    return Answer(document, [*shown(found), *show.earlier(before, shown)])


def _logs(desk: Desk, rest: str) -> Answer:
    wanted = parsing.logs(rest)
    if wanted.tree:
        found: Any = [
            {**thread, "runs": [show.brief(run) for run in thread["runs"]]} for thread in desk.tree()
        ]
        answer = Answer({"threads": found}, show.tree(found))
    elif wanted.id is not None:
        found = desk.log(wanted.id, FULL if wanted.full else SUMMARY)
        answer = Answer({"log": found}, show.log(found))
    elif wanted.full:
        found = [desk.log(run["id"], FULL) for run in desk.logs()]
        answer = Answer({"logs": found}, _separated([show.log(each) for each in found]))
    else:
        found = [show.brief(run) for run in desk.logs()]
        answer = _listed("logs", found, desk, show.logs)
    return answer._replace(lines=show.as_json(found)) if wanted.json else answer


def _separated(logs: list[list[str]]) -> list[str]:
    lines = [line for log in logs for line in (*log, "")]
    return lines[:-1] or [show.NO_TASK]


def _approve(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/approve", rest)
    return _went_on(desk.approve(), "It is approved.")


def _respond(desk: Desk, rest: str) -> Answer:
    id, text = parsing.response(rest)
    return taken_up(desk.respond(text, id))


def _continue(desk: Desk, rest: str) -> Answer:
    return _went_on(desk.proceed(parsing.one_id("/continue", rest)), "It goes on.")


def _went_on(found: Row, words: str) -> Answer:
    """What lets work go on, and queues a run for it or names the one that may go on."""
    if "state" in found:
        return taken_up(found)
    return Answer(found, [words, *show.status(found)])


def _provider(desk: Desk, rest: str) -> Answer:
    return _chosen(desk.provider(parsing.optional_word("/provider", rest)))


def _models(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/models", rest)
    found = desk.model(None)
    return Answer(found, [*show.status(found), "Any name is passed on to the provider: /model NAME"])


def _model(desk: Desk, rest: str) -> Answer:
    return _chosen(desk.model(parsing.named(parsing.required("/model", rest))))


def _chosen(found: Row) -> Answer:
    return Answer(found, show.status(found))


def _keys(desk: Desk, rest: str) -> Answer:
    parsing.nothing("/keys", rest)
    found = desk.keys()
    return Answer({"keys": found}, [visible(f"{name}: {value}") for name, value in found.items()])


_COMMANDS: dict[str, Command] = {
    "/help": _help,
    "/init": _init,
    "/start": _start,
    "/status": _status,
    "/tasks": _tasks,
    "/logs": _logs,
    "/approve": _approve,
    "/respond": _respond,
    "/provider": _provider,
    "/models": _models,
    "/model": _model,
    "/keys": _keys,
    "/continue": _continue,
}
