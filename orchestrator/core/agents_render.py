"""Writes the generated parts of the shipped Markdown files from the workflow.

A generated part stands between `<!-- generated: NAME -->` and `<!-- /generated -->`. Its names:

    statuses   what the file's role may report: meaning, where it goes, what belongs into it
    handoff    what the file's role is given, by the role whose report starts it
    blocked    where every report that blocks a group goes, role by role

Source: seed 004, Proposed Solution 1 (the table of where BLOCKED goes).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator

from orchestrator import errors
from orchestrator.core import agents, metadata
from orchestrator.core.workflow import model, vocabulary

_BEGIN = re.compile(r"<!-- generated: ([a-z_]+) -->")
_END = "<!-- /generated -->"

_PLACES = {
    vocabulary.CHECK_PHASE: "the phase check",
    vocabulary.VALIDATE_THEN_END: "the validator",
    vocabulary.PAUSE_FOR_USER: "a person",
    vocabulary.END_SESSION: "nobody: the session ends",
}


def render(text: str, workflow: model.Workflow) -> str:
    """Return `text` with every generated part written anew.

    Args:
        text: a whole Markdown file; only parts about a role need front matter.
        workflow: the workflow that the parts describe.

    Returns:
        The same text when its generated parts are up to date.

    Raises:
        InvalidInput: `WORKFLOW_INVALID` for a part that is not closed or has an unknown name, and for
            unusable front matter of a file with parts about its role.
    """
    lines: list[str] = []
    open_part: str | None = None
    for line in text.split("\n"):
        if open_part is None:
            lines.append(line)
            open_part = _opened(line)
        elif line == _END:
            lines += [*_part(open_part)(text, workflow), line]
            open_part = None
        elif _opened(line) is not None:
            break
    if open_part is not None:
        raise _invalid(f"the generated part {open_part} is not closed", f"end it with the line {_END}")
    return "\n".join(lines)


def statuses(role: str, workflow: model.Workflow) -> list[str]:
    """Return the table of what `role` may report, in the order of the workflow file."""
    found = [workflow.transitions[role, status] for status in workflow.statuses_of(role)]
    return _table(
        ("Status", "Meaning", "Goes to", "Put into `details`", "`metadata.status`"),
        [
            (f"`{each.status}`", _meaning(each), _place(each), _names(each.include_context), _allowed(each.effect))
            for each in found
        ],
    )


def handoff(role: str, workflow: model.Workflow) -> list[str]:
    """Return one line for each role whose reports start `role`, with the context items it passes on."""
    passed: dict[str, dict[str, None]] = {}
    for each in workflow.transitions.values():
        if role in _targets(each, workflow):
            passed.setdefault(each.role, {}).update(dict.fromkeys(each.include_context))
    return [f"- from {_words(sender)}: {_names(names)}" for sender, names in passed.items() if names]


def blocked(workflow: model.Workflow) -> list[str]:
    """Return the table of where reports that block a group go, read from their effect, not their name."""
    found = [each for each in workflow.transitions.values() if each.effect == "block"]
    rows = [(f"`{each.role}`", f"`{each.status}`", _place(each)) for each in found]
    return _table(("Reported by", "Status", "Goes to"), rows)


def _opened(line: str) -> str | None:
    match = _BEGIN.fullmatch(line)
    return match[1] if match else None


def _part(name: str) -> Callable[[str, model.Workflow], list[str]]:
    if name not in _PARTS:
        raise _invalid(f"unknown generated part {name}", f"one of {', '.join(_PARTS)}")
    return _PARTS[name]


def _role(text: str) -> str:
    return agents.parse(text, "the file to render").role


_PARTS: dict[str, Callable[[str, model.Workflow], list[str]]] = {
    "statuses": lambda text, workflow: statuses(_role(text), workflow),
    "handoff": lambda text, workflow: handoff(_role(text), workflow),
    "blocked": lambda _text, workflow: blocked(workflow),
}


def _targets(transition: model.Transition, workflow: model.Workflow) -> set[str | None]:
    """Return every role that the transition may start, before redirecting rules have their say."""
    if transition.action == vocabulary.CHECK_PHASE:
        return {vocabulary.PROJECT_MANAGER}
    if transition.next_agent != vocabulary.RETURN_TO_BLOCKED:
        return {transition.next_agent, transition.fallback_agent}
    blocking: set[str | None] = {role for (role, _), each in workflow.transitions.items() if each.effect == "block"}
    # Guidance that is marked external goes to the project manager instead.
    return blocking | {vocabulary.PROJECT_MANAGER} if transition.effect == "guide" else blocking


def _meaning(transition: model.Transition) -> str:
    return transition.description or f"has the effect {_words(transition.effect)}"


def _place(transition: model.Transition) -> str:
    """Say in words who acts next."""
    place = _PLACES.get(transition.action) or _agent(transition)
    if transition.then == vocabulary.CHECK_PHASE != transition.action:
        place = f"{place}; then the phase check"
    if transition.fallback_agent is not None:
        place = f"{place}; where that role is disabled, `{transition.fallback_agent}`"
    return place


def _agent(transition: model.Transition) -> str:
    agent = f"`{transition.next_agent}`"
    if transition.next_agent == vocabulary.RETURN_TO_BLOCKED:
        return "the role that was blocked"
    if transition.effect == "rework":
        return "the builder of the group, again"
    if transition.action == vocabulary.SPAWN_MERGE:
        return f"{agent}, who merges"
    if transition.action == vocabulary.SPAWN_BATCH:
        return f"{agent}, for every group that can start"
    if transition.action == vocabulary.RESPAWN and transition.next_agent == transition.role:
        return f"{agent} again"
    return agent


def _allowed(effect: str) -> str:
    """Name the metadata statuses that do not contradict a report of this effect."""
    return _names(status for status in metadata.STATUSES if metadata.mismatch(status, effect) is None)


def _names(names: Iterable[str]) -> str:
    return ", ".join(f"`{name}`" for name in names) or "nothing more"


def _words(name: str) -> str:
    return name.replace("_", " ")


def _table(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    return list(_lines([head, tuple("---" for _ in head), *rows]))


def _lines(rows: Iterable[tuple[str, ...]]) -> Iterator[str]:
    for row in rows:
        yield f"| {' | '.join(cell.replace('|', ' / ') for cell in row)} |"


def _invalid(message: str, hint: str) -> errors.InvalidInput:
    problem = {"id": "A008", "severity": "error", "path": "", "line": None, "message": message, "hint": hint}
    return errors.InvalidInput("WORKFLOW_INVALID", message, hint, problems=[problem])
