"""From the bytes of a line to what is meant by it: a command with its arguments, a task, or nothing.

A line that begins with `/` is a command, `exit` by itself a slip of the pen, a blank one nothing, and whatever else a
task, also where it looks like a comment.
"""

from __future__ import annotations

import re

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.errors import UsageError

LINE_LIMIT = 1024 * 1024
"""Bytes of one line, without its end."""

COMMAND, TASK, SLIP = "command", "task", "slip"
EXIT, EXIT_COMMAND = "exit", "/exit"

_MEANT = {"/quit": EXIT_COMMAND, "/q": EXIT_COMMAND, "/bye": EXIT_COMMAND, "/?": "/help"}
_BOM = b"\xef\xbb\xbf"
_RUN_ID = re.compile(r"task-[0-9]+")
_EMPTY = ('""', "''")


class Usage(NamedTuple):
    """How a command is written, and what it does."""

    form: str
    text: str


COMMANDS: dict[str, Usage] = {
    "/help": Usage("/help", "Show this list."),
    "/init": Usage("/init", "Set up the project: .claude and its contents. Overwrites nothing."),
    "/start": Usage("/start", "Start a new session."),
    "/status": Usage("/status", "Show the session, its tasks by state, and open questions."),
    "/tasks": Usage("/tasks", "List the tasks of the session."),
    "/logs": Usage("/logs [ID] [--full] [--tree] [--json]", "List the logs, or show the one of a task."),
    "/approve": Usage("/approve", "Allow unfinished work to continue."),
    "/respond": Usage("/respond [ID] TEXT", "Answer a task's question; the task then runs again."),
    "/provider": Usage("/provider [NAME]", "Show or choose the executor: claude-code, codex, openai, anthropic."),
    "/models": Usage("/models", "Show the chosen model."),
    "/model": Usage("/model NAME", "Choose the model; its name is passed on unchanged."),
    "/keys": Usage("/keys", "List which keys are set, never their values."),
    "/continue": Usage("/continue ID", "Resume an unfinished task that was approved."),
    "/exit": Usage("/exit", "Exit; the exit code says how the tasks ended."),
}
WITHOUT_PROJECT = ("/help", "/init", "/exit")
"""What there is where the folder is no project yet."""


class Order(NamedTuple):
    """What a line asks for.

    kind: COMMAND, TASK or SLIP; name: the command's, with its slash; rest: what follows it, or the task's text.
    """

    kind: str
    name: str
    rest: str


class LogsWanted(NamedTuple):
    """What `/logs` is asked for."""

    id: str | None = None
    full: bool = False
    tree: bool = False
    json: bool = False


def decoded(data: bytes, number: int) -> str:
    """The text of a line, its end and surrounding blanks left out.

    Args:
        data: the bytes; more than `LINE_LIMIT` of them are refused.
        number: which line it is, from 1, for the message.

    Raises:
        UsageError: LINE_INVALID.
    """
    if len(data.rstrip(b"\r\n")) > LINE_LIMIT:
        raise _invalid(f"Line {number} has more than {LINE_LIMIT} bytes", "Put the text into a file and name the file")
    try:
        # Files that were put together keep their marks, so every line may begin with one.
        text = data.removeprefix(_BOM).decode("utf-8")
    except UnicodeDecodeError as error:
        place = f"byte 0x{data[error.start]:02x} at offset {error.start}"
        raise _invalid(f"Line {number} is not UTF-8: {place}", "Send it as UTF-8") from None
    if "\0" in text:
        raise _invalid(f"Line {number} holds a NUL character", "Leave it out")
    return text.strip()


def _invalid(sentence: str, advice: str) -> UsageError:
    return UsageError("LINE_INVALID", f"{sentence}.", advice)


def order(text: str) -> Order | None:
    """What a line asks for; None for a blank one.

    Raises:
        UsageError: UNKNOWN_COMMAND, with what was probably meant.
    """
    if not text:
        return None
    if text.lower() == EXIT:
        return Order(SLIP, EXIT, "")
    if not text.startswith("/"):
        return Order(TASK, "", text)
    name, *rest = text.split(maxsplit=1)
    if name not in COMMANDS:
        raise _unknown(name)
    return Order(COMMAND, name, rest[0] if rest else "")


def _unknown(name: str) -> UsageError:
    near = _MEANT.get(name) or names.nearest(name, COMMANDS)
    message = f"There is no command {names.shown(name)}."
    if near is None:
        return UsageError("UNKNOWN_COMMAND", message, "/help")
    return UsageError("UNKNOWN_COMMAND", f"{message} Did you mean {near}?", near, did_you_mean=near)


def nothing(name: str, rest: str) -> None:
    """Refuse arguments of a command that takes none.

    Raises:
        UsageError: USAGE.
    """
    if rest:
        raise _usage(name, f"{name} takes no arguments, not {names.shown(rest)}.")


def one_id(name: str, rest: str) -> str:
    """The id that a command takes.

    Raises:
        UsageError: USAGE.
    """
    if len(rest.split()) != 1:
        raise _usage(name, f"{name} takes one id.")
    return rest


def optional_word(name: str, rest: str) -> str | None:
    """The one word that a command may take.

    Raises:
        UsageError: USAGE.
    """
    if len(rest.split()) > 1:
        raise _usage(name, f"{name} takes one name, not {names.shown(rest)}.")
    return named(rest) if rest else None


def named(rest: str) -> str:
    """A name as it was written; a pair of quotes stands for an empty one."""
    return "" if rest in _EMPTY else rest


def required(name: str, rest: str) -> str:
    """What a command cannot be without.

    Raises:
        UsageError: USAGE.
    """
    if not rest:
        raise _usage(name, f"{name} needs an argument: {COMMANDS[name].form}.")
    return rest


def response(rest: str) -> tuple[str | None, str]:
    """The id, where a response begins with one, and its text, unchanged inside.

    Raises:
        UsageError: USAGE, there is no text.
    """
    first, *more = required("/respond", rest).split(maxsplit=1)
    if not _RUN_ID.fullmatch(first):
        return None, rest
    return first, required("/respond", more[0] if more else "")


def logs(rest: str) -> LogsWanted:
    """What `/logs` is asked for.

    Raises:
        UsageError: USAGE, an unknown option or a second id.
    """
    flags = ("--full", "--tree", "--json")
    words = rest.split()
    unknown = next((word for word in words if word.startswith("-") and word not in flags), None)
    if unknown:
        near = names.nearest(unknown, flags)
        meant = f" Did you mean {near}?" if near else ""
        raise _usage("/logs", f"/logs has no option {names.shown(unknown)}.{meant}")
    ids = [word for word in words if word not in flags]
    if len(ids) > 1:
        raise _usage("/logs", f"/logs shows one log at a time, not {names.shown(' '.join(ids))}.")
    full, tree, json = (flag in words for flag in flags)
    if tree and ids:
        raise _usage("/logs", "/logs --tree shows all logs, so it takes no id.")
    return LogsWanted(ids[0] if ids else None, full, tree, json)


def _usage(name: str, message: str) -> UsageError:
    return UsageError("USAGE", message, COMMANDS[name].form)
