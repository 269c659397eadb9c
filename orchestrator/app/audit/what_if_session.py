"""One session told again under another workflow file, its decisions compared with those on record, step by step.

A report that the other workflow does not accept ends the comparison of its group: what the agent would have reported
instead nobody knows. The group's later steps are left out; its slot and its open turn stay as they were then.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.app.audit import event_sentences, replay_session
from orchestrator.app.audit.replay_events import REFUSAL
from orchestrator.app.audit.replay_session import Outcome
from orchestrator.app.engine import decision_views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import facts
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.hints import Any
from orchestrator.store import event_stream, queries, replay_database, snapshot_read
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.event_stream import Entry, Outsider, Recorded
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

SHOWN = 100
"""Of all differences of a session no more are listed; all are counted."""
LOAD, UPGRADE, REPORT, VALIDATE = "workflow load", "session upgrade-workflow", "route", "validate"
KEYS = (
    "session_id", "equal", "versions", "decisions", "compared", "differences", "count", "handoffs_changed", "groups",
    "ended", "status", "warnings",
)  # fmt: skip
_DECIDED = "SELECT count(*) FROM router_decisions WHERE session_id = :session"
_OLDER = "SELECT 1 FROM router_decisions WHERE session_id = :session AND rules_version <> :rules LIMIT 1"
_VERSIONS = """SELECT id, name, hash FROM workflow_versions WHERE id IN (
        SELECT workflow_version_id FROM router_decisions WHERE session_id = :session
        UNION SELECT workflow_version_id FROM sessions WHERE id = :session) ORDER BY id"""
_LOADED = """SELECT e.input FROM sessions s JOIN workflow_versions v ON v.id = s.workflow_version_id
    JOIN audit_events e ON e.session_id = :store AND e.seq = v.seq WHERE s.id = :session"""
_HANDOFFS = "SELECT group_id, document FROM handoffs WHERE session_id = :session AND turn = :seq"
_GROUPS = "SELECT id, status FROM task_groups WHERE session_id = :session ORDER BY created_seq, id"
_STATUS = "SELECT status, outcome FROM sessions WHERE id = :session"
_REFUSAL = "SELECT code, detail FROM refusals WHERE session_id = :session AND seq = :seq"
_TURN = "SELECT turn FROM task_groups WHERE session_id = :session AND id = :group"


class Other(NamedTuple):
    """The file that sessions are told under; without agent files, with those that each session is pinned to."""

    content: str
    agent_texts: dict[str, str] | None


class _Call(NamedTuple):
    """What a step called, and with what; the event of a refusal keeps within it what was refused."""

    kind: str
    given: dict[str, Any]

    @property
    def group(self) -> str | None:
        """The group that it names."""
        named = self.given.get("group_id") or (self.given.get("id") if self.kind.startswith("group ") else None)
        return named if isinstance(named, str) else None


def compare(context: Context, session_id: str, other: Other) -> Answer:
    """Tell a session again under another workflow file, in a database of its own.

    Returns:
        `session_id`, `equal`, `versions` [{id, name, hash}] (that the file stands in for), `decisions` (on record),
        `compared` (of them), `differences` [{seq, call, group_id, current_agent, response_status, recorded, told}], at
        most 100, where each side is {text, next_agent, action, reason, rules, spawns, refused} or null for none;
        `count`; `handoffs_changed` (hand-offs with another text
        in steps whose decisions are equal); `groups` [{group_id,
        recorded, told, ended}], those that stand otherwise or whose comparison ended; `ended` (of the reports that
        belong to no group) {seq, call, current_agent, response_status, code, message}; `status` {recorded, told};
        `warnings`.

    Raises:
        Refused: UNKNOWN_SESSION. InvalidInput: WORKFLOW_INVALID, with the agent files of the session.
    """
    with snapshot_read.of(context.connection, context.deadline_s):
        context.require_session(session_id)
        return replay_session.in_own_database(
            context.path, lambda fold_: _Comparison(context, fold_, session_id, other).answer()
        )


class _Comparison:
    """One session under way: what differs so far, and which groups are compared no more."""

    def __init__(self, context: Context, told: Context, session: str, other: Other) -> None:
        self._context = context
        self._told = told
        self._session = session
        self._other = other
        self._is_loaded = False
        self._is_created = True
        self._left_out = 0
        self._parted: int | None = None
        self._handoffs = 0
        self._ended: dict[str | None, Answer] = {}
        self._shown: list[Answer] = []
        self._count = 0

    def answer(self) -> Answer:
        entries = event_stream.entries(self._context.connection, self._session)
        heads = event_stream.heads(self._context.connection, self._session)
        last = {chain: seq for chain, (seq, _) in heads.items()}
        for outcome in replay_session.outcomes(self._told, self._given(entries), last):
            self._compare(outcome)
        decisions = self._context.reader.count(_DECIDED, session=self._session)
        named = ("id", "name", "hash")
        rows = self._context.connection.execute(_VERSIONS, {"session": self._session})
        versions = [dict(zip(named, row, strict=True)) for row in rows]
        return {
            "session_id": self._session,
            "equal": not self._count,
            "versions": versions,
            "decisions": decisions,
            "compared": decisions - self._left_out,
            "differences": self._shown,
            "count": self._count,
            "handoffs_changed": self._handoffs,
            "groups": self._groups(),
            "ended": self._ended.get(None),
            "status": {name: _status(each.reader, self._session) for name, each in self._sides()},
            "warnings": self._warnings(len(versions)),
        }

    def _sides(self) -> tuple[tuple[str, Context], tuple[str, Context]]:
        return ("recorded", self._context), ("told", self._told)

    # What is told

    def _given(self, entries: Iterator[Entry]) -> Iterator[Entry]:
        """What is told of the record, and how; what is left out is taken over as it is recorded."""
        for entry in entries:
            changed = entry if isinstance(entry, Outsider) else self._changed(entry)
            if changed is not None:
                yield changed
            elif isinstance(entry, Recorded):
                self._leave_out(entry)

    def _leave_out(self, event: Recorded) -> None:
        replay_database.stand_before(self._told.connection, event)
        replay_database.carry(self._told.connection, event)
        if event.chain == self._session:
            self._left_out += len(_decisions(self._context.reader, self._session, event.seq))

    def _changed(self, event: Recorded) -> Recorded | None:
        """The event as it is told; None where it is left out."""
        if event.kind in event_stream.CARRIED:
            return event
        call = _call(event)
        if event.chain == STORE_CHAIN:
            return self._of_store(event, call)
        if not self._is_created or call.kind == UPGRADE or self._is_over(event, call):
            return None
        if event.kind == VALIDATE and self._parted is not None:
            self._end_before_verdict(event)
            return None
        return self._in_turn(event, call)

    def _of_store(self, event: Recorded, call: _Call) -> Recorded | None:
        """The first load of a workflow loads the file; no other is told, so that it stands in for every version."""
        if call.kind != LOAD:
            return event
        if event.kind == REFUSAL or self._is_loaded:
            return None
        self._is_loaded = True
        texts = self._other.agent_texts or self._pinned_texts() or call.given.get("agent_texts")
        given = {**call.given, "content": self._other.content, "agent_texts": texts}
        return event._replace(input=strict_json.canonical(given))

    def _pinned_texts(self) -> dict[str, str] | None:
        """The agent files that were loaded with the version that the session is pinned to."""
        row = self._context.reader.one(_LOADED, session=self._session, store=STORE_CHAIN)
        texts: dict[str, str] | None = strict_json.stored(str(row[0])).get("agent_texts") if row else None
        return texts

    def _is_over(self, event: Recorded, call: _Call) -> bool:
        """Whether a step belongs to what is compared no more."""
        if call.group is not None:
            return call.group in self._ended
        return None in self._ended and call.kind in (REPORT, VALIDATE)

    def _end_before_verdict(self, event: Recorded) -> None:
        """A verdict says what was found out when it was given, and so nothing of a session that went another way."""
        decided = _decisions(self._context.reader, self._session, event.seq)
        why = f"the verdict is about the recorded session, which goes another way here from step {self._parted} on"
        self._ended[None] = _end(event, decided, ("", why))

    def _in_turn(self, event: Recorded, call: _Call) -> Recorded:
        """The event of a report that named its turn, as an answer to the turn that is open now.

        It was accepted, or refused for another reason, because its turn was open; the same turn may have another number
        here, or none where it is the first report of a group.
        """
        named = call.given.get("turn")
        if call.kind != REPORT or named is None or named in self._open_turns(call):
            return event
        if event.kind == REFUSAL and _refusal(self._context.reader, event)[0] == "STALE_TURN":
            return event
        given = {name: value for name, value in call.given.items() if name != "turn"}
        if event.kind == REFUSAL:
            given = {**strict_json.stored(event.input), "input": given}
        return event._replace(input=strict_json.canonical(given))

    def _open_turns(self, call: _Call) -> tuple[object, ...]:
        session = self._told.reader.session(self._session)
        row = self._told.reader.one(_TURN, session=self._session, group=call.group) if call.group else None
        return (session.turn if session else None, row[0] if row else None)

    # What came of it

    def _compare(self, outcome: Outcome) -> None:
        event, told = outcome.recorded, outcome.told
        if event.chain != self._session:
            self._require_loaded(outcome)
            return
        refused = None if told is None or told.kind != REFUSAL else _refusal(self._told.reader, told)
        if event.kind != REFUSAL and (told is None or refused):
            self._refused_now(event, refused or ("", outcome.problem or ""))
        elif told is not None and (told.kind != event.kind or told.rows != event.rows):
            self._decided(event, is_refused=refused is not None)

    def _require_loaded(self, outcome: Outcome) -> None:
        """A file that cannot be loaded with a session's agent files is told under by nobody."""
        if outcome.recorded.kind == LOAD and (outcome.told is None or outcome.told.kind == REFUSAL):
            what = f"The workflow cannot be loaded with the agent files of session {self._session}."
            raise InvalidInput("WORKFLOW_INVALID", what, "Name a folder of agent files that fit it", problems=[])

    def _refused_now(self, event: Recorded, refused: tuple[str, str]) -> None:
        """A step that was accepted is refused: where it decided something, its group is compared no more."""
        call, decided = _call(event), _decisions(self._context.reader, self._session, event.seq)
        self._is_created = self._told.reader.session(self._session) is not None
        if not decided and self._is_created:
            return
        self._left_out += len(decided)
        group = call.group if call.kind == REPORT or call.group or not decided else decided[0]["group_id"]
        self._ended.setdefault(group, _end(event, decided, refused))
        self._add(event, call, decided[0] if decided else None, None, refused=refused)

    def _decided(self, event: Recorded, *, is_refused: bool) -> None:
        call = _call(event)
        before, after = (_by_group(_decisions(each.reader, self._session, event.seq)) for _, each in self._sides())
        differing = self._count
        for key in dict.fromkeys((*before, *after)):
            one, other = before.get(key), after.get(key)
            if one is None or other is None or _decision(one) != _decision(other):
                self._add(event, call, one, other)
        if self._count == differing:
            ours, theirs = (_handoffs(each.reader, self._session, event.seq) for _, each in self._sides())
            self._handoffs += sum(ours[group] != theirs[group] for group in ours.keys() & theirs.keys())
        if event.kind == REFUSAL and not is_refused and not after:
            self._add(event, call, None, None)

    def _add(
        self, event: Recorded, call: _Call, recorded: Row | None, told: Row | None,
        refused: tuple[str, str] | None = None,
    ) -> None:  # fmt: skip
        self._count += 1
        if self._parted is None and (recorded is None or told is None or _way(recorded) != _way(told)):
            self._parted = event.seq
        if len(self._shown) == SHOWN:
            return
        either = recorded or told or {}
        was_refused = _refusal(self._context.reader, event) if event.kind == REFUSAL and not recorded else None
        self._shown.append({
            "seq": event.seq,
            "call": call.kind,
            "group_id": either.get("group_id", call.group),
            "current_agent": either.get("current_agent"),
            "response_status": either.get("response_status"),
            "recorded": _side(recorded, was_refused),
            "told": _side(told, refused),
        })  # fmt: skip

    # How it all stands

    def _groups(self) -> list[Answer]:
        keys = {"session": self._session}
        before, after = (dict(each.connection.execute(_GROUPS, keys).fetchall()) for _, each in self._sides())
        both = {group: {"recorded": before.get(group), "told": after.get(group)} for group in (*before, *after)}
        rows = [{"group_id": group, **statuses, "ended": self._ended.get(group)} for group, statuses in both.items()]
        return [row for row in rows if row["ended"] or row["recorded"] != row["told"]]

    def _warnings(self, versions: int) -> list[Any]:
        found: list[Any] = []
        if versions > 1:
            found.append(
                f"Session {self._session} was decided under {versions} workflow versions; the file stands in for all of"
                " them."
            )
        older = {"session": self._session, "rules": facts.RULES_VERSION}
        if self._count and self._context.reader.one(_OLDER, **older):
            found.append(sentence(
                f"Session {self._session} was decided under older rules; see {{}} for what differs without the file",
                suggest("audit replay", session_id=self._session),
            ))  # fmt: skip
        return found


def _call(event: Recorded) -> _Call:
    try:
        given = strict_json.stored(event.input)
    except ValueError as problem:
        what = f"The input of step {event.seq} of {event.chain} cannot be read."
        raise EnvironmentProblem("CORRUPT", what, suggest("audit verify")) from problem
    if event.kind == REFUSAL:
        kept = given.get("input")
        return _Call(str(given.get("call") or ""), kept if isinstance(kept, dict) else {})
    return _Call(event.kind, given)


def _decisions(reader: Reader, session: str, seq: int) -> list[Row]:
    found = queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=seq)
    return [decision_views.decision_shape(row) for row in found]


def _by_group(decisions: list[Row]) -> dict[tuple[str | None, int], Row]:
    """Decisions of one step by their group, those of one group by their order."""
    found: dict[tuple[str | None, int], Row] = {}
    for each in decisions:
        place = sum(group == each["group_id"] for group, _ in found)
        found[each["group_id"], place] = each
    return found


def _decision(row: Row) -> Answer:
    """What of a decision is compared: who was called, to do what, by which rules."""
    spawns = [{name: each.get(name) for name in ("group_id", "agent", "model")} for each in row["spawns"]]
    named = {name: row[name] for name in ("next_agent", "action", "reason")}
    return {**named, "rules": [rule["name"] for rule in row["rules"]], "spawns": spawns}


def _way(row: Row) -> Answer:
    """Where a decision leads, whatever its reasons and models."""
    spawns = [(each.get("group_id"), each.get("agent")) for each in row["spawns"]]
    return {"next_agent": row["next_agent"], "action": row["action"], "spawns": spawns}


def _handoffs(reader: Reader, session: str, seq: int) -> dict[str, Answer]:
    """What each agent was told that a step started, but for the workflow's own hash."""
    rows = reader.connection.execute(_HANDOFFS, {"session": session, "seq": seq})
    return {group: {**strict_json.stored(document), "workflow_version": None} for group, document in rows}


def _end(event: Recorded, decided: list[Row], refused: tuple[str, str]) -> Answer:
    """The step with which a comparison ended, by what it reported and why."""
    first = decided[0] if decided else {}
    said = {name: first.get(name) for name in ("current_agent", "response_status")}
    return {"seq": event.seq, "call": _call(event).kind, **said, "code": refused[0], "message": refused[1]}


def _side(row: Row | None, refused: tuple[str, str] | None) -> Answer | None:
    if row is None:
        nothing: Answer = {"next_agent": None, "action": None, "reason": None, "rules": [], "spawns": []}
        return {"text": f"refused: {refused[0]}", **nothing, "refused": refused[0] or None} if refused else None
    decision = _decision(row)
    models = dict.fromkeys(str(each["model"]) for each in decision["spawns"] if each["model"])
    text = event_sentences.decided(row) + (f" ({', '.join(models)})" if models else "")
    return {"text": text, **decision, "refused": None}


def _refusal(reader: Reader, event: Recorded) -> tuple[str, str]:
    """Code and sentence of the refusal that a step recorded."""
    row = reader.one(_REFUSAL, session=event.chain, seq=event.seq)
    return (str(row[0]), str(row[1] or "")) if row else ("", "")


def _status(reader: Reader, session: str) -> Answer | None:
    row = reader.one(_STATUS, session=session)
    return {"status": row[0], "outcome": row[1]} if row else None
