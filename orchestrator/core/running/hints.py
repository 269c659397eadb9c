"""What helps after a run that is not complete, by the rule that decided; a hint fits the reason or is none.

Source: seed 001, Properties 34, 35 and 39.
"""

from __future__ import annotations

from orchestrator.core.running import advice, codes, facts, guard, judgement, limits, states
from orchestrator.core.suggestions import sentence, suggest

TYPE_GUESSED = sentence(
    "If you wanted a change, give the task type: {}; {} lists the types",
    suggest("run", prompt="TASK", type="IMPLEMENTATION"), suggest("run", help=True),
)  # fmt: skip
BY_RULE: dict[str, str] = {
    **{rule.name: rule.helps for rule in judgement.RULES if rule.helps is not None},
    judgement.NOTHING_VERIFIED: (
        "Permissions, times and identical bytes are not a change. If you only want an answer, add --type READ_INFO"
    ),
}
"""By the name of the rule of a verdict; that an executor was ended is told by `blocked`."""

_CLOCKS = {
    "executor_timeout_ms": "--executor-timeout MS",
    "progress_timeout_ms": "--progress-timeout MS",
    "task_limits.seconds": "task_limits.seconds in orchestrator.json",
}
_UNANSWERED = "The session was closed before anybody answered: enter the task again with the answer in it"
_NOT_KEPT = {
    facts.DISK_FULL: "Free space and enter the task again; {full} shows the output that was kept",
    facts.EVIDENCE_DELETED: (
        "Enter the task again with an executor that leaves .orchestrator alone; the output of this one was not kept"
    ),
}
"""What helps where not all that an executor wrote was kept, by how the reason begins."""
UNANSWERED = "unanswered"
"""Why a run ended whose question nobody answered."""


def blocked(reason: str | None, limit: str | None, timeout_ms: int | None) -> str:
    """What helps where an executor hung or asked for input: first what to change, then the fixed question.

    Args:
        reason: TIMEOUT or INTERACTIVE_PROMPT.
        limit, timeout_ms: the clock that ended it; what it is set to is told in the unit of its setting.

    Source: seed 000, Implementation Requirements 3.
    """
    if reason == states.TIMEOUT:
        clock = _CLOCKS.get(limit or "", "--executor-timeout MS")
        now = f" (now {limits.setting(limit, timeout_ms)[0]})" if timeout_ms is not None else ""
        helps = f"Raise {clock}{now}, or make the task smaller."
    else:
        helps = "Keep the executor from asking, or put the answer into the task."
    return f"{helps} {' '.join(guard.fallback(None, reason).split())}"


def of(rule: str | None, state: str, reason: str | None, code: str | None, id: str) -> str | None:
    """What helps after a run that ended without being complete, or None.

    Args:
        rule: the rule of its verdict that decided; None where no executor was called.
        state, reason, code: the run's state, why it ended so, and its error's code.
        id: the run's id outside.
    """
    for kind, helps in _NOT_KEPT.items():
        if reason is not None and reason.startswith(kind):
            return advice.filled(helps, id)
    if rule in BY_RULE:
        return advice.filled(BY_RULE[rule], id)
    if state == states.UNFINISHED and reason == UNANSWERED:
        return _UNANSWERED
    known = codes.CODES.get(code or "")
    return known.remedy if known is not None and state == states.FAILED else None


def rule(verdict: str | None) -> str | None:
    """The rule that decided, from the entry of a log with the verdict: `STATUS: RULE, RULE`."""
    return verdict.partition(": ")[2].partition(",")[0].strip() or None if verdict else None
