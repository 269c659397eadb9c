"""The writes that use cases share: moving and completing groups, moving sessions, blockers and questions.

Each function writes its rows into the step it is given; none decides.
"""

from __future__ import annotations

from collections.abc import Iterable

from orchestrator.app.kernel.context import Work
from orchestrator.core.routing.facts import ROUTER, Blocker, Group
from orchestrator.store.step import Value

AWAITED = (
    "awaited_role", "awaited_agent_id", "awaited_action", "turn", "awaited_since", "held", "held_seq", "held_part",
)
"""The columns that say whom a group or session waits for."""

NOBODY: dict[str, Value] = dict.fromkeys(AWAITED)
_CHAIN = "SELECT chain FROM completion_paths WHERE session_id = :session AND group_id = :group"
_DEPENDENTS = """SELECT d.group_id FROM group_dependencies d JOIN task_groups t
    ON t.session_id = d.session_id AND t.id = d.group_id
    WHERE d.session_id = :session AND d.depends_on = :group AND d.removed_seq IS NULL AND t.status = 'in_progress'"""


def update_group(work: Work, group_id: str, values: dict[str, Value], *, hold: bool = False) -> None:
    """Set columns of a group that are not its status; held back, where another change of it may follow."""
    work.step.update("task_groups", (group_id,), values, hold=hold)


def clear_group(work: Work, group_id: str) -> None:
    """The group waits for nobody; its open turn is over."""
    update_group(work, group_id, NOBODY)


def clear_session(work: Work) -> None:
    """The session as such waits for nobody."""
    work.update_session(NOBODY)


def move_group(
    work: Work, group: Group, to: str, *, by: str, reason: str, cause: str, hold: bool = False
) -> None:
    """Move a group to another status, with its record; the machine and then the database refuse an illegal move.

    Args:
        hold: another change of the group follows at once, and can be written with this one.
    """
    from orchestrator.core import lifecycle

    lifecycle.check_group_move(group.status, to)
    work.moved[group.id] = to
    _record(work, "group", group.id, group.status, to, by, reason, cause)
    values: dict[str, Value] = {
        "status": to, "status_changed_by": by, "status_changed_at": work.at, "status_seq": work.seq,
    }  # fmt: skip
    if to != "in_progress" and group.awaited_role is not None:
        values.update(NOBODY)
    update_group(work, group.id, values, hold=hold)


def move_session(
    work: Work, from_: str, to: str, *, by: str, reason: str, cause: str, outcome: str | None = None
) -> None:
    """Move a session to another status, with its record; an ended session waits for nobody."""
    from orchestrator.core import lifecycle

    lifecycle.check_session_move(from_, to)
    _record(work, "session", work.step.chain, from_, to, by, reason, cause)
    work.update_session({
        "status": to,
        "status_changed_by": by,
        "status_changed_at": work.at,
        "status_seq": work.seq,
        "outcome": outcome,
        "outcome_reason": reason if outcome else None,
        **(NOBODY if to == "ended" else {}),
    })


def complete(work: Work, candidates: list[str]) -> tuple[str, ...]:
    """Complete those of the candidates whose chain is valid, then what waited for them; return their ids in order."""
    done: list[str] = []
    queue = list(candidates)
    while queue:
        group_id = queue.pop(0)
        group = work.group(group_id)
        if group is None or group.status != "in_progress":
            continue
        row = work.reader.one(_CHAIN, session=work.step.chain, group=group_id)
        if row is None or row[0] != 1:
            continue
        move_group(
            work, group, "completed", by=ROUTER, reason="the completion path is valid", cause="completion"
        )
        work.unsettled = True
        done.append(group_id)
        queue += [r[0] for r in work.context.connection.execute(
            _DEPENDENTS, {"session": work.step.chain, "group": group_id}
        )]
    return tuple(done)


def would_complete(work: Work, candidates: list[str]) -> bool:
    """Whether the chain of one of the candidates is valid as things stand."""
    for group_id in candidates:
        group = work.group(group_id)
        row = work.reader.one(_CHAIN, session=work.step.chain, group=group_id)
        if group is not None and group.status == "in_progress" and row is not None and row[0] == 1:
            return True
    return False


def _record(
    work: Work, entity: str, entity_id: str, from_: str | None, to: str, by: str, reason: str, cause: str
) -> None:
    work.step.insert(
        "status_changes",
        entity=entity,
        entity_id=entity_id,
        from_status=from_,
        to_status=to,
        changed_by=by,
        changed_at=work.at,
        reason=reason,
        cause=cause,
    )


def record_change(
    work: Work, entity: str, entity_id: str, from_: str | None, to: str, *, by: str, reason: str
) -> None:
    """Record a change of something else than a status (a testing mode, a flag) as the guards require it."""
    _record(work, entity, entity_id, from_, to, by, reason, "manual")


def number(work: Work, letter: str, table: str) -> str:
    """The next derived id of the step: `S1:B12`, and `S1:B12.2` for a second one."""
    count = work.step.count(table) + 1
    return f"{work.step.chain}:{letter}{work.seq}" + (f".{count}" if count > 1 else "")


def open_blocker(
    work: Work,
    group_id: str | None,
    *,
    type: str,
    severity: str,
    reason: str,
    by: str | None,
    role: str | None,
    cause: str,
    report_id: str | None = None,
    task_id: str | None = None,
) -> str:
    """Open a blocker on a group (None: on the session) or on one of its tasks, and return its id."""
    blocker = number(work, "B", "blockers")
    work.step.insert(
        "blockers",
        id=blocker,
        session_id=work.step.chain,
        group_id=group_id,
        task_id=task_id,
        type=type,
        opened_by=by,
        opened_role=role,
        reason=reason,
        opened_at=work.at,
        opened_seq=work.seq,
        report_id=report_id,
        cause=cause,
        **{"class": severity},
    )
    return blocker


def resolve_blocker(work: Work, blocker: str, *, by: str, resolution: str, note: str = "") -> None:
    """Close a blocker for good."""
    work.step.update(
        "blockers",
        (blocker,),
        {
            "resolved_at": work.at,
            "resolved_by": by,
            "resolved_seq": work.seq,
            "resolution": resolution,
            "resolution_note": note,
        },
    )
    work.unsettled = True


def mark_external(work: Work, blocker: str, *, dependency: str, by: str) -> None:
    """Mark a blocker as caused outside the project, as the tech lead's guidance says."""
    work.step.update(
        "blockers", (blocker,),
        {"external": 1, "external_dependency": dependency, "external_by": by, "external_seq": work.seq},
    )


def unmark_external(work: Work, blockers: Iterable[Blocker]) -> None:
    """Take the external marks of a group's open blockers away: another role than the project manager is awaited."""
    for blocker in blockers:
        if blocker.external:
            work.step.update(
                "blockers", (blocker.id,),
                {"external": 0, "external_dependency": None, "external_by": None, "external_seq": None},
            )


def open_question(
    work: Work,
    group_id: str | None,
    *,
    kind: str,
    text: str,
    by: str = ROUTER,
    decision: str | None = None,
    task_id: str | None = None,
) -> str:
    """Open a question for a person and return its id.

    Args:
        decision: what would have been decided, as JSON.
        task_id: the task that waits for the answer, where it is not the group or session that does.
    """
    question = number(work, "Q", "questions")
    work.step.insert(
        "questions",
        id=question,
        session_id=work.step.chain,
        group_id=group_id,
        task_id=task_id,
        kind=kind,
        text=text,
        asked_by=by,
        asked_at=work.at,
        opened_seq=work.seq,
        decision=decision,
    )
    return question


def close_questions(work: Work, group_id: str | None, *, by: str, answer: str) -> None:
    """Close a group's open questions (None: the session's) without an answer: what they asked about is gone."""
    open_ = work.context.connection.execute(
        "SELECT id FROM questions INDEXED BY ix_questions_open WHERE session_id = :session AND group_id IS :group"
        " AND closed_seq IS NULL ORDER BY opened_seq, id",
        {"session": work.step.chain, "group": group_id},
    ).fetchall()
    for (question,) in open_:
        work.step.update(
            "questions", (question,),
            {"closed_at": work.at, "closed_by": by, "closed_seq": work.seq, "answer": answer},
        )
