"""What moves did before: what a move leads to is known where all that deciding it looks at is as it was once.

Most of what happens to a group is decided by its own rows, and by no more of the other groups than whether they hold a
slot. So a move is made in the database once for everything that it can see, and what it changed is carried over to
every other state that looks the same to it. What it looks at:

- the session, what is asked, and the dependencies: whole;
- the group that the move is about: whole; so is one that waits to be started or that nobody is awaited for, since any
  step may start it, and one that depends on another or that another depends on, since its path decides for both;
- any other group: whether it is closed, or who is awaited (an agent, a person, the project manager, and whether that
  one was called or is only named). The board, the phase check and the rule `stalled` count no more than that;
- in reports of the project manager on the session as a whole: what awaits the manager, whole, and whether a
  confirmation of the session would confirm the group.

A group that a move changed although it was not looked at whole is looked at whole from then on, by this move in such
states. That this is all is not taken on trust: whenever the search has to stand in a state that was carried over, the
way to it is gone with the real use cases and must lead there; and of what is carried over every so manieth is made
again. Where one of them says otherwise, the search begins anew and carries nothing over.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from orchestrator.app.engine import overview
from orchestrator.app.prover.sandbox import ANSWER, Move
from orchestrator.app.prover.search_state import Fault, Key, Marks, Place, State
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER, PERSON, Session
from orchestrator.hints import Any
from orchestrator.store import queries, reader

WAITS, PATH = slice(5, 10), 10
"""Where in the key of a group that is in progress it says who is awaited, and where its path begins."""
CLOSED = ("completed", "cancelled", "deferred_external")


class Changed(NamedTuple):
    """One group as a move left it, or only who is awaited for it then; `place` is its number in order of creation."""

    place: int
    marks: Marks
    key: Key
    blockers: tuple[tuple[Any, ...], ...]
    awaits: bool

    def over(self, m: Marks, key: Key) -> tuple[Marks, Key]:
        """The group after the move."""
        if not self.awaits:
            return self.marks, self.key
        new = self.marks
        moved = m._replace(
            awaited_role=new.awaited_role, awaited_agent=new.awaited_agent, awaited_action=new.awaited_action,
            turn=new.turn, held=new.held, rank=new.rank,
        )  # fmt: skip
        return moved, (*key[:WAITS.start], *self.key[WAITS], *key[WAITS.stop :])


class Outcome(NamedTuple):
    """What a move leads to: a refusal where `session` is None and nothing is wrong."""

    session: Session | None
    rest: Key
    changed: tuple[Changed, ...]
    faults: tuple[Fault, ...]

    @property
    def refused(self) -> bool:
        """Whether the move was refused, so that nothing changed."""
        return self.session is None and not self.faults

    def alike(self, other: Outcome, place: Place) -> bool:
        """Whether two outcomes lead from a state to the same."""
        return self._seen(place) == other._seen(place)

    def _seen(self, place: Place) -> Key:
        led = None if self.session is None else self.lead(place)[1:]
        return (led, [fault.invariant for fault in self.faults])

    def lead(self, place: Place) -> Place:
        """Where the move leads from a state that looks the same to it."""
        before, session = place.state, self.session
        assert session is not None  # noqa: S101 - a refused move leads nowhere
        marks, keys, blockers = list(before.groups), list(place.groups), before.blockers
        for each in self.changed:
            number = each.place
            marks[number], keys[number] = each.over(marks[number], keys[number])
            if not each.awaits:
                blockers = {**blockers, each.marks.id: each.blockers}
        state = State(session, tuple(marks), blockers, self.rest[5], self.rest[6])
        return Place(state, tuple(keys), self.rest)


REFUSED = Outcome(None, (), (), ())


def outcome(before: Place, after: Place, move: Move, faults: list[Fault]) -> Outcome:
    """What a move changed; the group that it is about counts as changed, since not all of it was looked at."""
    about = _about(before, move)
    state = after.state
    changed = tuple(
        Changed(number, m, key, state.blockers.get(m.id, ()), m.id != about and _awaits(was, key))
        for number, (m, key, was) in enumerate(zip(state.groups, after.groups, before.groups, strict=True))
        if key != was or m.id == about
    )
    return Outcome(state.session, after.rest, changed, tuple(faults))


def _awaits(was: Key, key: Key) -> bool:
    """Whether two keys of a group in progress differ in nothing but who is awaited."""
    rest = slice(WAITS.stop, None)
    return was[0] == "in_progress" and (was[: WAITS.start], was[rest]) == (key[: WAITS.start], key[rest])


class Memory:
    """Outcomes by move and by what it looks at."""

    def __init__(self) -> None:
        self._found: dict[Key, Outcome | int | frozenset[int]] = {}

    def recall(self, place: Place, move: Move) -> Outcome | None:
        """The outcome, where it is known."""
        found = self._found.get(self._look(place, move, None))
        return found if isinstance(found, Outcome) else None

    def keep(self, place: Place, move: Move, made: Outcome, level: int) -> None:
        """Remember an outcome; what it changed is looked at whole from now on."""
        self._found[self._look(place, move, made, level)] = made

    def _look(self, place: Place, move: Move, made: Outcome | None, level: int = 0) -> Key:
        """The key of an outcome, as closely as was found to be necessary, or turns out to be now."""
        touched = {each.place for each in made.changed if not each.awaits} if made else set[int]()
        about = _about(place, move)
        at, whole = OWN, {number for number, m in enumerate(place.state.groups) if m.id == about}
        key: Key = (_name(move), place.rest, about, *(_mover(place, number, move) for number in whole))
        while True:
            found = self._found.get(key)
            if isinstance(found, Outcome) or (found is None and (made is None or (at >= level and touched <= whole))):
                return key
            if found is None:
                found = self._found[key] = max(level, at + 1) if at < ALL else frozenset(touched - whole)
            if isinstance(found, int):
                at = found
                whole |= {number for number, m in enumerate(place.state.groups) if _whole(m, move, about, at)}
                key = (key, at, _seen(place, about, whole, at))
            else:
                whole |= found
                key = (key, *(place.groups[number] for number in sorted(found)))


OWN, COUNTED, ALL = 0, 1, 2
"""How much of the other groups an outcome rests on: nothing, in which of the counted states each is, or all above."""
_ELSEWHERE = re.compile("task_groups|completion_paths|group_dependencies|group_marks|group_reasons")
_OWN = frozenset((reader.OPENING, reader.GROUP, queries.GROUP))
_TOLD = frozenset((overview.KINDS, reader.PATH, queries.DEPENDENTS))
"""What answers say of other groups, and nothing rests on. (Where the group's own path matters, its chain is read.)"""
_COUNTED = frozenset((reader.BOARD, reader.HELD, reader.IDLE, reader.AWAITING_MANAGER))
_STARTS = frozenset((reader.PENDING, reader.OPEN_DEPENDENCIES))


def level(said: Iterable[str], place: Place, move: Move, made: Outcome, limit: int) -> int:
    """How much of the other groups an outcome rests on.

    Args:
        said: the statements that the move was made with.
        limit: the most groups that run at a time.
    """
    about = _about(place, move)
    if about is None or made.faults:
        return ALL
    counted = _COUNTED | _STARTS if _starts_nothing(place, about, made, limit) else _COUNTED
    found = OWN
    for sql in said:
        if sql in counted:
            found = COUNTED
        elif sql in _OWN or sql in _TOLD or not _ELSEWHERE.search(sql) or sql.startswith('SELECT "session_id"'):
            continue
        elif not sql.startswith("UPDATE task_groups") or ('"status"' in sql and counted is _COUNTED):
            return ALL
    if found == OWN and not made.refused and not _keeps_running(place, made):
        # What must hold of the session counts groups with agents.
        return COUNTED if counted is not _COUNTED else ALL
    return found


def _keeps_running(place: Place, made: Outcome) -> bool:
    before = [place.state.groups[each.place] for each in made.changed]
    alike = all(m.running and each.marks.running for m, each in zip(before, made.changed, strict=True))
    return alike and made.rest == place.rest


def _starts_nothing(place: Place, about: str, made: Outcome, limit: int) -> bool:
    """Whether a move can start no other group, whatever is pending.

    Nothing could start before it, or the state before would have broken an invariant. So it takes a free slot where
    there was none, or a group that satisfies its dependents where it did not, to start one.
    """
    if made.refused or made.rest[:2] != place.rest[:2] or place.rest[0] != "active" or not place.rest[1]:
        return False
    before = next(m for m in place.state.groups if m.id == about)
    after = next((each for each in made.changed if each.marks.id == about), None)
    if after is None or before.status == "pending" or after.key[0] == "completed" or any(
        m.held for m in place.state.groups
    ):
        return False
    if after.key[0] == "in_progress" and after.key[PATH]:
        return False
    free = sum(m.running for m in place.state.groups) < limit
    return free or after.marks.running or not before.running


def _name(move: Move) -> Key:
    words, given = move.op
    return (words, repr(given), move.limit)


def _about(place: Place, move: Move) -> str | None:
    words, given = move.op
    if words == ANSWER:
        group: str | None = place.state.questions[0][0]
        return group
    return given.get("group_id") or given.get("id")


def _role(m: Marks) -> str | None:
    return m.awaited_role if m.awaited_role in (None, MANAGER, PERSON) else "agent"


def _mover(place: Place, number: int, move: Move) -> Key:
    m, key = place.state.groups[number], place.groups[number]
    if m.status == "in_progress" and not m.held:
        if move.op.arguments.get("status") == "cancelled":
            return (m.status, _role(m), m.awaited_action == "wait")
        if move.op.arguments.get("interrupt"):
            return (*key[:5], _role(m), *key[6:])
    return key


def _whole(m: Marks, move: Move, about: str | None, at: int) -> bool:
    if m.status in CLOSED:
        return False
    if m.held or (m.status != "pending" and m.awaited_role is None):
        return True
    return at == ALL and m.status == "pending"


def _seen(place: Place, about: str | None, whole: set[int], at: int) -> Key:
    found: list[Any] = []
    for number, m in enumerate(place.state.groups):
        if m.id == about:
            continue
        key = place.groups[number]
        if number in whole:
            found.append(key)
        elif m.status != "in_progress":
            found.append(m.status)
        else:
            approved = at == ALL and key[PATH] and _matters(m, key, place, about)
            found.append((_role(m), m.awaited_action == "wait", approved and (key[3:5], key[PATH:])))
    return tuple(found)


def _matters(m: Marks, key: Key, place: Place, about: str | None) -> bool:
    """Whether the path of an approved group may matter for a move that is not about it."""
    if any(m.id in edge for edge in place.state.edges):
        return True
    return about is None and bool(m.kind == "research" or key[PATH + 1])
