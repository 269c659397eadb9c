"""Answers as text for people: tables, and lines of names and values. Nothing that is stored can move the cursor."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.doors.cli.text import layout
from orchestrator.hints import Any

HIDDEN = ("success", "schema", "db", "warnings", "has_more", "next_since")


def visible(value: object) -> str:
    """A value as text of one line; control characters are spelt out."""
    if value is None or value == "" or value == [] or value == {}:
        return layout.NOTHING
    if isinstance(value, list | tuple):
        return ", ".join(map(visible, value))
    if isinstance(value, dict):
        return ", ".join(f"{visible(name)}={visible(each)}" for name, each in value.items())
    return layout.visible(value)


def table(rows: Sequence[dict[str, Any]], columns: Sequence[str]) -> str:
    """Rows under the columns' names, aligned and fitted to the screen."""
    cells = [[visible(name).replace("_", " ") for name in columns]]
    cells += [[visible(row.get(name)) for name in columns] for row in rows]
    return "\n".join(layout.aligned(cells))


def everything(answer: dict[str, Any]) -> str:
    """Every key of an answer: values as lines, lists of objects as tables."""
    return "\n".join(_lines({name: value for name, value in answer.items() if name not in HIDDEN}, ""))


def _lines(values: dict[str, Any], indent: str) -> Iterable[str]:
    for name, value in values.items():
        label = f"{indent}{visible(name).replace('_', ' ')}:"
        if isinstance(value, dict) and value:
            yield label
            yield from _lines(value, indent + "  ")
        elif _is_rows(value):
            yield label
            yield from (f"{indent}  {line}" for line in table(value, _columns(value)).splitlines())
        else:
            yield f"{label} {visible(value)}"


def _is_rows(value: object) -> bool:
    return isinstance(value, list) and bool(value) and all(isinstance(each, dict) for each in value)


def _columns(rows: list[dict[str, Any]]) -> list[str]:
    return list(dict.fromkeys(name for row in rows for name, value in row.items() if not isinstance(value, dict)))


def listing(answer: dict[str, Any], plural: str, columns: Sequence[str]) -> str:
    """The rows of a list, and how to see the next ones."""
    rows = answer.get(plural) or []
    if not rows:
        return f"No {plural.replace('_', ' ')}."
    known = [name for name in columns if any(name in row for row in rows)] or _columns(rows)
    parts = [table(rows, known)]
    if answer.get("has_more"):
        parts.append(f"There is more: --since {visible(answer.get('next_since'))}")
    return "\n".join(parts)
