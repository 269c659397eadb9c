"""Who may lift a block, and who may move a task: by who opened it, by who stands above whom, and by its class.

Source: seed 002, statusChangedBy; seed 003, hard and soft blockers.
"""

from __future__ import annotations

from orchestrator.core import blockers
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER, PERSON


class Standing(NamedTuple):
    """An agent where it stands; `above` are those that it reports to, the nearest first.

    gone: those of them that are out of service.
    """

    id: str
    role: str
    kind: str
    active: int
    session_id: str | None
    group_id: str | None
    above: tuple[str, ...] = ()
    gone: tuple[str, ...] = ()

    @property
    def instance(self) -> bool:
        """Whether it was started for one session."""
        return self.session_id is not None

    @property
    def place(self) -> str:
        """The agent at whose place it stands: an instance at that of its role's agent."""
        return self.above[0] if self.instance and self.above else self.id


class Block(NamedTuple):
    """An open blocker of a task, as far as lifting it depends on it."""

    id: str
    type: str
    severity: str
    reason: str
    opened_by: str | None
    opened_at: str
    cause: str


class Answer(NamedTuple):
    """Whether something may be done, and if not, why, and who may.

    legacy: nobody is on record as the opener, so that any active agent may.
    """

    allowed: bool
    why: str = ""
    may: tuple[str, ...] = ()
    legacy: bool = False


YES = Answer(True)
A_PERSON = "a person, by a human channel"
THE_SYSTEM = "the system, when its cause is gone"
ANYBODY = "any active agent"


def is_above(one: Standing, other: Standing) -> bool:
    """Whether one agent stands above another: as its role's agent does, within its own session and group.

    An instance of the project manager reaches its whole session, the role agents themselves reach everywhere.

    Source: seed 002, validateUnblockPermission (subordinates, here at any depth).
    """
    if one.id == other.id or not _reaches(one, other):
        return False
    if not one.instance:
        return one.id in other.above
    return one.place in (other.above[1:] if other.instance else other.above)


def _reaches(one: Standing, other: Standing) -> bool:
    if not one.instance or not other.instance:
        return True
    if one.session_id != other.session_id:
        return False
    return one.role == MANAGER or one.group_id is None or other.group_id in (None, one.group_id)


def lift(requester: Standing, block: Block, opener: Standing | None, *, person: bool) -> Answer:
    """Whether a requester may lift a blocker of a task.

    Args:
        requester: who asks; registered and active.
        block: the open blocker.
        opener: who opened it, where that is on record.
        person: whether a person stands behind the call, by a human channel.

    Source: seed 002, ステータス変更権限テスト; seed 003, Hard Blockers.
    """
    if person:
        return YES
    if block.severity == blockers.HARD:
        return Answer(False, f"it is hard ({block.type})", may_lift(block, opener))
    if block.opened_by is None:
        return Answer(True, legacy=True)
    if block.opened_by == requester.id or (opener is not None and is_above(requester, opener)):
        return YES
    return Answer(False, _relation(requester, block, opener), may_lift(block, opener))


def may_lift(block: Block, opener: Standing | None) -> tuple[str, ...]:
    """Who may lift a blocker of a task, whoever asks.

    Source: seed 002, validateUnblockPermission; seed 003, Hard Blockers.
    """
    if block.severity == blockers.HARD:
        return (A_PERSON,)
    return (ANYBODY, A_PERSON) if block.opened_by is None else _may(opener)


def _relation(requester: Standing, block: Block, opener: Standing | None) -> str:
    by = block.opened_by
    if opener is None or opener.kind == "system":
        return f"{by} is the system"
    if opener.kind == "human":
        return f"{by} is a person"
    if is_above(opener, requester):
        return f"{by} stands above {requester.id}"
    return f"{by} stands neither at nor below {requester.id}"


def _may(opener: Standing | None) -> tuple[str, ...]:
    """Who may do what an agent, or one above it, may: those in service."""
    if opener is None or opener.kind == "system":
        return (THE_SYSTEM, A_PERSON)
    if opener.kind == "human":
        return (A_PERSON,)
    own = (opener.id,) if opener.active else ()
    return (*own, *(name for name in opener.above if name != PERSON and name not in opener.gone), A_PERSON)


def move(
    requester: Standing, owner: Standing | None, assignee: str | None, *, person: bool, starts: bool = False
) -> Answer:
    """Whether a requester may change a task's status out of another state than `blocked`.

    Args:
        owner: the assignee, or for an unassigned task who created it; None where nobody is on record.
        assignee: the assignee's id, None where nobody has the task.
        starts: the task is to be started; one that nobody in service has goes to who starts it.
    """
    if person or owner is None or (starts and (assignee is None or not owner.active)):
        return YES
    if owner.id in (requester.id, requester.place) or is_above(requester, owner):
        return YES
    what = "has the task" if assignee is not None else "created the task, which nobody has"
    return Answer(False, f"{owner.id} {what}", _may(owner))


def may_cancel(requester: Standing, *, person: bool) -> bool:
    """Whether a task may be cancelled whatever blocks it: by the project manager or a person, with a reason."""
    return person or requester.role == MANAGER
