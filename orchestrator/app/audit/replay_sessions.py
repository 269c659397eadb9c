"""`audit replay` of one session, or of every one, side by side."""

from __future__ import annotations

from orchestrator.app.audit import replay_comparison, several_sessions
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.routing import facts
from orchestrator.core.suggestions import suggest
from orchestrator.errors import UsageError

_OF_ONE = ("session_id", "equal", "told", "differences", "count", "engine_changed", "head", "told_head")


def replay(context: Context, *, session_id: str | None = None, every: bool = False, strict: bool = False) -> Answer:
    """Replay one session as `replayed.replay`, or all of them.

    Args:
        every: whether to replay every session that is on record, in the order of their ids, whichever is named: one may
            be named by the environment.

    Returns:
        For one session what `replayed.replay` answers. For all of them `sessions`, the same of each; `equal`; `told`,
        `count` and `engine_changed` of all together; `rules_version`; `exit_code`, the highest.

    Raises:
        UsageError: USAGE, no session is named. Refused: UNKNOWN_SESSION.

    Source: spec 50, section 3; spec 70, row 11a.
    """
    if every:
        return _together(_every(context, strict=strict))
    if session_id is None:
        raise UsageError("USAGE", "Name a session, or replay all of them.", suggest("audit replay", session_id="ID"))
    return replay_comparison.replay(context, session_id=session_id, strict=strict)


def _together(answers: list[Answer]) -> Answer:
    sums = {name: sum(each[name] for each in answers) for name in ("told", "count", "engine_changed")}
    return {
        "success": True,
        "equal": all(each["equal"] for each in answers),
        "rules_version": facts.RULES_VERSION,
        **sums,
        "sessions": [{name: each[name] for name in _OF_ONE} for each in answers],
        "exit_code": max((each["exit_code"] for each in answers), default=0),
    }


def _every(context: Context, *, strict: bool) -> list[Answer]:
    question = several_sessions.Question(
        "audit replay",
        lambda session: {"session_id": session},
        lambda session: replay_comparison.replay(context, session_id=session, strict=strict),
        _equal,
    )
    return several_sessions.answers(context, several_sessions.every(context), question)


def _equal(session: str, answer: Answer) -> Answer | None:
    """An answer of another process is taken where it found no difference; what differs is told again by the caller."""
    if answer.get("equal") is not True or not answer.keys() >= {*_OF_ONE} or answer["session_id"] != session:
        return None
    return answer if answer.get("rules_version") == facts.RULES_VERSION else None
