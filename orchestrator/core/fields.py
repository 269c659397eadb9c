"""Reading the fields of a parsed JSON document: every fault is collected with its path, none ends the reading."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.core import names, strict_json
from orchestrator.hints import Any

Problem = dict[str, str]


def problem(path: str, message: str) -> Problem:
    """One fault of a document: where (a JSON path) and what."""
    return {"path": path, "message": message}


def kind(value: object) -> str:
    """What a value is, as a message says it."""
    if value is None or isinstance(value, bool):
        return strict_json.canonical(value)
    if isinstance(value, str):
        return f"text {names.shown(value)}" if names.said(value) else "blank text"
    return {int: "a number", float: "a number", list: "a list", dict: "an object"}.get(type(value), "something else")


class Reader:
    """Reads fields by name. A null optional field counts as absent; a wrong one is refused and read as None."""

    def __init__(self) -> None:
        self.problems: list[Problem] = []

    def refuse(self, path: str, message: str) -> None:
        """Note one fault."""
        self.problems.append(problem(path, message))

    def text(self, item: dict[str, Any], key: str, path: str, required: bool = False) -> str | None:
        """A text; a required one must not be blank."""
        value = item.get(key)
        if isinstance(value, str) and (names.said(value) or not required):
            return value
        if value is not None:
            self.refuse(strict_json.at(path, key), f"must be text, not {kind(value)}")
        elif required:
            self.refuse(strict_json.at(path, key), "is missing")
        return None

    def count(self, item: dict[str, Any], key: str, path: str, most: int) -> int | None:
        """A whole number from 0 to ``most``."""
        value = item.get(key)
        if value is None:
            return None
        if isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= most:
            return value
        self.refuse(strict_json.at(path, key), f"must be a whole number from 0 to {most}, not {names.shown(value)}")
        return None

    def mapping(self, item: dict[str, Any], key: str, path: str) -> dict[str, Any] | None:
        """An object."""
        value = item.get(key)
        if value is None or isinstance(value, dict):
            return value
        self.refuse(strict_json.at(path, key), f"must be an object, not {kind(value)}")
        return None

    def mappings(self, item: dict[str, Any], key: str, path: str) -> Iterator[tuple[dict[str, Any], str]]:
        """The objects of a list, each with its path."""
        value = item.get(key)
        place = strict_json.at(path, key)
        if value is not None and not isinstance(value, list):
            self.refuse(place, f"must be a list, not {kind(value)}")
            return
        for index, each in enumerate(value or []):
            if isinstance(each, dict):
                yield each, strict_json.at(place, index)
            else:
                self.refuse(strict_json.at(place, index), f"must be an object, not {kind(each)}")
