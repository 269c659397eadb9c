"""The verdict on the run of an agent's turn: answered, no answer, failed or limited, by what the runner saw.

Whether the work is done is not judged here: the answer is a report, and the router decides about that. Like the rules
of tasks, the first row of one ordered table that applies decides.

Source: seed 001, Properties 1, 7, 9, 21, 34 and 35.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from orchestrator.core import task_types
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import shown
from orchestrator.core.routing.facts import BUILDERS, QA
from orchestrator.core.running import states
from orchestrator.core.running.facts import some

ANSWERED, NO_ANSWER, FAILED, LIMITED = "answered", "no_answer", "failed", "limited"
ENDED = (ANSWERED, NO_ANSWER, FAILED, LIMITED)
MAY_WRITE = (*BUILDERS, QA)
"""The roles whose turns change files: who builds, and who adds tests."""
_HARMLESS = ("EXIT_STATUS", "PERMISSION_DENIED")
"""Errors beside which an answer counts: an exit code decides nothing, and what was denied is told to the next agent."""
_LIMITS = ("USAGE_LIMIT", "RATE_LIMIT")
"""Errors that say that the executor may be called again later."""


class TurnFacts(NamedTuple):
    """What the runner knows of a turn when its executor has ended.

    status, answer, error: as the executor told. session, issued_session: the id that the result names, and the one that
    was issued. executor_blocked, blocked_reason, timeout_ms, limit: it was ended because it prompted or hung, by which
    clock. signal: the signal that ended it. cancelled: somebody stopped it. denied_tools: what it was not allowed to
    use. leftovers: processes that could not be ended. unfinished: work left in the background.
    tampered: settings and records that are not the executor's to touch, each in words.
    evidence_missing: operations without evidence; evidence_faults: code and sentence of each fault.
    log_error: why its log could not be written.
    """

    status: str
    answer: str = ""
    error: str | None = None
    session: str | None = None
    issued_session: str = ""
    executor_blocked: bool = False
    blocked_reason: str | None = None
    timeout_ms: int | None = None
    limit: str | None = None
    signal: int | None = None
    cancelled: bool = False
    denied_tools: Sequence[str] = ()
    leftovers: Sequence[str] = ()
    unfinished: Sequence[str] = ()
    tampered: Sequence[str] = ()
    evidence_missing: Sequence[str] = ()
    evidence_faults: Sequence[tuple[str, str]] = ()
    log_error: str | None = None


class TurnVerdict(NamedTuple):
    """What became of a turn.

    state: one of `ENDED`. rule: the rule that decided; None where it was answered. code: E..., where one fits.
    reason: why, in one sentence; None where it was answered.
    """

    state: str
    rule: str | None = None
    code: str | None = None
    reason: str | None = None


class TurnRule(NamedTuple):
    """One reason why a turn has no answer that counts: its name, what it makes of the turn, the code, and when.

    why: the sentence, or a code of its own with the sentence; None where the rule does not apply.
    """

    name: str
    state: str
    code: str | None
    why: Callable[[TurnFacts], str | tuple[str, str] | None]


def judge(facts: TurnFacts) -> TurnVerdict:
    """The verdict, by the first rule that applies; a turn that none applies to is answered."""
    for rule in RULES:
        said = rule.why(facts)
        if said is not None:
            code, reason = (rule.code, said) if isinstance(said, str) else said
            return TurnVerdict(rule.state, rule.name, code, reason)
    return TurnVerdict(ANSWERED)


def task_type(role: str) -> str:
    """The type that a turn is executed as, which follows from its role."""
    return task_types.IMPLEMENTATION if role in MAY_WRITE else task_types.READ_INFO


def _session_other(facts: TurnFacts) -> str | None:
    if facts.session in (None, facts.issued_session):
        return None
    return f"The result names session {shown(facts.session)}, which is not this one."


def _session_missing(facts: TurnFacts) -> str | None:
    """What failed has no result that could name a session."""
    is_told = facts.session is not None or facts.status == states.ERROR or facts.signal is not None
    return None if is_told else "The result names no session."


def _blocked(facts: TurnFacts) -> str | None:
    if not facts.executor_blocked:
        return None
    if facts.blocked_reason == states.TIMEOUT:
        return f"The executor was ended by {facts.limit or 'its time limit'} of {facts.timeout_ms} ms."
    return "The executor asked for input, and nobody can give it."


def _usage_limit(facts: TurnFacts) -> str | None:
    return _line(facts.error or "") if (facts.error or "").startswith(_LIMITS) else None


def _unknown_status(facts: TurnFacts) -> str | None:
    known = facts.status in states.EXECUTOR_STATUSES and facts.blocked_reason in (None, *states.BLOCKED_REASONS)
    return None if known else f"The runner does not know {shown(facts.status)}, {shown(facts.blocked_reason)}."


def _executor_error(facts: TurnFacts) -> str | None:
    if facts.signal is not None:
        return f"The executor was ended by signal {facts.signal}."
    if facts.status not in (states.ERROR, states.INVALID):
        return None
    if facts.answer.strip() and (facts.error or "").startswith(_HARMLESS):
        return None
    return f"The executor reported an error: {_line(facts.error or facts.status)}"


def _evidence_missing(facts: TurnFacts) -> str | None:
    return f"No evidence of {some(facts.evidence_missing)}." if facts.evidence_missing else None


def _no_answer(facts: TurnFacts) -> str | None:
    denied = f" It was not allowed to use {some(facts.denied_tools)}." if facts.denied_tools else ""
    return None if facts.answer.strip() else f"The executor ended without an answer.{denied}"


def _line(text: str) -> str:
    line = (text.strip().splitlines() or [""])[0]
    return line if len(line) <= 300 else f"{line[:299]}…"


RULES: tuple[TurnRule, ...] = (
    TurnRule("session_other", FAILED, "E502", _session_other),
    TurnRule(
        "tampered", FAILED, "E501",
        lambda facts: f"What no executor may touch was touched: {some(facts.tampered)}." if facts.tampered else None,
    ),
    TurnRule("cancelled", FAILED, None, lambda facts: "The turn was cancelled." if facts.cancelled else None),
    TurnRule("usage_limit", LIMITED, None, _usage_limit),
    TurnRule("blocked", FAILED, "E503", _blocked),
    TurnRule("unknown_status", FAILED, "E503", _unknown_status),
    TurnRule("executor_error", FAILED, "E503", _executor_error),
    TurnRule("session_missing", FAILED, "E501", _session_missing),
    TurnRule(
        "log_failed", FAILED, None,
        lambda facts: f"The log could not be written: {_line(facts.log_error)}" if facts.log_error else None,
    ),
    TurnRule(
        "evidence_faulty", FAILED, None, lambda facts: facts.evidence_faults[0] if facts.evidence_faults else None
    ),
    TurnRule("evidence_missing", FAILED, None, _evidence_missing),
    TurnRule(
        "leftovers", FAILED, None,
        lambda facts: f"Processes could not be ended: {some(facts.leftovers)}." if facts.leftovers else None,
    ),
    TurnRule("no_answer", NO_ANSWER, None, _no_answer),
)  # fmt: skip
"""What is asked of each turn, in this order."""
