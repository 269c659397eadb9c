"""What helps after a run that is not complete, by the rule that decided; a hint fits the reason or is none.

Source: seed 001, Properties 34, 35 and 39.
"""

from __future__ import annotations

from orchestrator.core.running import codes, guard, limits, states

TYPE_GUESSED = (
    "If a change was wanted, give the type: orchestrator run TASK --type IMPLEMENTATION; orchestrator run --help lists"
    " the types"
)
_READ = "/logs {id} --full shows all that the executor wrote"
_EVIDENCE = "The evidence in .orchestrator is not whole: look who changed it, then enter the task again"
BY_RULE: dict[str, str] = {
    "session_other": "The executor's result has to name the session that ORCHESTRATOR_SESSION_ID holds",
    "foreign_artifact": "Look at what is named, remove it, and enter the task again",
    "tampered": "If you edited it yourself, enter the task again; else put it back, and trust no such executor",
    "unapproved_task": "An executor may propose subtasks, and make none: remove them, then enter the task again",
    "executor_invalid": _READ,
    "session_missing": "The executor's result has to name the session that ORCHESTRATOR_SESSION_ID holds",
    "cancelled": "/logs {id} shows how far it came",
    "unknown_facts": "The executor's result is of no known form; " + _READ,
    "log_failed": "See that the project's folder can be written and has room, then enter the task again",
    "exit_code": _READ,
    "denied_tools": "Allow these tools in the executor's own settings, or ask for what needs none of them",
    "executor_error": _READ,
    "limit_broken": "Make the task smaller, or raise task_limits in orchestrator.json",
    "unknown_type": "orchestrator run --help lists the types",
    "claimed_missing": "The executor says that it made a file which is not there; " + _READ,
    "unverifiable_claim": "Only files that the task itself made or changed within the project count; " + _READ,
    "evidence_missing": _EVIDENCE,
    "evidence_faulty": _EVIDENCE,
    "guessed_claim": "The executor is not sure of its work: look at it yourself, then enter the task again",
    "blocked": "Enter the task again with the answer in it",
    "executor_no_evidence": "The executor says itself that it has nothing to show; " + _READ,
    "question": "Enter the task again with the answer in it",
    "reported_unfinished": "The executor says itself that its work is not done; " + _READ,
    "executor_incomplete": "The executor says itself that it did not finish; " + _READ,
    "target_unmet": "Of the files and folders that a task mentions, what it orders has to be done; " + _READ,
    "stray_deletion": "Check what is gone, and put back what was not meant; " + _READ,
    "tests_failed": "Have the tests mended, then enter the task again",
    "checks_failed": "Have what the checks say mended, then enter the task again",
    "tests_unproven": "Have tests written and run for what was changed, then enter the task again",
    "leftovers": "End these processes, then enter the task again",
    "put_off": "Say in the task to wait for what is started, or to run it in the foreground; then enter it again",
    "nothing_verified": (
        "Permissions, times and the same bytes are no change. If an answer is all that is wanted, add --type READ_INFO"
    ),
}
"""By the name of the rule of a verdict; that an executor was ended is told by `blocked`."""

_CLOCKS = {
    "executor_timeout_ms": "--executor-timeout MS",
    "progress_timeout_ms": "--progress-timeout MS",
    "task_limits.seconds": "task_limits.seconds in orchestrator.json",
}
_UNANSWERED = "Nobody answered before the session was closed: enter the task again with the answer in it"
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
        advice = f"Raise {clock}{now}, or make the task smaller."
    else:
        advice = "Have the executor ask nothing, or say the answer in the task."
    return f"{advice} {' '.join(guard.fallback(None, reason).split())}"


def of(rule: str | None, state: str, reason: str | None, code: str | None, id: str) -> str | None:
    """What helps after a run that ended without being complete, or None.

    Args:
        rule: the rule of its verdict that decided; None where no executor was called.
        state, reason, code: the run's state, why it ended so, and its error's code.
        id: the run's id outside.
    """
    if rule in BY_RULE:
        return BY_RULE[rule].format(id=id)
    if state == states.UNFINISHED and reason == UNANSWERED:
        return _UNANSWERED
    known = codes.CODES.get(code or "")
    return known.remedy if known is not None and state == states.FAILED else None


def rule(verdict: str | None) -> str | None:
    """The rule that decided, from the entry of a log with the verdict: `STATUS: RULE, RULE`."""
    return verdict.partition(": ")[2].partition(",")[0].strip() or None if verdict else None
