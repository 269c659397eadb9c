"""What happened to the tree of a turn beside its runs, kept as evidence: how it was set up, what a killed agent left.

Source: 80 section 5; seed 001, Properties 18 and 35.
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Answer, Context, Work
from orchestrator.app.kernel.requests import Request
from orchestrator.app.running import run_repository
from orchestrator.core import masking, oversized, sha256
from orchestrator.core.routing.facts import RUNNER
from orchestrator.hints import Any
from orchestrator.store.queries import Row

SETUP, LEFT = "setup", "left"
"""The kinds of this evidence: a tree was set up; a killed agent left work in it."""


class KeepOfTree(Request, event="tree keep", use_case="running.tree_evidence:keep", acting=RUNNER):
    """Keep evidence of a turn's tree.

    Attributes:
        turn: the turn for which the tree is used.
        kind: `setup` or `left`. outcome: in a few words. content: in whole.
    """

    session_id: str
    group_id: str | None
    turn: int
    kind: str
    outcome: str
    content: dict[str, Any]


def record(
    context: Context, start: Row, kind: str, outcome: str, content: Mapping[str, Any], patch: bytes | None = None
) -> Answer:
    """Keep evidence of the tree of a start.

    Args:
        kind: `setup` or `left`. outcome: in a few words. content: in whole, as JSON.
        patch: what goes into a file of evidence, with the keys in it masked.

    Returns:
        `seq`.

    Raises:
        Refused: UNKNOWN_SESSION. EnvironmentProblem: OUTPUT_FAILED.
    """
    place: Answer = {name: start[name] for name in ("session_id", "group_id", "turn")}
    secrets = tuple(context.secrets)
    request = KeepOfTree(
        **place, kind=kind, outcome=masking.mask_keys(outcome, secrets),
        content=masking.mask_keys_value(dict(content), secrets),
    )
    if patch is None:
        return operations.carry_out(context, request)
    patch = masking.mask_keys(patch.decode("utf-8", "surrogateescape"), secrets).encode("utf-8", "surrogateescape")
    hash_ = sha256.new(patch).hexdigest()
    moved = oversized.Moved(kind, f"{oversized.folder(start['session_id'])}/{hash_}.patch", hash_, patch)
    return operations.carry_out(context, request, files=[moved])


def keep(work: Work, request: KeepOfTree) -> Answer:
    """The step that keeps evidence of a tree, and of the file that goes with it."""
    work.context.require_session(request.session_id)
    subject = request.group_id or request.session_id
    content = {"turn": request.turn, **request.content}
    run_repository.write_evidence(
        work, kind=request.kind, subject=subject, outcome=request.outcome, content=content
    )
    for each in work.call.circumstances.attached or ():
        work.step.insert(
            "evidence", group_id=None, kind=each["what"], subject=subject,
            outcome=f"{each['bytes']} bytes in {each['path']}", hash=each["sha256"], size=each["bytes"],
            path=each["path"],
        )  # fmt: skip
    return {"success": True, "seq": work.seq}
