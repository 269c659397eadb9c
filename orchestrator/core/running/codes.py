"""The error codes of the runner: one meaning each, and what helps."""

from __future__ import annotations

from typing import Any

from orchestrator.core.suggestions import sentence, suggest
from orchestrator.core.tuples import NamedTuple
from orchestrator.errors import Refused


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
        "A required part of the project is absent or of the wrong kind.",
        sentence("Run {}, which makes what is missing and overwrites nothing", suggest("init", project="PATH")),
    ),
    "E104": Code("A setting has a value that is not allowed.", "Give a value of the range or list that is named"),
    "E105": Code("A settings file is not valid JSON.", "Correct the file at the place that is named"),
    "E201": Code("A phase failed more often than it may be tried again.", "Read the log, then start a new session"),
    "E202": Code("The order of the phases was left.", "Go to the next phase only; start a new session"),
    "E203": Code("There is no such move between phases.", "Name the next phase; start a new session"),
    "E204": Code(
        "The state of the session allows no further step: it ended in ERROR or INVALID, or its phase is unfinished.",
        "Finish the phase, or start a new session",
    ),
    "E205": Code("A subtask was made or changed without the runner's approval.", "Propose it and wait for approval"),
    "E206": Code("A task is over a limit and cannot be split, or its use cannot be measured.", "Make the task smaller"),
    "E207": Code("The work may not be continued.", "Start a new task, or ask for approval again with /approve"),
    "E208": Code("A result or report is incomplete, or its totals contradict each other.", "Make the report again"),
    "E209": Code("A phase has no evidence.", "Hand in the evidence of the phase that is named"),
    "E210": Code("A phase's gate was not passed.", "Mend what the gate names"),
    "E211": Code("The project has no tests for source files that are to change.", "Write the tests first"),
    "E301": Code("Evidence does not stand for exactly one operation.", "Record every operation once, by itself"),
    "E302": Code("The evidence index cannot be read.", "Restore the evidence folder from a backup"),
    "E303": Code("A raw evidence file is missing.", "Restore the evidence folder from a backup"),
    "E304": Code("Evidence was changed after it was recorded.", "Restore the evidence folder from a backup"),
    "E305": Code("Evidence has an unknown format or field.", "Use the version of the runner that wrote it"),
    "E401": Code("A file is locked by another, and its users go one after another.", "Wait until it is released"),
    "E402": Code("Locks could not be acquired, all or none.", "Name every file once, and write through an executor"),
    "E403": Code("Locks are waited for in a circle, or longer than allowed.", "End one of those that wait"),
    "E404": Code("No place is free for another worker.", "Wait until one is released"),
    "E405": Code(
        "A lock or place cannot be released by this owner or in this way.",
        "Let its owner release it, or end what is left of that",
    ),
    "E501": Code("A result or artifact carries no session id, or no operation made it.", "Run the task again"),
    "E502": Code("A result or artifact carries the id of another session.", "Run the task again in this session"),
    "E503": Code("The executor failed, was ended, or gave a result that cannot be judged.", "Read the log of the task"),
}


def refused(code: str, sentence: str, **data: Any) -> Refused:
    """The error of a code: the sentence says what happened, the table what helps.

    Args:
        code: a key of `CODES`.
        sentence: what happened, for people.
        data: further keys of the error.
    """
    return Refused(code, sentence, CODES[code].remedy, **data)
