"""Verdicts and success criteria, as text."""

from __future__ import annotations

from orchestrator.core import names
from orchestrator.core.validation import criteria as rules
from orchestrator.doors.cli import screen
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.hints import Any

Answer = dict[str, Any]

_LEVELS = {"error": "ERROR", "warning": "warning", "info": "info"}
_ORDER = tuple(_LEVELS)


def verdict(answer: Answer) -> list[str]:
    """The answer of `validate`: the verdict, then every line of every check, the errors first."""
    lines = [f"{screen.status(answer['verdict'])}: {visible(_reason(answer))}", *_standing(answer)]
    checks = sorted(answer["checks"], key=lambda check: _ORDER.index(check["level"]))
    if (answer.get("decision") or {}).get("action") == "end_session":
        # What would have helped is refused now that the session has ended.
        checks = [{**check, "hint": ""} for check in checks]
    return lines + layout.section("Checks", [line for alike in layout.alike(checks, _kind) for line in _checks(alike)])


def _reason(answer: Answer) -> str:
    """The reason, in which a check that failed over many things names the first few."""
    failed = layout.alike((check for check in answer["checks"] if check["level"] == "error"), lambda check: check["id"])
    if max((len(alike) for alike in failed), default=0) <= layout.FEW:
        return str(answer["reason"])
    named = ((alike[0]["id"], list(dict.fromkeys(check["subject"] for check in alike))) for alike in failed)
    first = str(answer["reason"]).partition("; ")[0] + "; " if answer.get("imported") else ""
    return first + ", ".join(f"{id_} ({layout.few(subjects)})" for id_, subjects in named)


def _kind(check: Answer) -> tuple[str, ...]:
    """What lines of one kind have in common: all but what they are about."""
    return check["id"], check["level"], check["message"].replace(check["subject"], ""), check["hint"]


def _checks(alike: list[Answer]) -> list[str]:
    """The lines of one kind: each where they are few, else the first and the names of some."""
    if len(alike) <= layout.FEW:
        return [line for check in alike for line in _check(check)]
    said, hint = _said(alike[0]), _hint(alike[0])
    others = layout.others([check["subject"] for check in alike[1:]])
    return [*said, *(f"{layout.INDENT * 5}{other}" for other in others), *hint]


def _standing(answer: Answer) -> list[str]:
    decision = answer.get("decision")
    fields = (
        ("Completes", ", ".join(answer["completes"]) or None),
        ("Recorded", answer.get("report_id") or "nothing (dry run)"),
        ("Judged", f"the record up to {answer['head']}"),
        ("Evidence", ", ".join(answer.get("evidence") or ()) or None),
        ("Next", _next(decision) if decision else None),
    )
    return layout.fields(fields)


def _next(decision: Answer) -> str:
    if decision["action"] == "end_session":
        return "the session has ended, accepted"
    if decision["action"] == "pause_for_user":
        return f"a person is asked: question {decision['question_id']}"
    return str(decision.get("handoff") or f"{decision['next_agent']}, held back: {decision.get('reason')}")


def _check(check: Answer) -> list[str]:
    return _said(check) + _hint(check)


def _said(check: Answer) -> list[str]:
    level = screen.paint(f"{_LEVELS[check['level']]:<7}", screen.of_word(_LEVELS[check["level"]]))
    said = screen.timed(f"{visible(check['subject'])}: {visible(check['message'])}")
    return layout.hanging(f"{check['id']} {level} ", said)


def _hint(check: Answer) -> list[str]:
    return [f"{layout.INDENT * 6}try: {visible(check['hint'])}"] if check["hint"] else []


def criteria(answer: Answer) -> list[str]:
    """The answer of `criterion list`."""
    if not answer["criteria"]:
        return ["No criteria.", *layout.more(answer)]
    rows = [(each["id"], _state(each), _measure(each), each["evidence"], each["text"]) for each in answer["criteria"]]
    return [*layout.table(("CRITERION", "STATUS", "DECIDED BY", "EVIDENCE", "TEXT"), rows), *layout.more(answer)]


def criterion(answer: Answer) -> list[str]:
    """The answer of a command that adds or changes a criterion."""
    row = answer["criterion"]
    repeated = " (recorded before)" if answer.get("repeated") else ""
    first = visible(f"Criterion {row['id']} of {row['session_id']} is {_state(row)}{repeated}: {row['text']}")
    measured = _measure(row) if row["operator"] and row["removed_seq"] is None else None
    return [first, *layout.fields((("Measured", measured),))]


def _state(row: Answer) -> str:
    return "removed" if row["removed_seq"] is not None else str(row["status"])


def _measure(row: Answer) -> str:
    parts = []
    if row["operator"]:
        parts.append(f"{row['metric']} {rules.SIGNS[row['operator']]} {row['target']} ({_value(row)})")
    if row["command"]:
        parts.append(" ".join(map(names.word, row["command"])))
    return ", ".join(parts) or "the project manager"


def _value(row: Answer) -> str:
    """What was measured, and what the validator will say of it."""
    actual, target = rules.number(row["actual"]), rules.number(row["target"])
    if actual is None or target is None:
        return "no value yet"
    meets = rules.OPERATORS[row["operator"]](actual, target) and not rules.unfit_actual(row["metric"], row["actual"])
    return f"{row['actual']}, {'met' if meets else 'not met'}"
