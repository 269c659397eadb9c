"""What stops a piece of work: soft blockers, which a successor can go on from, and hard ones, which need a judge."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Literal

BlockerClass = Literal["soft", "hard"]
SOFT: BlockerClass = "soft"
HARD: BlockerClass = "hard"

TYPES: dict[str, BlockerClass] = {
    "timeout": SOFT,
    "context_exhaustion_handoff": SOFT,
    "phase_incomplete": SOFT,
    "mcp_transient": SOFT,
    "build_warning": SOFT,
    "waiting": SOFT,
    "manual": SOFT,
    "mathematically_false": HARD,
    "missing_dependency": HARD,
    "unresolvable_build_error": HARD,
    "invalid_specification": HARD,
    "resource_exhausted": HARD,
    "strategy_failed": HARD,
    "permission_denied": HARD,
    "verification_failed": HARD,
    "external": HARD,
    "unclassified": HARD,
}
SYNONYMS = {"strategy_exhausted": "strategy_failed"}

MAX_RETURNS = 3
MAX_WITHOUT_PROGRESS = 2
MAX_CONTINUATIONS = 5


class Classified(NamedTuple):
    """A blocker's type and class."""

    type: str
    blocker_class: BlockerClass


UNCLASSIFIED = Classified("unclassified", HARD)
PHASE_INCOMPLETE = Classified("phase_incomplete", SOFT)


def type_name(raw: str) -> str:
    """A blocker type's one name: stripped, ASCII letters lowered, synonyms replaced."""
    folded = names.fold_name(raw)
    return SYNONYMS.get(folded, folded)


def of_error(raw_type: str, recoverable: bool) -> Classified:
    """Classify one error: a known type by the table, any other (``validation``, ``execution``) by ``recoverable``."""
    name = type_name(raw_type)
    return Classified(name, TYPES.get(name, SOFT if recoverable else HARD))


def worst(stage: str | None, found: Iterable[Classified]) -> Classified | None:
    """The blocker that counts among a stage that names a soft type and the errors: the first hard, else the first.

    A stage that names a hard type gives none: what is hard is said by an error. Where no error says it, the blocker
    is unclassified, and so hard all the same.

    Returns None when neither names one.
    Source: seed 003, Blocker Taxonomy.
    """
    name = type_name(stage or "")
    every = [*([Classified(name, SOFT)] if TYPES.get(name) == SOFT else []), *found]
    if not every and TYPES.get(name) == HARD:
        return UNCLASSIFIED
    return next((each for each in every if each.blocker_class == HARD), every[0] if every else None)


def hardened(type_: str, phases: int | None, before: Sequence[tuple[str, int | None]]) -> str | None:
    """The limit that a soft blocker reaches by returning once more, as a sentence part, or None.

    Args:
        type_: its type.
        phases: the phases that are finished by now; None where the report counts none, which measures nothing.
        before: type and finished phases of the soft blockers before it, newest first, since progress or an answer.
    """
    measured = [done for done in (phases, *(done for _, done in before)) if done is not None]
    still = 0
    if phases is not None:
        grew = (place for place, done in enumerate(measured[:-1]) if done > max(measured[place + 1 :]))
        still = next(grew, len(measured) - 1)
    return exhausted(sum(each == type_ for each, _ in before), still, len(before))


def exhausted(returns: int, without_progress: int, continuations: int) -> str | None:
    """The first limit that makes a soft blocker hard, as a sentence part, or None while it may go on.

    Args:
        returns: how often the same type came back for this group or task.
        without_progress: continuations in a row that finished no further phase or objective.
        continuations: continuations in all since progress or an answered question.
    """
    if returns > MAX_RETURNS:
        return f"the same blocker returned more than {MAX_RETURNS} times"
    if without_progress >= MAX_WITHOUT_PROGRESS:
        return f"{MAX_WITHOUT_PROGRESS} continuations brought no progress"
    if continuations >= MAX_CONTINUATIONS:
        return f"{MAX_CONTINUATIONS} continuations were used"
    return None
