"""One function for each command: what it asks of the session of runs, and how the answer is shown."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.app.running import begin_session, run_answers, session_status, submission
from orchestrator.app.running.run_session import RunSession
from orchestrator.core.running import states
from orchestrator.core.running.visibility import FULL, SUMMARY
from orchestrator.doors.cli.repl import parser, show
from orchestrator.doors.cli.repl.messages import Answer
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Row = dict[str, Any]
Command = Callable[[RunSession, str], Answer]
_OF_A_PERSON: dict[str, Callable[[str], object]] = {
    "/approve": lambda rest: parser.nothing("/approve", rest),
    "/respond": parser.response,
    "/continue": lambda rest: parser.one_id("/continue", rest),
}


def called(session: RunSession, name: str, rest: str) -> Answer:
    """The answer of a command.

    Raises:
        OrchestratorError: what is refused. UsageError: wrong arguments.
    """
    return _COMMANDS[name](session, rest)


def is_of_a_person(name: str, rest: str) -> bool:
    """Whether only a person may give this command; its arguments are looked at before anybody is asked to prove it.

    Raises:
        UsageError: wrong arguments of such a command.
    """
    check = _OF_A_PERSON.get(name)
    if check is not None:
        check(rest)
    return check is not None


def look(session: RunSession, name: str, rest: str) -> str | None:
    """See whether there is anything to do for a command of a person, before anybody is asked to prove to be one.

    Returns:
        The id of the run that goes on, where that is what it is about.

    Raises:
        OrchestratorError: what is refused, whoever asks.
    """
    if name == "/respond":
        id, text = parser.response(rest)
        run_answers.answerable(session, text, id)
        return None
    if name == "/approve":
        return run_answers.approvable(session).id
    return run_answers.continuable(session, parser.one_id(name, rest)).id


def task(session: RunSession, text: str, task_type: str | None = None) -> Answer:
    """Hand a task in: what it became, and its id where it is to be executed."""
    return taken_up(submission.submit(session, text, task_type))


def taken_up(run: Row) -> Answer:
    """The answer of what queues a run, or ends it at once."""
    shown = show.brief(run)
    if run["state"] == states.QUEUED:
        return Answer({"run": shown}, show.begun(run), run["id"])
    return Answer({"run": shown, "summary": show.summarised(run)}, show.ended(run))


def helped(names: tuple[str, ...]) -> Answer:
    """The answer of `/help`."""
    known = {name: parser.COMMANDS[name].text for name in names}
    return Answer({"commands": known}, show.help_lines(names))


def set_up(made: Row) -> Answer:
    """The answer of `/init`."""
    what = ", ".join(made["created"]) or "nothing was missing"
    return Answer(made, [visible(f"The project {made['project']} is set up: {what}")])


def _help(session: RunSession, rest: str) -> Answer:
    parser.nothing("/help", rest)
    return helped(tuple(parser.COMMANDS))


def _init(session: RunSession, rest: str) -> Answer:
    parser.nothing("/init", rest)
    return set_up(begin_session.set_up_project(session))


def _start(session: RunSession, rest: str) -> Answer:
    parser.nothing("/start", rest)
    found = begin_session.start(session)
    return Answer(found, [visible(f"Session {session.session_id} is started.")])


def _status(session: RunSession, rest: str) -> Answer:
    parser.nothing("/status", rest)
    found = session_status.status(session)
    return Answer(found, show.status(found))


def _tasks(session: RunSession, rest: str) -> Answer:
    parser.nothing("/tasks", rest)
    return _listed("tasks", [show.brief(run) for run in session_status.tasks(session)], session, show.tasks)


def _listed(
    name: str, found: list[Row], session: RunSession, shown: Callable[[Sequence[show.Row]], list[str]]
) -> Answer:
    """The runs of the session; where it has none, also those of the last one before it in the project."""
    before = [] if found else [show.brief(run) for run in session_status.earlier_runs(session)]
    document = {name: found, "earlier": before} if before else {name: found}
    return Answer(document, [*shown(found), *show.earlier(before, shown)])


def _logs(session: RunSession, rest: str) -> Answer:
    wanted = parser.logs(rest)
    if wanted.tree:
        found: Any = [
            {**thread, "runs": [show.brief(run) for run in thread["runs"]]} for thread in session_status.tree(session)
        ]
        answer = Answer({"threads": found}, show.tree(found))
    elif wanted.id is not None:
        found = session_status.log(session, wanted.id, FULL if wanted.full else SUMMARY)
        answer = Answer({"log": found}, show.log(found))
    elif wanted.full:
        found = [session_status.log(session, run["id"], FULL) for run in session_status.tasks(session)]
        answer = Answer({"logs": found}, _separated([show.log(each) for each in found]))
    else:
        found = [show.brief(run) for run in session_status.tasks(session)]
        answer = _listed("logs", found, session, show.logs)
    return answer._replace(lines=show.as_json(found)) if wanted.json else answer


def _separated(logs: list[list[str]]) -> list[str]:
    lines = [line for log in logs for line in (*log, "")]
    return lines[:-1] or [show.NO_TASK]


def _approve(session: RunSession, rest: str) -> Answer:
    parser.nothing("/approve", rest)
    return _went_on(run_answers.approve(session), "Approved.")


def _respond(session: RunSession, rest: str) -> Answer:
    id, text = parser.response(rest)
    return taken_up(run_answers.respond(session, text, id))


def _continue(session: RunSession, rest: str) -> Answer:
    return _went_on(run_answers.proceed(session, parser.one_id("/continue", rest)), "Continuing.")


def _went_on(found: Row, words: str) -> Answer:
    """What lets work go on, and queues a run for it or names the one that may go on."""
    if "state" in found:
        return taken_up(found)
    return Answer(found, [words, *show.status(found)])


def _provider(session: RunSession, rest: str) -> Answer:
    return _chosen(session.provider(parser.optional_word("/provider", rest)))


def _models(session: RunSession, rest: str) -> Answer:
    parser.nothing("/models", rest)
    found = session.model(None)
    return Answer(found, [*show.status(found), "Any name is passed on to the provider: /model NAME"])


def _model(session: RunSession, rest: str) -> Answer:
    return _chosen(session.model(parser.named(parser.required("/model", rest))))


def _chosen(found: Row) -> Answer:
    return Answer(found, show.status(found))


def _keys(session: RunSession, rest: str) -> Answer:
    parser.nothing("/keys", rest)
    found = session.keys()
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
