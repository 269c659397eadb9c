"""Hand-offs as one view over the two places that hold them, and what each place asks of a new row."""

from __future__ import annotations

import sqlalchemy as sa

from orchestrator.store import emitter
from orchestrator.store.emitter import Expression, Guard, Refusal, Row, View
from orchestrator.store.tables_record import router_decisions, standalone_handoffs, status_changes

_COLUMNS = ("session_id", "turn", "group_id", "agent_id", "document", "hash")
_DECISION_KEY = "sqlite_autoindex_router_decisions_1"
_NEW, _T, _H = Row("NEW", router_decisions), Row("t", router_decisions), Row("h", _COLUMNS)
_ALONE, _BESIDE = Row("", standalone_handoffs), Row("", router_decisions)


def _group(row: Row) -> Expression:
    """The group whose agent the hand-off in a decision's row starts: the decision's own, unless it names another."""
    return emitter.case((row.handoff_group.is_(None), row.group_id), otherwise=row.handoff_group)


def _hash(row: Row) -> Expression:
    return emitter.case((row.handoff_group.is_(None), row.handoff_hash), otherwise=row.handoff_group_hash)


def _text(value: Expression) -> Expression:
    """A value with the type of a column: SQLite applies a condition to each place only where their types are alike."""
    return sa.cast(value, sa.Text)


VIEW = View(
    "handoffs",
    {},
    sa.union_all(
        sa.select(*(_ALONE[name] for name in _COLUMNS)).select_from(standalone_handoffs),
        emitter.indexed(
            sa.select(
                _BESIDE.session_id, _BESIDE.seq, _text(_group(_BESIDE)), _BESIDE.handoff_agent, _BESIDE.handoff,
                _text(_hash(_BESIDE)),
            ).select_from(router_decisions),
            router_decisions,
            _DECISION_KEY,
        ).where(sa.or_(_BESIDE.handoff.is_not(None), _BESIDE.handoff_agent.is_not(None))),
    ),
)  # fmt: skip
"""What agents were started with, wherever it is stored. A half of one, which only a forger writes, is seen as well."""

_handoffs = sa.Table(VIEW.name, sa.MetaData(), *(sa.Column(name, sa.types.NULLTYPE) for name in _COLUMNS))
_TAKEN = "ALREADY_EXISTS: handoffs has a row with this session_id, group_id, turn"
# What a table of its own refuses by NOT NULL and by its key is asked of both places here.
CASES: dict[str, tuple[tuple[Expression, str], ...]] = {
    "router_decisions": (
        (
            sa.or_(
                emitter.bracketed(_NEW.handoff.is_(None)) != emitter.bracketed(_NEW.handoff_agent.is_(None)),
                emitter.bracketed(_NEW.handoff_group.is_(None)) != emitter.bracketed(_NEW.handoff_group_hash.is_(None)),
                emitter.bracketed(sa.and_(_NEW.handoff.is_(None), _NEW.handoff_group.is_not(None))),
                emitter.bracketed(
                    sa.and_(
                        _NEW.handoff.is_not(None),
                        _NEW.handoff_group.is_(None),
                        emitter.bracketed(sa.or_(_NEW.group_id.is_(None), _NEW.handoff_hash.is_(None))),
                    )
                ),
            ),
            "HANDOFF_INCOMPLETE: a hand-off with its decision has a group, an agent and a hash",
        ),
        (
            sa.and_(
                _NEW.handoff.is_not(None),
                emitter.exists(
                    _handoffs.alias("h"), _H.session_id == _NEW.session_id, _H.group_id == _group(_NEW),
                    _H.turn == _NEW.seq,
                ),
            ),
            _TAKEN,
        ),
    ),
    "standalone_handoffs": (
        (
            emitter.exists(
                router_decisions.alias("t"), _T.session_id == _NEW.session_id,
                _T.seq == Row("NEW", standalone_handoffs).turn, _group(_T) == _NEW.group_id, _T.handoff.is_not(None),
                index=_DECISION_KEY,
            ),
            _TAKEN,
        ),
    ),
}  # fmt: skip
"""Conditions under which a new row of a table is refused, each with its message."""

_C = status_changes.alias("c")
GUARDS: tuple[Guard, ...] = (
    # The turns of a group are found by its own decisions and by its moves.
    Guard(
        "router_decisions_start_is_recorded",
        "INSERT",
        router_decisions.name,
        Refusal("STATUS_CHANGE_MISSING: a hand-off for another group than its decision needs the move that starts it"),
        sa.and_(
            _NEW.handoff_group.is_not(None),
            emitter.negated(
                emitter.exists(
                    _C, _C.c.session_id == _NEW.session_id, _C.c.entity == "group",
                    _C.c.entity_id == _NEW.handoff_group, _C.c.seq == _NEW.seq, _C.c.to_status == "in_progress",
                    index="ix_status_changes_entity",
                )
            ),
        ),
    ),
)  # fmt: skip
"""The guard of a hand-off that is stored with the decision of another group, or of none."""
