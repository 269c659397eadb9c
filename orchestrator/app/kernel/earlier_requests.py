"""What a request id stands for, for callers that have to know before they ask again."""

from __future__ import annotations

from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import masking, strictjson
from orchestrator.core.suggestions import recorded
from orchestrator.core.tuples import NamedTuple


class Remembered(NamedTuple):
    """What a request id stands for in a chain: the command that came with it, and what that was answered."""

    command: str
    answer: Answer


def remembered(context: Context, chain: str, request_id: str | None) -> Remembered | None:
    """What was asked before with a request id, whatever it was; None where nothing was."""
    if request_id is None:
        return None
    row = context.reader.one(
        "SELECT command, answer FROM requests WHERE session_id = :chain AND request_id = :request",
        chain=chain,
        request=masking.mask_keys_id(request_id, context.secrets),
    )
    return None if row is None else Remembered(str(row[0]), recorded(strictjson.stored(row[1])))
