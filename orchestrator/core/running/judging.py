"""The verdict on a run: a pure function of what the runner saw. The executor's own words only ever lower it.

Objections are asked in one order, and the first that speaks decides. Without any, one of the grounds has to hold:
COMPLETE has no other way.

Source: seed 001, Properties 1, 8, 9 and 31.
"""

from __future__ import annotations

from orchestrator.core.running import grounds, states
from orchestrator.core.running.facts import (
    Facts,
    File,
    Objection,
    Verdict,
    count_modified,
    has_changed,
    judged_as,
    notes,
    some,
)
from orchestrator.core.running.objections import OBJECTIONS

__all__ = ["Facts", "File", "Objection", "Verdict", "count_modified", "judge"]


def judge(facts: Facts) -> Verdict:
    """The verdict on a run, by the first objection, else by the first ground, else NO_EVIDENCE.

    Whatever decides, it says what the task mentions and was not touched, and what was touched and is not mentioned.
    """
    known = facts._replace(task_type=judged_as(facts))
    verdict = _judged(known)
    noted = notes(known, verdict.why)
    ended = f"{verdict.why}." if noted and verdict.why[-1:].isalnum() else verdict.why
    why = " ".join(part for part in (ended, noted) if part)
    return verdict._replace(why=why, error=why if verdict.error == verdict.why else verdict.error)


def _judged(facts: Facts) -> Verdict:
    spoken = [(rule.__name__.strip("_"), said) for rule in OBJECTIONS if (said := rule(facts)) is not None]
    if spoken:
        return _negative(facts, spoken[0][1], tuple(name for name, _ in spoken))
    found = grounds.found(facts)
    if found:
        rules, why = tuple(name for name, _ in found), found[0][1]
        return Verdict(states.COMPLETE, states.DONE, None, None, None, facts.output or "", why, rules)
    return _negative(facts, _nothing(facts), ("nothing_verified",))


def _nothing(facts: Facts) -> Objection:
    """Nothing shows that the task was done; what changed while others worked there too is nobody's evidence."""
    if not facts.unattributed:
        changed = has_changed(facts) or facts.verified
        why = "No verified file shows that the task was done." if changed else "No file changed."
        return Objection(states.NO_EVIDENCE, why)
    who, what = some(facts.beside), some(facts.unattributed)
    return Objection(states.NO_EVIDENCE, f"{who} worked in the project too, so whose work {what} is cannot be told.")


def _negative(facts: Facts, found: Objection, rules: tuple[str, ...]) -> Verdict:
    state = states.state_of(found.status)
    if facts.interactive and found.question is not None:
        state = states.AWAITING
    output = facts.output or "" if found.output is None else found.output
    error = output if found.output is not None else facts.error or found.why
    if rules[0] == "cancelled":
        state = states.CANCELLED
    return Verdict(
        found.status, state, rules[0], found.code, found.question, output, found.why, rules,
        error, found.hint, found.cause or facts.cause,
    )  # fmt: skip
