"""What a run or an agent's turn has written so far, while it runs: for pages, which show the newest part of it."""

from __future__ import annotations

from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.running.execution_types import EXECUTE
from orchestrator.core import masking
from orchestrator.core.running import event_words, states, terminal_output
from orchestrator.runner import output_tail
from orchestrator.store import turn_reader
from orchestrator.store.run_reader import Run

SHOWN = 32 * 1024
"""Characters of the newest part that are shown."""


def of_run(context: Context, run: Run) -> Answer | None:
    """The newest part of what a run has written, secrets masked: `text`, `is_cut`; None while it writes nothing.

    Args:
        run: one that is running has an output that grows; that of every other is on record.
    """
    return _shown(context, run.verification_root, run.session_id, run.id) if run.state == states.RUNNING else None


def of_turn(context: Context, session_id: str, group_id: str | None, turn: int) -> Answer | None:
    """As `of_run`, of the agent of a turn that a driver has started."""
    runs = turn_reader.of_turn(context.connection, session_id, group_id, turn)
    newest = runs[-1] if runs else None
    if newest is None or newest.state != states.RUNNING:
        return None
    return _shown(context, newest.root, newest.session_id, newest.id)


def _shown(context: Context, root: str, session_id: str, id: str) -> Answer | None:
    found = output_tail.newest(attached_evidence.run_root(context.path, root), session_id, f"{id}-{EXECUTE}")
    if found is None or not found.text.strip():
        return None
    # Masked before it is cut: half a secret looks like none.
    text = masking.mask(terminal_output.clean(event_words.readable(found.text)))
    if len(text) <= SHOWN:
        return {"text": text, "is_cut": found.is_cut}
    return {"text": text[-SHOWN:].partition("\n")[2] or text[-SHOWN:], "is_cut": True}
