"""Calls that were turned down before they could be read as a whole: on record like every other refusal."""

from __future__ import annotations

import contextlib

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Call, Context, Work, parted, perform
from orchestrator.core import names
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any


def record(context: Context, words: str, given: dict[str, Any], problem: OrchestratorError) -> None:
    """Record that a call was turned down before it was carried out, where its session is known.

    Args:
        given: what could be read of its parameters.
        problem: why it was turned down; raising it is left to the caller.
    """
    kept = {name: value for name, value in given.items() if isinstance(value, str) and not names.text_problem(value)}
    open_ = arguments.open_sessions(context)
    session = kept.pop("session_id", None) or (open_[0] if len(open_) == 1 else "")
    if given.get("dry_run") or context.reader.session(session) is None:
        return

    def refuse(work: Work) -> dict[str, Any]:
        raise problem

    actor = kept.get("by") or kept.get("agent_id") or kept.get("current_agent") or ""
    with contextlib.suppress(OrchestratorError):
        asked, circumstances = parted(operations.step(words), kept)
        perform(context, Call(words, session, actor, asked, refused={}, circumstances=circumstances), refuse)
