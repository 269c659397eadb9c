"""`audit replay`: the recorded events told again, every decision and every row compared with what is on record."""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.app.audit import replay_session
from orchestrator.app.audit.replay_session import Outcome
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import canonical_json
from orchestrator.core.routing import facts
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK
from orchestrator.hints import Any
from orchestrator.store import event_stream, row_comparison, snapshot, snapshot_read, step, verify_chain
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.findings import Found
from orchestrator.store.row_comparison import Difference
from orchestrator.store.row_hashes import Span

SHOWN = 100
"""Of all differences no more are listed; all are counted."""
SHOWN_TEXT = 200
"""Characters of a differing value that are shown."""
_COLUMNS = ("kind", "actor", "channel", "at", "input", "rows")
_HASHES = ("prev_hash", "hash")


def replay(context: Context, *, session_id: str, strict: bool = False) -> Answer:
    """Tell a session's events again in a database of their own, and compare all that comes of them with the record.

    Nothing is written to the database on record, which is read as of one moment. The store's events are told with
    them, since sessions rest on them; those of other sessions are not.

    Args:
        strict: whether a decision that other rules make otherwise counts as a fault too.

    Returns:
        `equal`, `told` (events), `differences` [{chain, seq, table, key, columns, recorded, told, why,
        engine_changed}], at most 100 of them, `count` and `engine_changed` (how many there are in all), `head` and
        `told_head`, `rules_version` (of this program), `exit_code`: 0 where all is equal or only other rules made a
        difference, else 1.

    Raises:
        Refused: UNKNOWN_SESSION.
    """
    canonical_json.quicken()
    with snapshot_read.of(context.connection, context.deadline_s):
        if session_id not in event_stream.heads(context.connection, session_id) or session_id == STORE_CHAIN:
            context.require_session(session_id)
        return replay_session.in_own_database(
            context.path, lambda fold: _Comparison(context, fold, session_id).answer(strict=strict)
        )


class _Comparison:
    """One replay under way: what was told so far, and what of it differs."""

    def __init__(self, context: Context, fold: Context, session: str) -> None:
        self._context = context
        self._fold = fold
        self._session = session
        self._told = 0
        self._heads: dict[str, str] = {}
        self._parted: dict[str, bytes] = {}
        self._changed_since: int | None = None
        self._shown: list[Answer] = []
        self._count = 0
        self._engine_changed = 0

    def answer(self, *, strict: bool) -> Answer:
        heads = event_stream.heads(self._context.connection, self._session)
        entries = event_stream.entries(self._context.connection, self._session)
        for outcome in replay_session.outcomes(self._fold, entries, {chain: seq for chain, (seq, _) in heads.items()}):
            self._compare(outcome)
        for chain in (self._session, STORE_CHAIN):
            for each in row_comparison.differences(self._context.connection, self._fold.connection, chain):
                self._row(chain, each)
        if self._changed_since is not None:
            self._compare_with_itself()
        faults = self._count if strict else self._count - self._engine_changed
        return {
            "success": True,
            "session_id": self._session,
            "equal": self._count == 0,
            "told": self._told,
            "rules_version": facts.RULES_VERSION,
            "differences": self._shown,
            "count": self._count,
            "engine_changed": self._engine_changed,
            "head": snapshot.head(*heads[self._session]) if self._session in heads else None,
            "told_head": self._heads.get(self._session),
            "exit_code": EXIT_NEGATIVE if faults else EXIT_OK,
        }

    def _compare(self, outcome: Outcome) -> None:
        self._told += 1
        event, told = outcome.recorded, outcome.told
        if told is not None:
            self._heads[event.chain] = snapshot.head(told.seq, told.hash)
        before = self._parted.get(event.chain)
        if before is None and outcome.equal:
            return
        sound = self._is_sound(outcome, before)
        self._parted[event.chain] = event.hash
        if told is not None and all(getattr(event, name) == getattr(told, name) for name in _COLUMNS):
            if not sound:
                self._add(event.chain, event.seq, "audit_events", (event.seq,), _HASHES, None, None, "altered")
            return
        if sound and event.chain == self._session and event.rules_version not in (None, facts.RULES_VERSION):
            self._changed_since = event.seq if self._changed_since is None else self._changed_since
        self._event(outcome, sound=sound)

    def _is_sound(self, outcome: Outcome, before: bytes | None) -> bool:
        """Whether the recorded event has the hash of what it holds, and follows the one before it."""
        follows = before is None or outcome.recorded.prev_hash == before
        if before is None and outcome.told is not None:
            follows = outcome.recorded.prev_hash == outcome.told.prev_hash
        return follows and step.verify_event(tuple(outcome.recorded[:10]))

    def _event(self, outcome: Outcome, *, sound: bool) -> None:
        event, told = outcome.recorded, outcome.told
        changed = tuple(name for name in _COLUMNS if told is None or getattr(event, name) != getattr(told, name))
        why = outcome.problem or "told otherwise"
        ours = tuple(getattr(event, name) for name in changed)
        theirs = None if told is None else tuple(getattr(told, name) for name in changed)
        self._add(event.chain, event.seq, "audit_events", (event.seq,), changed, ours, theirs, why, sound=sound)

    def _row(self, chain: str, each: Difference) -> None:
        why = "missing" if each.recorded is None else "added" if each.told is None else "differs"
        self._add(chain, each.seq, each.table, each.key, each.columns, each.recorded, each.told, why)

    def _compare_with_itself(self) -> None:
        """Where other rules explain what differs, they must not hide what was altered: the record's own hashes tell."""
        found = Found(self._context.path, SHOWN)
        verify_chain.verify(self._context.connection, Span(self._session), found)
        for each in found.kept:
            self._add(
                self._session, each.seq or 0, each.table or "", (each.subject,), (), None, None, each.message,
                sound=False,
            )  # fmt: skip
        self._count += sum(found.counts.values()) - len(found.kept)

    def _add(
        self,
        chain: str,
        seq: int,
        table: str,
        key: tuple[Any, ...],
        columns: tuple[str, ...],
        recorded: tuple[Any, ...] | None,
        told: tuple[Any, ...] | None,
        why: str,
        *,
        sound: bool = True,
    ) -> None:
        since = self._changed_since
        # Only what comes behind the first different decision can follow from it (AUD-22).
        by_engine = sound and chain == self._session and since is not None and seq >= since
        self._count += 1
        self._engine_changed += by_engine
        if len(self._shown) < SHOWN:
            shown = {"chain": chain, "seq": seq, "table": table, "key": [_shown(value) for value in key]}
            values = {"recorded": _values(recorded), "told": _values(told)}
            self._shown.append({**shown, "columns": list(columns), **values, "why": why, "engine_changed": by_engine})


def _values(values: tuple[Any, ...] | None) -> list[Any] | None:
    return None if values is None else [_shown(value) for value in values]


def _shown(value: Any) -> Any:
    text = value.hex() if isinstance(value, bytes) else value
    return text if not isinstance(text, str) or len(text) <= SHOWN_TEXT else f"{text[:SHOWN_TEXT]}..."


def sentences(answer: Answer) -> Iterator[str]:
    """A replay's answer in sentences, for people."""
    what = f"{answer['told']} events of session {answer['session_id']} and the store were replayed"
    if answer["equal"]:
        yield f"{what}: every decision and row matches the record."
    else:
        other = f", {answer['engine_changed']} of them made under older rules" if answer["engine_changed"] else ""
        yield f"{what}: {answer['count']} {'difference' if answer['count'] == 1 else 'differences'}{other}."
    for each in answer["differences"]:
        mark = "engine_changed " if each["engine_changed"] else ""
        columns = f" ({', '.join(each['columns'])})" if each["columns"] else ""
        key = ", ".join(str(value) for value in each["key"])
        yield f"  {mark}{each['chain']} step {each['seq']}: {each['table']} {key}: {each['why']}{columns}"
    if answer["count"] > len(answer["differences"]):
        yield f"  ... and {answer['count'] - len(answer['differences'])} more"
    yield f"Head {answer['head']}"
    if answer["told_head"] != answer["head"]:
        yield f"Told {answer['told_head']}"
