"""What is found many times over is told once, with its number and the first few names."""

from __future__ import annotations

from typing import Any

import pytest

from orchestrator.doors.cli import db
from orchestrator.doors.cli.text import layout, standing, verdicts, verified

NAMES = [f"t{number}" for number in range(1, 10)]
CHECK = "orchestrator db check"


def problem(subject: str, message: str = "", id_: str = "TRIGGER_MISSING") -> dict[str, Any]:
    """One finding of `db check`."""
    said = message or f"The trigger {subject} is missing."
    return {"id": id_, "severity": "error", "subject": subject, "message": said, "suggestion": "mend it"}


def checked(*problems: dict[str, Any]) -> list[str]:
    """The lines of `db check`."""
    answer = {"db": "x.db", "ok": not problems, "problems": list(problems), "limits": []}
    show = db.COMMANDS["db check"].show
    assert show is not None
    return show(answer).splitlines()


def finding(subject: str, message: str = "", **more: Any) -> dict[str, Any]:
    """One finding of `audit verify`."""
    said = message or f"The trigger {subject} is missing."
    where = {"session_id": None, "seq": None, "table": None}
    return {"code": "TRIGGER_MISSING", "subject": subject, "message": said, "suggestion": CHECK, **where, **more}


def proven(*findings: dict[str, Any]) -> list[str]:
    """The findings that `audit verify` prints."""
    answer = {
        "session_id": None, "since": 0, "events": 1, "rows": 1, "ok": False, "total": len(findings), "head": "1:ab",
        "findings": list(findings), "has_more": False, "counts": {}, "notes": [],
    }  # fmt: skip
    lines = verified.verified(answer)
    return [line.strip() for line in lines[lines.index("Findings") + 1 :]]


def line(subject: str, message: str, id_: str = "V13", hint: str = CHECK, level: str = "error") -> dict[str, Any]:
    """One line of a verdict."""
    return {"id": id_, "level": level, "subject": subject, "message": message, "hint": hint}


def judged(*checks: dict[str, Any], reason: str = "the reason as it is on record") -> list[str]:
    """The lines of a verdict."""
    answer = {"verdict": "REJECT", "reason": reason, "completes": [], "head": "1:ab", "checks": list(checks)}
    return [each.strip() for each in verdicts.verdict(answer)]


@pytest.mark.parametrize(
    ("count", "expected"),
    [(1, "t1"), (3, "t1, t2, t3"), (4, "t1, t2, t3 and 1 more"), (9, "t1, t2, t3 and 6 more")],
)
def test_of_many_names_the_first_few_are_shown(count: int, expected: str) -> None:
    assert layout.few(NAMES[:count]) == expected


def test_rows_stand_with_those_of_their_kind_in_the_order_of_the_first() -> None:
    rows = [{"a": 1, "b": 1}, {"a": 2, "b": 2}, {"a": 1, "b": 3}]
    assert [[row["b"] for row in alike] for alike in layout.alike(rows, lambda row: row["a"])] == [[1, 3], [2]]


def test_a_check_of_the_database_says_a_thing_once() -> None:
    assert checked(*(problem(name) for name in NAMES), problem("x", id_="VIEW_MISSING"))[1:] == [
        "error TRIGGER_MISSING: The trigger t1 is missing.",
        "  and 8 more of this kind: t2, t3, t4 and 5 more",
        "  try: mend it",
        "error VIEW_MISSING: The trigger x is missing.",
        "  try: mend it",
        "Problems found.",
    ]


def test_damage_that_sqlite_tells_of_in_many_lines_is_cut_and_has_lines() -> None:
    damage = "it cannot be used: *** in database main ***\n" + "\n".join(f"page {number}" for number in range(1, 20))
    assert checked(problem("x.db", damage))[1:] == [
        "error TRIGGER_MISSING: it cannot be used: *** in database main ***",
        "  page 1",
        "  page 2",
        "  page 3",
        "  and 16 more lines: repeat with --json",
        "  try: mend it",
        "Problems found.",
    ]


@pytest.mark.parametrize(("count", "more"), [(3, []), (4, ["  and 1 more line: repeat with --json"])])
def test_few_lines_of_damage_are_all_there(count: int, more: list[str]) -> None:
    damage = "\n".join(["broken", *NAMES[:count]])
    assert checked(problem("x.db", damage))[2:-2] == [*(f"  {name}" for name in NAMES[:3]), *more]


def test_a_verification_says_a_thing_once() -> None:
    assert proven(*(finding(name) for name in NAMES)) == [
        "TRIGGER_MISSING t1: The trigger t1 is missing.",
        "and 8 more of this kind: t2, t3, t4 and 5 more",
        f"try: {CHECK}",
    ]


def test_a_verification_tells_a_few_one_by_one() -> None:
    assert proven(*(finding(name) for name in NAMES[:3])) == [
        *(f"TRIGGER_MISSING {name}: The trigger {name} is missing." for name in NAMES[:3]),
        f"try: {CHECK}",
    ]


def test_a_verification_keeps_apart_what_differs_in_more_than_its_name() -> None:
    found = proven(*(finding("row", f"Row {name} is not as step 2 left it.") for name in NAMES))
    assert [each for each in found if each.startswith("TRIGGER_MISSING")] == [
        f"TRIGGER_MISSING row: Row {name} is not as step 2 left it." for name in NAMES
    ]


def test_a_verdict_says_a_thing_once_and_names_the_first_few_in_its_reason() -> None:
    missing = [line(name, f"The trigger {name} is missing.") for name in NAMES]
    lines = judged(line("A", "is pending", "V02", "why A"), *missing)
    assert lines[0] == "REJECT: V02 (A), V13 (t1, t2, t3 and 6 more)"
    assert lines[lines.index("Checks") + 1 :] == [
        "V02 ERROR   A: is pending",
        "try: why A",
        "V13 ERROR   t1: The trigger t1 is missing.",
        "and 8 more of this kind: t2, t3, t4 and 5 more",
        f"try: {CHECK}",
    ]


def test_a_verdict_over_few_things_gives_its_reason_as_it_is_on_record() -> None:
    assert judged(line("A", "is pending"), line("B", "is pending"))[0] == "REJECT: the reason as it is on record"


def test_a_verdict_tells_each_group_with_what_is_to_be_done_for_it() -> None:
    lines = judged(*(line(name, "is pending", "V02", f"why {name}") for name in NAMES))
    assert [each for each in lines if each.startswith("try")] == [f"try: why {name}" for name in NAMES]


@pytest.mark.parametrize(
    ("length", "shown"), [(400, "x" * 400), (401, "x" * 397 + "...")], ids=["as long as may be", "longer"]
)
def test_a_long_reason_is_cut_where_much_else_is_shown(length: int, shown: str) -> None:
    verdict = {"fresh": True, "verdict": "REJECT", "at": "now", "id": "S1:R1", "reason": "x" * length}
    names = ("kind", "mode", "testing_mode", "outcome", "outcome_reason")
    answer: dict[str, Any] = {
        "session": {"id": "S1", **dict.fromkeys(names)},
        "goal": "g", "state": "running", "awaited": None, "held": [], "stalled": False, "spawns": [], "questions": [],
        "stuck": [],
        "progress": {"groups": 0, "by_status": {}, "rework": 0}, "next": [], "verdict": verdict,
    }  # fmt: skip
    assert f"Verdict:  REJECT at now, S1:R1: {shown}" in standing.status(answer)
