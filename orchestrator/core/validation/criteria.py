"""Success criteria: what meets one, how a number is compared, how a command is judged."""

from __future__ import annotations

import re
from collections.abc import Iterator
from decimal import Decimal

from orchestrator.core import names
from orchestrator.core.routing.facts import MANAGER, VALIDATOR
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.validation.snapshot import Criterion, Proof, Ran

OPERATORS = {
    "ge": lambda a, b: a >= b,
    "gt": lambda a, b: a > b,
    "le": lambda a, b: a <= b,
    "lt": lambda a, b: a < b,
    "eq": lambda a, b: a == b,
}
SIGNS = {"ge": ">=", "gt": ">", "le": "<=", "lt": "<", "eq": "="}
Line = tuple[str, str, str, str]


_NUMBER = r"[+-]?(?:[0-9]{1,40}(?:\.[0-9]{0,40})?|\.[0-9]{1,40})(?:[eE][+-]?[0-9]{1,3})?"
_MAY_FALL_BELOW_ZERO = (
    "balance", "change", "delta", "diff", "difference", "drift", "gain", "growth", "offset", "skew", "temperature",
    "trend",
)  # fmt: skip
"""Words of a metric that is no amount: its target and its values may be negative."""


def number(text: str | None) -> Decimal | None:
    """A decimal number, or None where the text is none: NaN and the infinities are none."""
    found = re.fullmatch(_NUMBER, (text or "").strip())
    return Decimal(found.group()) if found else None


def unfit_target(metric: str, operator: str, target: str) -> str | None:
    """Why a metric cannot be held against a target, or None where it can."""
    value = number(target)
    if operator not in OPERATORS:
        return f"the operator must be one of {', '.join(OPERATORS)}"
    if value is None:
        return f"the target must be a decimal number, not {target!r}"
    if _amount(metric) and (value < 0 or (value == 0 and operator == "lt")):
        return f"{metric} {SIGNS[operator]} {target} makes no sense for {_AN_AMOUNT}"
    return None


def unfit_actual(metric: str, actual: str) -> str | None:
    """Why a measured value cannot be one of its metric, or None where it can; the value is a decimal number."""
    value = number(actual)
    if value is not None and value < 0 and _amount(metric):
        return f"{metric} = {actual} makes no sense for {_AN_AMOUNT}"
    return None


_AN_AMOUNT = "an amount, which is never below zero; a metric that can be is named a change, difference or the like"


def _amount(metric: str) -> bool:
    words = re.split(r"[^a-z]+", re.sub(r"(?<=[a-z])(?=[A-Z])", "_", metric).lower())
    return not set(words) & set(_MAY_FALL_BELOW_ZERO)


def computed(criterion: Criterion) -> bool:
    """Whether the criterion is decided by a number or a command, so that nobody can set it by hand."""
    return criterion.operator is not None or criterion.command is not None


def stands(criterion: Criterion, session: str) -> Iterator[Line]:
    """Whether a criterion that people judge is met with evidence, or deferred with a reason."""
    if criterion.status == "deferred":
        if not (criterion.reason or "").strip():
            way = _set(criterion, "deferred", session)
            yield ("error", criterion.id, "is deferred without an acknowledgement", way)
        else:
            yield ("info", criterion.id, f"deferred by {criterion.set_by or 'nobody'}: {criterion.reason}", "")
    elif computed(criterion):
        return
    elif criterion.status != "met":
        yield ("error", criterion.id, f"is not met: {criterion.text}", _set(criterion, "met", session))
    elif not criterion.evidence:
        yield ("error", criterion.id, "is set as met without evidence", _set(criterion, "met", session))
    elif not criterion.evidence_exists:
        missing = f"its evidence {criterion.evidence} does not exist"
        yield ("error", criterion.id, missing, _set(criterion, "met", session))
    elif criterion.proof is not None:
        yield from _shown(criterion, criterion.proof, session)


_AGAINST = ("block", "inconclusive", "merge_fail", "reject", "test_fail")
"""Effects of reports that say that something is not as it should be."""


def _shown(criterion: Criterion, proof: Proof, session: str) -> Iterator[Line]:
    """What is wrong with the evidence of a criterion that is set as met: it exists, and may say the opposite."""
    named, other = f"its evidence {criterion.evidence}", _set(criterion, "met", session)
    said = _contradicted(proof)
    if said:
        yield ("error", criterion.id, f"{named} does not show that it is met: {said}", other)
    elif None not in (criterion.group, proof.group) and criterion.group != proof.group:
        about = f"{named} is about group {proof.group}, and the criterion is about {criterion.group}"
        yield ("error", criterion.id, about, other)
    elif proof.is_older:
        yield ("warning", criterion.id, f"{named} is older than the last submission of group {proof.group}", other)
    elif proof.is_report and proof.by == MANAGER and (criterion.set_by or "").startswith(MANAGER):
        yield ("warning", criterion.id, f"{named} is the project manager's own report", other)


def _contradicted(proof: Proof) -> str:
    """In which words evidence says that something failed; empty where it does not."""
    if proof.is_report:
        is_rejected = proof.by == VALIDATOR and proof.said != "ACCEPT"
        return f"{proof.by} reported {proof.said}" if proof.effect in _AGAINST or is_rejected else ""
    # Only gates that did not pass leave evidence.
    failed = proof.by == "gate" or (proof.by == "command" and proof.said != "exit 0")
    return f"{proof.by}: {proof.said}" if failed else ""


def _set(criterion: Criterion, status: str, session: str) -> str:
    evidence = "ID" if status == "met" else None
    by = {"by": "project_manager", "reason": "TEXT", "session_id": session}
    return suggest("criterion set", id=criterion.id, status=status, evidence=evidence, **by)


def _record(criterion: Criterion, session: str) -> str:
    return suggest("criterion set", id=criterion.id, actual="N", by="AGENT", reason="TEXT", session_id=session)


def compare(criterion: Criterion, session: str) -> Iterator[Line]:
    """A numeric criterion against its target; a value that is missing is not met."""
    actual, target = number(criterion.actual), number(criterion.target)
    wanted = f"{criterion.metric} {SIGNS[criterion.operator or 'eq']} {criterion.target}"
    if actual is None or target is None:
        yield ("error", criterion.id, f"is not met: no value is recorded for {wanted}", _record(criterion, session))
    elif why := unfit_actual(criterion.metric or "", str(criterion.actual)):
        yield ("error", criterion.id, f"is not met: {why}", _record(criterion, session))
    elif not OPERATORS[criterion.operator or "eq"](actual, target):
        yield ("error", criterion.id, f"is not met: {criterion.actual} is not {wanted}", _record(criterion, session))
    else:
        yield ("info", criterion.id, f"is met: {criterion.actual} is {wanted}", "")
        if criterion.proof is not None:
            yield from _shown(criterion, criterion.proof, session)


def judge(criterion: Criterion, ran: Ran | None, *, session: str, pending: bool = False) -> Iterator[Line]:
    """A command criterion by how its command ended, never by a word that it printed.

    Args:
        session: whose criterion it is.
        pending: whether the command waits for a confirmation and so was not run.
    """
    command = " ".join(map(names.word, criterion.command or ()))
    if pending:
        why = f"pending_approval: its command came in a report, and nobody has allowed it to run: {command}"
        yield ("error", criterion.id, why, suggest("criterion approve", id=criterion.id, session_id=session))
    elif ran is None:
        yield ("error", criterion.id, f"its command was not run: {command}", again(run_commands=True))
    elif ran.status is None:
        yield ("error", criterion.id, f"its command did not succeed: {ran.why}", command)
    elif ran.status != 0:
        pytest = any("pytest" in word for word in criterion.command or ())
        why = " (pytest: no tests were collected)" if ran.status == 5 and pytest else ""
        yield ("error", criterion.id, f"its command ended with {ran.status}{why}", command)
    else:
        yield ("info", criterion.id, f"its command ended with 0: {command}", "")
