"""Where the findings of a verdict lead on pages: to the run, group, blocker, question, report or list that they name.

A finding says in words what it is about; ids of the session's record are told by their form, groups by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any, NamedTuple
from urllib.parse import quote

from orchestrator.doors.web.rendering import segment

_TABS = {"V08": "tasks", "V09": "tasks", "V10": "tasks", "V12": "tasks", "V15": "evidence"}
"""The tab that shows what a check is about where its subject has no page of its own."""
_ALLUDED = re.compile(r"\bturn (\d{1,18})\b")
_OF_TURNS = ("V06", "V15")
"""The checks that say of which turn they speak."""
_STEP, _REPORT = re.compile(r"step (\d{1,18})"), re.compile(r"report (\d{1,18})")
Link = tuple[str, str]
"""What it is called, and its address."""


class Known(NamedTuple):
    """What a session's record has of what findings name.

    groups: names of its groups; runs: the run of a task, blocker or piece of evidence; turns: by subject and message.
    """

    groups: set[str]
    runs: dict[str, str]
    turns: dict[tuple[str, str], int]


def linked(session: str, known: Known, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings, each with `to`, the address of what it is about or an empty text, and `named`, further links.

    Args:
        checks: as a verdict has them: id, subject, message.
    """
    base = f"/sessions/{segment(session)}"
    ids = _ids(session)
    return [
        {**each, "to": _subject(each, session, base, known.groups),
         "named": [*_named(each, base, ids), *_ran(each, session, base, known)]}
        for each in checks
    ]  # fmt: skip


def _ids(session: str) -> re.Pattern[str]:
    return re.compile(rf"(?<![\w.:-]){re.escape(session)}:([BDEQR])(\d{{1,18}}(?:\.\d{{1,18}})?)(?![\w:-])")


def names(session: str, checks: list[dict[str, Any]]) -> list[str]:
    """What findings name of which a run may be known: their subjects, and ids of the session's record."""
    ids = _ids(session)
    found = (each["subject"] for each in checks)
    return sorted({*found, *(found.group() for each in checks for found in ids.finditer(each["message"]))})


def _subject(each: dict[str, Any], session: str, base: str, groups: set[str]) -> str:
    subject = each["subject"]
    step, report = _STEP.fullmatch(subject), _REPORT.fullmatch(subject)
    if step:
        return f"{base}/steps?until={int(step[1]) + 1}"
    if report:
        return f"{base}/decisions/D{report[1]}"
    if subject in groups:
        return f"{base}/groups/{segment(subject)}"
    tab = _TABS.get(each["id"])
    return f"{base}/{tab}" if tab and subject != session else ""


def _named(each: dict[str, Any], base: str, ids: re.Pattern[str]) -> Iterator[Link]:
    for found in dict.fromkeys(found.group(0, 1, 2) for found in ids.finditer(f"{each['subject']} {each['message']}")):
        id, kind, number = found
        if kind == "B":
            yield f"Blocker {id}", f"{base}/do/unblock?id={segment(id)}"
        elif kind == "Q":
            yield f"Question {id}", f"/questions/{segment(id)}"
        elif kind != "E":
            yield (f"{'Report' if kind == 'R' else 'Decision'} {id}", f"{base}/decisions/D{number}")


def _ran(each: dict[str, Any], session: str, base: str, known: Known) -> Iterator[Link]:
    """To what a run or an agent of a turn did, whose page shows its output and log."""
    subject, message = each["subject"], each["message"]
    runs = (known.runs[name] for name in names(session, [each]) if name in known.runs)
    for run in dict.fromkeys(runs):
        yield f"Run {run}", f"/tasks/{segment(run)}"
    said = _ALLUDED.findall(message) if each["id"] in _OF_TURNS else ()
    turns = [known.turns.get((subject, message)), *map(int, said)]
    of = f"?group={quote(subject, safe='')}" if subject in known.groups else ""
    for turn in dict.fromkeys(turn for turn in turns if turn is not None):
        yield f"Turn {turn}", f"{base}/handoffs/{turn}{of}"
