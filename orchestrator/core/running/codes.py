"""The error codes of the runner: one meaning each, and what helps."""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running.advice import APPROVE
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import Refused
from orchestrator.hints import Any


class Code(NamedTuple):
    """What a code means, in one sentence, and what to do about it."""

    meaning: str
    remedy: str


CODES: dict[str, Code] = {
    "E101": Code(
        "The project has no .claude folder.",
        sentence("Run {}, or name another project with --project", suggest("init", project="PATH")),
    ),
    "E102": Code("The project's path does not exist.", "Check the path given to --project or --project-root"),
    "E103": Code(
        "A required part of the project is missing or has the wrong type.",
        sentence("Run {}; it creates what is missing and overwrites nothing", suggest("init", project="PATH")),
    ),
    "E104": Code("A setting has an invalid value.", "Use a value from the range or list in the message"),
    "E105": Code("A settings file is not valid JSON.", "Fix the file at the position in the message"),
    "E201": Code("A phase failed too often.", "Read the log, then start a new session"),
    "E202": Code("Phases were run out of order.", "Take the phases in order; start a new session"),
    "E203": Code("There is no transition between these phases.", "Name the next phase; start a new session"),
    "E204": Code(
        "The session cannot continue: it ended in ERROR or INVALID, or its phase is unfinished.",
        "Finish the phase, or start a new session",
    ),
    "E205": Code("A subtask was made or changed without the runner's approval.", "Propose it and wait for approval"),
    "E206": Code("A task is over a limit and cannot be split, or its use cannot be measured.", "Make the task smaller"),
    "E207": Code(
        "This work must not be continued.", sentence("Start a new task, or ask for approval again with {}", APPROVE)
    ),
    "E208": Code("A result or report is incomplete, or its totals contradict each other.", "Make the report again"),
    "E209": Code("A phase has no evidence.", "Provide the evidence of the phase named in the message"),
    "E210": Code("A phase did not pass its gate.", "Fix what the gate reports"),
    "E211": Code("The project has no tests for the source files to be changed.", "Write the tests first"),
    "E301": Code("Evidence does not belong to exactly one operation.", "Record every operation exactly once"),
    "E302": Code("The evidence index cannot be read.", "Restore the evidence folder from a backup"),
    "E303": Code("A raw evidence file is missing.", "Restore the evidence folder from a backup"),
    "E304": Code("Evidence was changed after it was recorded.", "Restore the evidence folder from a backup"),
    "E305": Code("Evidence has an unknown format or field.", "Use the version of the runner that wrote it"),
    "E401": Code("A file is locked by another run.", "Wait until it is released"),
    "E402": Code(
        "Not all locks could be acquired, so none were.", "Name every file once, and write only through an executor"
    ),
    "E403": Code("Deadlock, or a lock was not released in time.", "Cancel one of the runs that wait"),
    "E404": Code("All worker slots are in use.", "Wait until a slot is free"),
    "E405": Code(
        "This owner cannot release the lock or slot.",
        "Have the owner release it, or kill the process that is left over",
    ),
    "E501": Code("A result or artifact has no session id, or no operation produced it.", "Run the task again"),
    "E502": Code("A result or artifact has the id of another session.", "Run the task again in this session"),
    "E503": Code("The executor failed, was killed, or returned a result that cannot be judged.", "Read the task's log"),
}


def refused(code: str, sentence: str, **data: Any) -> Refused:
    """The error of a code: the sentence says what happened, the table what helps.

    Args:
        code: a key of `CODES`.
        sentence: what happened, for people.
        data: further keys of the error.
    """
    return Refused(code, sentence, CODES[code].remedy, **data)
