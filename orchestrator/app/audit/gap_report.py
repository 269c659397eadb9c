"""Where the rows of a record do not fit each other: reports without decisions, moves without cause, and the like."""

from __future__ import annotations

from orchestrator.app.audit import audit_log
from orchestrator.app.audit.audit_log import Filter
from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK
from orchestrator.hints import TYPE_CHECKING
from orchestrator.store import gaps as record
from orchestrator.store import snapshot_read
from orchestrator.store.queries import Row

if TYPE_CHECKING:
    from typing import Unpack

    from orchestrator.app.audit.audit_log import Asked


def gaps(context: Context, *, session_id: str, **asked: Unpack[Asked]) -> Answer:
    """Where the record of a session is not whole.

    Kinds of gaps: `report_without_decision`; `decision_without_report`; `missing_step`; `spawn_without_report`: a turn
    that nobody answered, that nothing came after, that is not open and was not closed with its group;
    `move_without_cause`: a group, a task, or the session, with a status that no recorded change leads to, or a change
    that does not begin where the one before it ended, whose step is not on record, that no such move is, or whose
    maker may not; `decision_not_of_report`; `decision_without_rule`: neither the pinned transition nor a rule gives it;
    `spawn_without_decision`; `completion_without_path`: the path was not valid in that step;
    `deferral_without_blocker`; `resolution_without_right`: a blocker closed by nobody who may; `answer_without_person`;
    `acknowledgement_without_report`; `acceptance_without_verdict`; `setting_without_change`;
    `change_without_right`; `external_without_guidance`; `dependency_dropped_without_call`; `verdict_without_ground`;
    `plan_not_as_reported`: a group or criterion that the report's plan does not hold, or holds with another content.
    All of it is of one moment.

    Args:
        asked: by `agent` only gaps about what this role or agent reported, was started for, or moved; by `status` those
            about a report of this status, or a move to it.

    Returns:
        `gaps` [{kind, seq, subject, group_id, role, agent_id, status, text}], `has_more`, `next_since`, in descending
        order `next_until`. The exit code is 1 where any is listed, else 0.

    Raises:
        Refused: UNKNOWN_SESSION. UsageError: USAGE.

    Source: seed 004, Proposed Solution 5.
    """
    context.require_session(session_id)
    wanted = audit_log.filtered(session_id, **asked)
    found = sorted(_found(context, wanted), key=_place, reverse=wanted.descending)
    rows, has_more = pagination.page(lambda most: found[:most], wanted.limit, "seq")
    return {**audit_log.paged("gaps", rows, has_more, wanted), "exit_code": EXIT_NEGATIVE if rows else EXIT_OK}


def _found(context: Context, asked: Filter) -> list[Row]:
    with snapshot_read.of(context.connection, context.deadline_s):
        every = record.breaks(context.connection, asked.session, asked.since)
        return [_row(each) for each in every if _matches(each, asked)]


def _row(each: record.Break) -> Row:
    row = each._asdict()
    del row["table"]
    return row


def _matches(each: record.Break, asked: Filter) -> bool:
    return (
        asked.since < each.seq <= asked.until
        and (asked.group is None or asked.group == each.group_id)
        and (asked.agent is None or asked.agent in (each.role, each.agent_id))
        and (asked.status is None or asked.status == each.status)
    )


def _place(row: Row) -> tuple[int, int, str]:
    return row["seq"], record.KINDS.index(row["kind"]), row["subject"]
