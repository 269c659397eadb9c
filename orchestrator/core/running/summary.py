"""The block that is printed when a run has ended: seven lines, each filled, no word of guess.

Source: seed 001, Property 39.
"""

from __future__ import annotations

import re

from orchestrator.core.running import advice, states, words
from orchestrator.core.suggestions import joined, sentence

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
    return UNCERTAIN if words.guesses(line) else line


def _line(text: str | None, longest: int = LONGEST) -> str:
    """A text as one line without control codes, shortened; one that is so already stays what it is."""
    line = " ".join(_CONTROL.sub(" ", text or "").split())
    if text is not None and line == text and len(line) <= longest:
        return text
    return line if len(line) <= longest else f"{line[: longest - 1]}…"
