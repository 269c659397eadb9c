"""How things stood right after a step: the events up to it told again, so that any use case can be asked there."""

from __future__ import annotations

from orchestrator.app.audit import replay_session
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core.suggestions import again, sentence, suggest
from orchestrator.errors import UsageError
from orchestrator.hints import Any
from orchestrator.store import event_stream, replay_database, snapshot_read

AS_OF = "as_of"
"""The key of an answer that speaks of the past."""


def ask(context: Context, function: Any, *, session_id: str | None, at_seq: int, **given: Any) -> Answer:
    """Ask a reading use case as of right after a step.

    Args:
        function: the use case; it is given `session_id` and what else is given.
        session_id: the session that the step belongs to.
        at_seq: the number of the step; what depends on the present moment is measured at the step's own time.

    Returns:
        What the use case answers, with `as_of` {seq, at}; `warnings` where the record does not come out the same when
        it is told again, so that the answer may differ from what was shown then.

    Raises:
        UsageError: SEQ_OUT_OF_RANGE {first, last}; USAGE, no session is named. Refused: UNKNOWN_SESSION.
    """
    if session_id is None:
        raise UsageError("USAGE", "--at needs --session-id: steps are numbered per session.", again(session_id="ID"))
    with snapshot_read.of(context.connection, context.deadline_s):
        context.require_session(session_id)
        _check(context, session_id, at_seq)

        def asked(then: Context) -> tuple[Answer, str, bool]:
            at, equal = _tell(context, then, session_id, at_seq)
            then.clock = lambda: at
            return function(then, session_id=session_id, **given), at, equal

        answer, at, equal = replay_session.in_own_database(context.path, asked)
    answer[AS_OF] = {"seq": at_seq, "at": at}
    if not equal:
        answer["warnings"] = [
            *answer.get("warnings", ()),
            sentence(
                "Replaying the record gives a different result; see {}",
                suggest("audit replay", session_id=session_id),
            ),
        ]
    return answer


def _check(context: Context, session_id: str, at_seq: int) -> None:
    last = replay_database.last(context.connection, session_id)
    most = last.seq if last else 0
    if not 1 <= at_seq <= most:
        raise UsageError(
            "SEQ_OUT_OF_RANGE",
            f"Session {session_id} has steps 1 to {most}; there is no step {at_seq}.",
            suggest("audit timeline", session_id=session_id),
            first=1,
            last=most,
        )


def _tell(context: Context, then: Context, session_id: str, at_seq: int) -> tuple[str, bool]:
    """Tell up to the step; its time, and whether all came out as recorded."""
    equal, at = True, ""
    for outcome in replay_session.outcomes(
        then, event_stream.entries(context.connection, session_id), {session_id: at_seq}
    ):
        equal = equal and outcome.equal
        event = outcome.recorded
        if event.chain == session_id and event.seq >= at_seq:
            return event.at, equal
        at = event.at
    return at, equal
