"""`workflow what-if`: recorded sessions told again under another workflow file. Nothing is written."""

from __future__ import annotations

from orchestrator.app.audit import several_sessions, what_if_session
from orchestrator.app.audit.what_if_session import Other
from orchestrator.app.kernel import arguments
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.workflow import workflows
from orchestrator.core import canonical_json
from orchestrator.hints import Any

WORDS = "workflow what-if"


def what_if(
    context: Context,
    *,
    content: str,
    source: str = "transitions.json",
    agent_texts: dict[str, str] | None = None,
    sessions: tuple[str, ...] = (),
    every: bool = False,
) -> Answer:
    """Tell recorded sessions again under another workflow file, and say what would have been decided otherwise.

    Args:
        content: the text of the transitions file. source: its name.
        agent_texts: the agent files that go with it (default: those that each session is pinned to).
        sessions: the sessions (default: the only open orchestration, else the last one that has ended).
        every: whether to tell every session that is on record, whichever are named.

    Returns:
        `workflow` {name, hash, source}, `equal`, `count` (differences of all sessions together), `sessions`: of each
        what `what_if_session.compare` says.

    Raises:
        InvalidInput: WORKFLOW_INVALID, with every problem of the file.
        UsageError: AMBIGUOUS_SESSION. Refused: UNKNOWN_SESSION.

    Source: spec 10, sections 2 and 4; spec 50, section 3.
    """
    report, _, _ = workflows.valid(content, agent_texts or {}, source)
    asked = several_sessions.every(context) if every else _named(context, sessions)
    other = Other(content, agent_texts)
    given: dict[str, Any] = {"content": content, "source": source, "agent_texts": agent_texts}
    question = several_sessions.Question(
        WORDS,
        lambda session: {**{name: each for name, each in given.items() if each is not None}, "sessions": [session]},
        lambda session: what_if_session.compare(context, session, other),
        lambda session, answer: _taken(session, report.hash, answer),
    )
    canonical_json.quicken()
    rows = several_sessions.answers(context, asked, question)
    return {
        "success": True,
        "workflow": {"name": report.workflow.name, "hash": report.hash, "source": source},
        "equal": all(row["equal"] for row in rows),
        "count": sum(row["count"] for row in rows),
        "sessions": rows,
    }


def _named(context: Context, sessions: tuple[str, ...]) -> list[str]:
    named = list(dict.fromkeys(sessions)) or [arguments.only_session(context, WORDS, {})]
    for session in named:
        context.require_session(session)
    return named


def _taken(session: str, hash_: str, answer: Answer) -> Answer | None:
    """The row of an answer of another process."""
    workflow, rows = answer.get("workflow"), answer.get("sessions")
    if not isinstance(workflow, dict) or workflow.get("hash") != hash_ or not isinstance(rows, list) or len(rows) != 1:
        return None
    row: Answer = rows[0]
    return row if row.get("session_id") == session and row.keys() >= {*what_if_session.KEYS} else None
