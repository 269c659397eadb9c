"""What a check says: one problem with a stable id, where it is, and how to fix it.

Ids never change meaning: W1xx the file, W2xx names, W3xx the graph.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable

from orchestrator.core.named_tuple import NamedTuple

ERROR = "error"
WARNING = "warning"

Path = tuple[str | int, ...]

# id -> (severity, what the rule demands). The severity of a problem is that of its rule.
CATALOGUE: dict[str, tuple[str, str]] = {
    "W101": (ERROR, "The file contains an object with at least one role."),
    "W102": (ERROR, "The file is UTF-8, not UTF-16 or UTF-32."),
    "W103": (ERROR, "Every byte of the file is valid UTF-8."),
    "W104": (ERROR, "The file is JSON."),
    "W105": (ERROR, "A key appears once in an object."),
    "W106": (ERROR, "Numbers are finite; NaN and Infinity are not JSON."),
    "W107": (WARNING, "The file has no UTF-8 byte order mark."),
    "W108": (ERROR, "The file is not too large and not nested too deeply."),
    "W109": (ERROR, "Strings contain only characters that can be stored and printed."),
    "W110": (ERROR, "Every value has the type and range of its key."),
    "W111": (ERROR, "Every key is one that the router reads."),
    "W112": (ERROR, "Every required key is present."),
    "W201": (ERROR, "Every role that is named exists."),
    "W202": (ERROR, "An action that starts an agent names it."),
    "W203": (ERROR, "An action that starts no agent names none."),
    "W204": (ERROR, "Aliases lead to a status and never to themselves."),
    "W205": (ERROR, "An alias stands for a status that some role has."),
    "W206": (ERROR, "Statuses of a role differ by more than upper and lower case."),
    "W207": (ERROR, "Status codes are upper-case words joined by underscores."),
    "W208": (ERROR, "A session ends only by the validator or after research."),
    "W209": (ERROR, "A key appears only where the router reads it."),
    "W210": (ERROR, "Roles that never answer a spawn are not spawned."),
    "W221": (WARNING, "An alias does not hide a status that another role has."),
    "W222": (WARNING, "The effect of a status is given or well known."),
    "W223": (WARNING, "A rule names statuses that some role has."),
    "W224": (WARNING, "Only the responsible role can complete or unblock a group."),
    "W301": (ERROR, "Every role with statuses can be reached."),
    "W302": (ERROR, "From every role an end or a question can be reached."),
    "W303": (ERROR, "Every role that may be started has statuses to answer with."),
    "W321": (WARNING, "Whoever can block can get guidance."),
    "W322": (WARNING, "Whoever is told to merge can report a merge."),
    "W323": (WARNING, "Every cycle is bounded by a counter of its own."),
}

_PLAIN_KEY = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")


class Problem(NamedTuple):
    """One finding. `path` is a JSON path ("$.developer.BLOCKED"), `line` counts from 1, None where unknown."""

    id: str
    severity: str
    path: str
    line: int | None
    message: str
    hint: str


class Finding(NamedTuple):
    """A problem before its place is turned into text and line."""

    id: str
    path: Path
    message: str
    hint: str


def spell(path: Path) -> str:
    """A JSON path as text: $.developer.BLOCKED.include_context[0]."""
    return "$" + "".join(_step(step) for step in path)


def place(finding: Finding, lines: dict[Path, int]) -> Problem:
    """Give a finding its severity and the line of the nearest place that the parser saw."""
    path = finding.path
    while path and path not in lines:
        path = path[:-1]
    severity = CATALOGUE[finding.id][0]
    return Problem(finding.id, severity, spell(finding.path), lines.get(path), finding.message, finding.hint)


def has_errors(problems: Iterable[Problem]) -> bool:
    """Whether any of them forbids loading."""
    return any(problem.severity == ERROR for problem in problems)


def _step(step: str | int) -> str:
    if isinstance(step, int):
        return f"[{step}]"
    if _PLAIN_KEY.fullmatch(step):
        return f".{step}"
    return f"[{json.dumps(step)}]"
