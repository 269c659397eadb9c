"""The provider and the model that a session's runs are given to; every choice is evidence.

Source: seed 001, Properties 19 and 23.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Call, Context, Work, perform
from orchestrator.app.running import run_repository
from orchestrator.core import strictjson
from orchestrator.core.routing.facts import RUNNER
from orchestrator.store import run_reader

SUBJECTS = ("provider", "model")


def choose(
    context: Context, *, session_id: str, provider: str, model: str | None, at: str | None = None
) -> Answer:
    """Record which provider and model the next runs are given to.

    Args:
        provider: one that is known; the caller has checked it.
        model: its name, passed on as it is; None for the provider's own choice.
    """
    given = {"provider": provider, "model": model}
    return perform(context, Call("run choose", session_id, RUNNER, given, at=at), choose_action)


def choose_action(work: Work) -> Answer:
    """The use case itself; a replay calls it with a recorded event's input."""
    given = work.call.input
    session = work.open_session()
    for subject in SUBJECTS:
        before, after = chosen(work.context, session.id, subject), given.get(subject)
        if before != after:
            content = {"from": before, "to": after}
            run_repository.write_evidence(work, kind="choice", subject=subject, outcome="chosen", content=content)
    return {"success": True, "provider": given["provider"], "model": given.get("model"), "seq": work.seq}


def chosen(context: Context, session: str, subject: str) -> str | None:
    """What was chosen last, or None where nothing was."""
    text = run_reader.chosen(context.connection, session, subject)
    return None if text is None else strictjson.stored(text)["to"]
