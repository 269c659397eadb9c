"""What is said when a run has ended: seven lines, each filled, no word of guess; and what helps then.

A hint fits the rule that decided, or is none.

Source: seed 001, Properties 34, 35 and 39.
"""

from __future__ import annotations

import re

from orchestrator.core.running import advice, blocked_output, codes, facts, hedging_words, judgement, limits, states
from orchestrator.core.suggestions import joined, sentence, suggest

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

HEAD, FOOT = "=== TASK SUMMARY ===", "===================="
UNKNOWN = "(unknown)"
UNCERTAIN = "The reason given is not certain; the log has all of it"
LONGEST = 200
LONGEST_COMMAND = 8192
"""Characters of what is to be typed next, which is of no use when it is cut."""

_CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\ud800-\udfff]")
_NEXT = {
    states.DONE: "Enter the next task",
    states.UNFINISHED: "{logs} shows what is missing; {approve} lets it go on",
    states.FAILED: "{full} shows the error in full",
    states.CANCELLED: "Enter the task again when you want it",
}
_HINT = {
    states.DONE: "{logs} shows the log of the run",
    states.UNFINISHED: "Name the file and its intended content, then try again",
    states.FAILED: "Describe the task in smaller steps, or raise --executor-timeout",
    states.CANCELLED: "{logs} shows how far it came",
}


def block(
    task: str, state: str, reason: str | None, *, following: str | None = None, hint: str | None = None
) -> str | None:
    """The seven lines for a run that has ended, without a newline at the end; None for one that has not.

    Args:
        task: the run's id outside, `task-<ms>`.
        state: the run's state.
        reason: why it ended so; `(unknown)` is shown for none.
        following: what to do next, where more is known than the state says.
        hint: what helps, likewise.
    """
    word = states.word_of(state)
    if word is None:
        return None
    shown = _line(task) or UNKNOWN
    return joined(
        [
            HEAD,
            f"[RESULT]  {word}",
            f"[TASK]    {shown}",
            sentence("[NEXT]    {}", _line(following, LONGEST_COMMAND) or advice.filled(_NEXT[state], shown)),
            f"[WHY]     {_why(reason)}",
            sentence("[HINT]    {}", _line(hint) or advice.filled(_HINT[state], shown)),
            FOOT,
        ],
        "\n",
    )


def _why(reason: str | None) -> str:
    line = _line(reason) or UNKNOWN
    return UNCERTAIN if hedging_words.guesses(hedging_words.spoken(line)) else line


def _line(text: str | None, longest: int = LONGEST) -> str:
    """A text as one line without control codes, shortened; one that is so already stays what it is."""
    line = " ".join(_CONTROL.sub(" ", text or "").split())
    if text is not None and line == text and len(line) <= longest:
        return text
    return line if len(line) <= longest else f"{line[: longest - 1]}…"


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
    return f"{helps} {' '.join(blocked_output.fallback(None, reason).split())}"


def hint(rule: str | None, state: str, reason: str | None, code: str | None, id: str) -> str | None:
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
