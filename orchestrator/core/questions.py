"""What a person may be asked, by which words it is answered, and what each answer does. Tables and wording alone."""

from __future__ import annotations

from orchestrator.core.suggestions import suggest

REVIEW, CLARIFICATION, BUDGET = "review", "clarification", "budget"
REPLY, CONFIRMATION, CONTINUATION = "reply", "confirmation", "continuation"

OF_RUNS = (REPLY, CONFIRMATION, CONTINUATION)
"""The kinds that runs open."""

CONTINUE, REVISE, ABANDON, YES, NO = "continue", "revise", "abandon", "yes", "no"
GOES_ON = (CONTINUE, YES)
REVISES = (REVISE,)
ABANDONS = (ABANDON, NO)

_THREE = (CONTINUE, REVISE, ABANDON)
DECISIONS: dict[str, tuple[str, ...]] = {
    REVIEW: _THREE,
    CLARIFICATION: (CONTINUE,),
    BUDGET: _THREE,
    REPLY: _THREE,
    CONFIRMATION: (YES, NO),
    CONTINUATION: _THREE,
}
"""The decisions that each kind of question may be answered by; those that would do the same are one."""
BEFORE_RULES_4 = {CLARIFICATION: _THREE}
"""Decisions that were accepted before rules version 4; an answer that was recorded then is replayed with them."""

NEEDS_NOTE = (REVISE, ABANDON, CLARIFICATION, REPLY)
"""Decisions and kinds whose answer is a note, or nothing without one."""


def decisions(kind: str, text: str, *, before: bool = False) -> tuple[str, ...]:
    """The decisions that a question may be answered by; a run's own yes/no question also by yes and no.

    Args:
        kind: the question's kind.
        text: what it asks.
        before: as it was before rules version 4.
    """
    if before and kind in BEFORE_RULES_4:
        return BEFORE_RULES_4[kind]
    return (YES, NO, *DECISIONS[kind]) if kind == REPLY and _is_yes_no(text) else DECISIONS[kind]


def _is_yes_no(text: str) -> bool:
    from orchestrator.core.running import blocked_output

    return blocked_output.is_yes_no(text)


def needs_note(kind: str, decision: str) -> bool:
    """Whether a question of a kind cannot be answered so without a note; yes and no say all themselves."""
    return decision not in (YES, NO) and (decision in NEEDS_NOTE or kind in NEEDS_NOTE)


def recorded(kind: str, decision: str, note: str) -> tuple[str, str]:
    """Decision and note as they are kept: yes or no in reply to a run is the note with which it goes on.

    A confirmation's no cancels what was to be done; a run that asked something is told no, and goes on with that.
    """
    if kind != REPLY or decision not in (YES, NO):
        return decision, note
    return CONTINUE, f"{decision}: {note}" if note else decision


_OF_THE_PROGRAM = ("project_manager", "validator", "user")
"""Roles in whose place the project manager is called, once a question is answered."""


def effects(
    kind: str, text: str, task: str | None, target: tuple[str | None, str], reporter: str | None,
    *, group: str | None = None, deferrable: bool = False, begun: bool = False,
) -> dict[str, str]:
    """What will happen for each decision of a question, in words.

    Args:
        kind, text: the question's kind, and what it asks.
        task: the task that waits, if it is a task's question.
        target: role and action that are kept back.
        reporter: the role that reported what is asked about, if any.
        group: the group that waits, if one does.
        begun: whether the group was begun for the report, and ends with it.
        deferrable: whether the group has a blocker that guidance marked external, so that it can be deferred.
    """
    if kind == CLARIFICATION:
        return dict.fromkeys(DECISIONS[kind], "the project manager is started again and gets the note")
    role, action = target
    goes_on = f"{role} goes on ({action})" if role else f"the work goes on ({action})"
    if action in ("wait", "pause_for_user") and not role:
        goes_on = "the project manager goes on"
    if role in _OF_THE_PROGRAM:
        goes_on = "the project manager goes on"
    asked = reporter or role
    who = "the project manager" if asked in (None, *_OF_THE_PROGRAM) else asked
    again = f"{who} is started again and gets the note"
    stops = "the project manager is called and decides"
    if group is not None:
        stops = f"the project manager is called, who may cancel {'or defer ' if deferrable else ''}group {group}"
    if begun:
        stops = f"group {group} is cancelled, and the project manager is called"
        again = f"group {group} is cancelled, and {again}"
    if task is not None:
        goes_on, again = f"task {task} goes on", f"task {task} goes on with the note"
        stops = f"task {task} is cancelled"
    said = {CONTINUE: goes_on, YES: goes_on, REVISE: again, ABANDON: stops, NO: stops}
    if kind == REPLY:
        said |= {each: f"task {task} goes on with the answer {each}" for each in (YES, NO)}
    offered = decisions(kind, text)
    if who == "the project manager" and group is None and task is None:
        # Nothing is there to abandon: it would do what `revise` does (PPL-15).
        offered = tuple(decision for decision in offered if decision not in ABANDONS)
    return {decision: said[decision] for decision in offered}


def command(question: str, decision: str, kind: str) -> str:
    """The exact command that gives an answer."""
    note = "TEXT" if needs_note(kind, decision) else None
    return suggest("answer", id=question, decision=decision, note=note)
