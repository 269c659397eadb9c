"""The provider and the model that a session's runs are given to; every choice is evidence.

Source: seed 001, Properties 19 and 23.
"""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.core import strictjson
from orchestrator.core.routing.facts import RUNNER
from orchestrator.store import run_reader

SUBJECTS = ("provider", "model")


class ChooseProvider(Request, event="run choose", use_case="running.provider_selection:choose", acting=RUNNER):
    """Record which provider and model the next runs are given to.

    Attributes:
        provider: one that is known; the caller has checked it.
        model: its name, passed on as it is; None for the provider's own choice.
    """

    session_id: str
    provider: str
    model: str | None


def choose(work: Work, request: ChooseProvider) -> Answer:
    """Record what was chosen, as evidence."""
    session = work.open_session()
    for subject, after in zip(SUBJECTS, (request.provider, request.model), strict=True):
        before = chosen(work.context, session.id, subject)
        if before != after:
            content = {"from": before, "to": after}
            run_repository.write_evidence(work, kind="choice", subject=subject, outcome="chosen", content=content)
    return {"success": True, "provider": request.provider, "model": request.model, "seq": work.seq}


def chosen(context: Context, session: str, subject: str) -> str | None:
    """What was chosen last, or None where nothing was."""
    text = run_reader.chosen(context.connection, session, subject)
    return None if text is None else strictjson.stored(text)["to"]
