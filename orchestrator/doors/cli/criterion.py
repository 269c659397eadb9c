"""`criterion ...`: what must hold at the end of a session."""

from __future__ import annotations

from orchestrator.doors.cli.options import (
    ARRAY,
    BY,
    BY_MANAGER,
    CHANGE,
    HUMAN,
    PAGE,
    REASON,
    REQUEST,
    SESSION,
    TEXT,
    Command,
    argument,
    flag,
    option,
)

_ADD = Command(
    "criterion add",
    "Add a success criterion: in words, measured against a target, or decided by a command's exit status."
    " The first plan freezes them: later it is the project manager's, with a reason.",
    "orchestrator criterion add C1 -s S1 --text 'Tests cover the code' --metric coverage --operator ge --target 80",
    (
        argument("id", "The new criterion's id, unique in its session."),
        SESSION,
        option("text", "What must hold.", kind=TEXT, required=True),
        option("metric", "What is measured; with --operator and --target.", metavar="NAME"),
        option("operator", "How the value compares to the target.", choices=("ge", "gt", "le", "lt", "eq")),
        option("target", "The target, a decimal number.", metavar="N"),
        option(
            "command", 'A program and its arguments, such as ["pytest", "-q"]; the validator runs it, without a shell.',
            kind=ARRAY, metavar="JSON-ARRAY",
        ),
        BY_MANAGER,
        *CHANGE[1:],
    ),
)  # fmt: skip

_LIST = Command(
    "criterion list",
    "List the success criteria of a session.",
    "orchestrator criterion list -s S1",
    (SESSION, flag("all", "With removed ones too."), *PAGE),
)

_SET = Command(
    "criterion set",
    "Record what was found about a criterion. What a number or a command decides is never set as met.",
    "orchestrator criterion set C1 -s S1 --actual 83.5 --by qa_expert --reason 'measured on the merged branch'",
    (
        argument("id", "The criterion."),
        SESSION,
        option("status", "The project manager's to say, with a reason.", choices=("open", "met", "deferred")),
        option("actual", "The measured value, a decimal number.", metavar="N"),
        option("evidence", "What shows it: the id of evidence or of a report, such as S1:R12.", metavar="ID"),
        option("text", "Another wording.", kind=TEXT),
        *CHANGE,
    ),
)

_REMOVE = Command(
    "criterion remove",
    "Take a criterion out of the scope; it stays on record, and the verdict lists it.",
    "orchestrator criterion remove C1 -s S1 --by project_manager --reason 'moved to the next release'",
    (
        argument("id", "The criterion."),
        SESSION,
        BY._replace(required=True),
        REASON._replace(required=True),
        HUMAN,
        REQUEST,
    ),
)

COMMANDS = {each.words: each for each in (_ADD, _LIST, _SET, _REMOVE)}
