"""Every suggestion that the product makes, read from its source: the operation and the names of its arguments."""

from __future__ import annotations

import ast

from orchestrator.core.suggestions import Suggestion, suggest
from tests.architecture import source

_FLAGS = ("help", "all", "repair", "confirm", "record", "unmasked", "passphrase", "dry_run", "open", "watch")
_NUMBERS = {"turn": 4, "since": 3, "until": 4, "port": 0}


def _found() -> dict[str, tuple[str, ...]]:
    found: dict[str, tuple[str, ...]] = {}
    for module in source.PRODUCT:
        # Every worker does this when it collects: few modules suggest anything, and no tree is kept.
        for node in ast.walk(ast.parse(module.text)) if "suggest(" in module.text else ():
            if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id == "suggest":
                (words,) = node.args
                if isinstance(words, ast.Constant) and words.value:
                    names = tuple(each.arg for each in node.keywords if each.arg is not None)
                    found[f"{words.value}({', '.join(names)})"] = names
    return found


SUGGESTED = _found()
"""The names of the arguments that are written out, by what stands in the source."""


def made(name: str) -> Suggestion:
    """One of them, with a value of its kind for each argument."""
    values = {each: True if each in _FLAGS else _NUMBERS.get(each, each.upper()) for each in SUGGESTED[name]}
    values = {each: {"A": "REASON"} if each == "acknowledge" else value for each, value in values.items()}
    return suggest(name.partition("(")[0], **values)
