"""The operations that doors offer, found by their words; each is declared once, in the requests of its feature.

Every door calls `call`; none knows another home for the same thing. Declarations and use cases are imported when they
are asked for. What doors take from outside goes through `orchestrator.app.kernel.arguments` first.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from typing import Any

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.kernel.requests import DECLARED, Request
from orchestrator.core import names
from orchestrator.errors import UsageError

FEATURES: dict[str, str] = {
    "route": "reports",
    "next": "task",
    "status": "session",
    "why": "audit",
    "handoff": "reports",
    "redispatch": "reports",
    "inbox": "questions",
    "answer": "people",
    "human": "people",
    "session": "session",
    "group": "session",
    "task": "task",
    "blocker": "task",
    "criterion": "verdict",
    "import": "audit",
    "validate": "verdict",
    "agent": "agents",
    "workflow": "workflow",
    "audit": "audit",
}
"""The feature that declares the operations which begin with a word."""

PERSONS = ("answer", "human enrol", "human remove", "human reset", "human link", "session end")
"""Operations that a person may be meant to call though none is named."""


def known(words: str) -> type[Request] | None:
    """The declaration of an operation, or None where there is none of these words."""
    feature = FEATURES.get(words.partition(" ")[0])
    if feature is None:
        return None
    importlib.import_module(f"orchestrator.app.{feature}.requests")
    return DECLARED.get(words)


def find(words: str) -> type[Request]:
    """The declaration of an operation.

    Raises:
        UsageError: USAGE for an unknown operation, with the nearest known one.
    """
    found = known(words)
    if found is None:
        near = names.nearest(words, every())
        hint = f"; did you mean {near}?" if near else "."
        raise UsageError(
            "USAGE", f"There is no operation {names.shown(words)}{hint}", "orchestrator --help", did_you_mean=near
        )
    return found


def every() -> dict[str, type[Request]]:
    """All operations by their words, in the order in which they are listed."""
    for word in FEATURES:
        known(word)
    return {
        words: request for first in FEATURES for words, request in DECLARED.items() if words.partition(" ")[0] == first
    }


def call(context: Context, words: str, **arguments: Any) -> Answer:
    """Call an operation by its words with the parameters of its use case, which `arguments` has checked."""
    answer: Answer = _use_case(words)(context, **arguments)
    return answer


@functools.cache
def _use_case(words: str) -> Callable[..., Answer]:
    module, _, function = find(words).use_case.partition(":")
    found: Callable[..., Answer] = getattr(importlib.import_module(f"orchestrator.app.{module}"), function)
    return found
