"""Success criteria: what meets one, how a number is compared, how a command is judged."""

from __future__ import annotations

from collections.abc import Iterator
from decimal import Decimal, InvalidOperation

from orchestrator.core.validation.snapshot import Criterion, Ran

OPERATORS = {
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
}
SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "="}
Line = tuple[str, str, str, str]


def number(text: str | None) -> Decimal | None:
    """A finite decimal number, or None where the text is none."""
    try:
        value = Decimal((text or "").strip())
    except InvalidOperation:
        return None
    return value if value.is_finite() else None


def computed(criterion: Criterion) -> bool:
    """Whether the criterion is decided by a number or a command, so that nobody can set it by hand."""
    return criterion.operator is not None or criterion.command is not None


def stands(criterion: Criterion) -> Iterator[Line]:
    """Whether a criterion that people judge is met with evidence, or deferred with a reason."""
    if criterion.status == "deferred":
        if not (criterion.reason or "").strip():
            yield ("error", criterion.id, "is deferred without an acknowledgement", _set(criterion, "deferred"))
        else:
            yield ("info", criterion.id, f"deferred: {criterion.reason}", "")
    elif computed(criterion):
        return
    elif criterion.status != "met":
        yield ("error", criterion.id, f"is not met: {criterion.text}", _set(criterion, "met"))
    elif not criterion.evidence:
        yield ("error", criterion.id, "is set as met without evidence", _set(criterion, "met"))


def _set(criterion: Criterion, status: str) -> str:
    return f"orchestrator criterion set {criterion.id} --status {status} --by project_manager --reason TEXT"


def compare(criterion: Criterion) -> Iterator[Line]:
    """A numeric criterion against its target; a value that is missing is not met."""
    actual, target = number(criterion.actual), number(criterion.target)
    wanted = f"{criterion.metric} {SIGNS[criterion.operator or 'eq']} {criterion.target}"
    if actual is None or target is None:
        yield ("error", criterion.id, f"has no recorded value for {wanted}", _set(criterion, "met --actual N"))
    elif not OPERATORS[criterion.operator or "eq"](actual, target):
        yield ("error", criterion.id, f"is not met: {criterion.actual} is not {wanted}", "")


def judge(criterion: Criterion, ran: Ran | None) -> Iterator[Line]:
    """A command criterion by how its command ended."""
    command = " ".join(criterion.command or ())
    if ran is None:
        yield ("error", criterion.id, f"its command was not run: {command}", "orchestrator validate --run-commands")
    elif ran.status is None:
        yield ("error", criterion.id, f"its command did not end by itself: {ran.why}", command)
    elif ran.status != 0:
        why = " (no tests were collected)" if ran.status == 5 else ""
        yield ("error", criterion.id, f"its command ended with {ran.status}{why}", command)
