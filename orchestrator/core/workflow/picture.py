"""What a picture of a workflow shows, whatever draws it: boxes, and links with the statuses that take them.

Cold module.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import vocabulary
from orchestrator.core.workflow.model import Transition, Workflow
from orchestrator.core.workflow.vocabulary import PROJECT_MANAGER, RETURN_TO_BLOCKED, VALIDATOR

Positions = Mapping[str, Sequence[str]]

ROLE = "role"
PERSON = "person"
END = "end"
RETURN = "return"

# How a status is coloured: what it does to the work.
GOOD = "good"
BAD = "bad"
STOP = "stop"
HELP = "help"
WORK = "work"

_TONES = {
    **dict.fromkeys(("approve", "merge", "test_pass", "confirm"), GOOD),
    **dict.fromkeys(("reject", "merge_fail", "test_fail", "inconclusive", "rework"), BAD),
    **dict.fromkeys(("block", "clarify", "defer"), STOP),
    **dict.fromkeys(("guide", "resume"), HELP),
}
TITLES = {PERSON: "a person answers", END: "session ends", RETURN: "whoever was blocked"}
RANK = {
    vocabulary.PROJECT_MANAGER: 0,
    vocabulary.DEVELOPER: 1,
    vocabulary.SENIOR: 1,
    vocabulary.REQUIREMENTS_ENGINEER: 1,
    vocabulary.QA_EXPERT: 2,
    vocabulary.INVESTIGATOR: 2,
    vocabulary.TECH_LEAD: 3,
    vocabulary.VALIDATOR: 4,
    PERSON: 4,
    END: 4,
}
"""How far work has come at a box; others stand beside developers."""
MAX_MARKS = 4
"""So many of what stands at a box are named."""
# Under which keys a session's position may speak of the person.
_PERSON_KEYS = ("user", PERSON, vocabulary.QUESTION)


class Label(NamedTuple):
    """One status on a link, and its colour."""

    text: str
    tone: str


Ways = Mapping[tuple[str, str], int]
"""How often each role reported each status."""


class Node(NamedTuple):
    """One box. loops: statuses that come back to it; marks: what of a session stands there."""

    id: str
    title: str
    kind: str
    loops: tuple[Label, ...]
    marks: tuple[str, ...]


class Link(NamedTuple):
    """All statuses that lead from one box to another."""

    source: str
    target: str
    labels: tuple[Label, ...]


class Picture(NamedTuple):
    """Boxes and links, in the order of the file."""

    name: str
    nodes: tuple[Node, ...]
    links: tuple[Link, ...]


def picture(workflow: Workflow, positions: Positions | None = None) -> Picture:
    """The boxes and links of a workflow, with a session's position on them.

    Args:
        workflow: the workflow.
        positions: role -> what waits for it (group ids, say); "question" speaks of the person.
    """
    grouped: dict[tuple[str, str], list[Label]] = {}
    for transition in workflow.transitions.values():
        for target, text in _ways(transition):
            label = Label(text, _TONES.get(transition.effect, WORK))
            grouped.setdefault((transition.role, target), []).append(label)
    ids = dict.fromkeys((*workflow.roles(), *(target for _, target in grouped)))
    nodes = tuple(_node(node, tuple(grouped.get((node, node), ())), positions or {}) for node in ids)
    links = tuple(Link(a, b, tuple(labels)) for (a, b), labels in grouped.items() if a != b)
    return Picture(workflow.name, nodes, links)


def _ways(t: Transition) -> Iterator[tuple[str, str]]:
    if t.next_agent is not None:
        target = f"{RETURN}:{t.role}" if t.next_agent == RETURN_TO_BLOCKED else t.next_agent
        yield target, t.status
    elif t.action == vocabulary.CHECK_PHASE:
        yield PROJECT_MANAGER, f"{t.status} (phase check)"
    elif t.action == vocabulary.VALIDATE_THEN_END:
        yield VALIDATOR, t.status
    else:
        yield END if t.action == vocabulary.END_SESSION else PERSON, t.status
    if t.fallback_agent is not None:
        yield t.fallback_agent, f"{t.status} (fallback)"


def _node(node: str, loops: tuple[Label, ...], positions: Positions) -> Node:
    kind = node.partition(":")[0]
    kind = kind if kind in TITLES else ROLE
    keys = _PERSON_KEYS if kind == PERSON else (node,)
    marks = tuple(str(mark) for key in keys for mark in positions.get(key, ()))
    return Node(node, TITLES.get(kind, node.replace("_", " ")), kind, loops, marks)


class Way(NamedTuple):
    """One status of a box. target: the title of the box to which it leads; arrow: one of `ARROWS`; gone: whether it
    was reported, in a picture that says how often."""

    text: str
    tone: str
    target: str
    arrow: str
    gone: bool


class Rung(NamedTuple):
    """A box with where its statuses lead. marks: as many as a drawing names; more: how many others stand there."""

    title: str
    marks: tuple[str, ...]
    more: int
    ways: tuple[Way, ...]


DOWN, UP, AGAIN, AWAY = ARROWS = ("↓", "↑", "↻", "→")
"""To a rung below, above, the same one, and out of the ladder."""


def ladder(shown: Picture) -> list[Rung]:
    """The picture from top to bottom, for a page that is too narrow for the drawing: its boxes in the order in which
    work goes through them, without those that nothing leaves and at which nothing stands."""
    left = {each.source for each in shown.links}
    boxes = [each for each in shown.nodes if each.id in left or each.loops or each.marks]
    boxes.sort(key=lambda each: RANK.get(each.id, RANK[vocabulary.DEVELOPER]))
    places = {each.id: place for place, each in enumerate(boxes)}
    titles = {each.id: each.title for each in shown.nodes}
    rungs = []
    for place, box in enumerate(boxes):
        ways = [_way(each, box.title, AGAIN) for each in box.loops]
        for link in shown.links:
            if link.source == box.id:
                there = places.get(link.target)
                arrow = AWAY if there is None else DOWN if there > place else UP
                ways += [_way(each, titles[link.target], arrow) for each in link.labels]
        rungs.append(Rung(box.title, box.marks[:MAX_MARKS], max(len(box.marks) - MAX_MARKS, 0), tuple(ways)))
    return rungs


def _way(label: Label, target: str, arrow: str) -> Way:
    return Way(label.text, label.tone, target, arrow, is_gone((label,)))


def gone(shown: Picture, ways: Ways, *, whole: bool = False) -> Picture:
    """A picture with the way that was gone: each status with how often it was reported.

    Args:
        shown: the whole picture.
        whole: keep what was never reported as well; otherwise only boxes that were visited or are waited for stay.
    """
    counted = (each._replace(labels=_counted(each.source, each.labels, ways, whole)) for each in shown.links)
    links = tuple(each for each in counted if each.labels)
    nodes = tuple(each._replace(loops=_counted(each.id, each.loops, ways, whole)) for each in shown.nodes)
    met = {end for each in links for end in (each.source, each.target)}
    kept = tuple(each for each in nodes if whole or each.id in met or each.loops or each.marks)
    return Picture(shown.name, kept, links) if kept else shown


def is_gone(labels: Sequence[Label]) -> bool:
    """Whether any status of these was reported, in a picture that says how often."""
    return any(TIMES in label.text for label in labels)


TIMES = " ×"


def _counted(source: str, labels: tuple[Label, ...], ways: Ways, whole: bool) -> tuple[Label, ...]:
    found = []
    for label in labels:
        status, _, more = label.text.partition(" ")
        # A fallback is taken by the rules instead of the first way; which of both is not counted here.
        times = 0 if more == "(fallback)" else ways.get((source, status), 0)
        if times:
            found.append(label._replace(text=f"{label.text}{TIMES}{times}"))
        elif whole:
            found.append(label)
    return tuple(found)
