"""Where the findings of a verdict lead on pages: to the group, blocker, question, report or list that they name.

A finding says in words what it is about; ids of the session's record are told by their form, groups by their names.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from orchestrator.doors.web.rendering import segment

_TABS = {"V08": "tasks", "V09": "tasks", "V10": "tasks", "V12": "tasks", "V15": "evidence"}
"""The tab that shows what a check is about where its subject has no page of its own."""
_STEP, _REPORT = re.compile(r"step (\d{1,18})"), re.compile(r"report (\d{1,18})")
Link = tuple[str, str]
"""What it is called, and its address."""


def linked(session: str, groups: set[str], checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Findings, each with `to`, the address of what it is about or an empty text, and `named`, further links.

    Args:
        groups: those names among the subjects that are groups of the session.
        checks: as a verdict has them: id, subject, message.
    """
    base = f"/sessions/{segment(session)}"
    ids = re.compile(rf"(?<![\w.:-]){re.escape(session)}:([BDQR])(\d{{1,18}})(?![\w:-])")
    return [
        {**each, "to": _subject(each, session, base, groups), "named": list(_named(each, base, ids))} for each in checks
    ]


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
        else:
            yield (f"{'Report' if kind == 'R' else 'Decision'} {id}", f"{base}/decisions/D{number}")
