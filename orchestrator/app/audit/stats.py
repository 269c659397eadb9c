"""A session in numbers: who reported what, how much came back, how long each role took, what was refused.

The keys of `stats`:

- `reports`: how many; `agents` [{role, agent_id, reports, statuses {status: reports}}].
- `roles` [{role, reports, statuses, turns, open_turns, seconds, usage}]: `turns` were given out, `open_turns`
  of them are open; `seconds` is the time in them, each in whole seconds from when it was given out until a
  report answered it, another turn of the same group (or of the session) was given out, or its group or session
  was closed; of open turns until `measured_at`. Pauses count. A session's turn of the project manager is
  answered by any report of theirs.
- `rework`: `judged`: reports with the effect test_pass, approve, merge, test_fail, reject or merge_fail;
  `returned`: those of the last three, each also in `by_effect`; `rate`: returned / judged, a decimal text with
  four places, null where nothing was judged; `groups`: how many groups had work returned.
- `escalations`: decisions that a rule sent higher, `after_failures`, `iteration_budget` and `loop_guard`;
  `reported`: reports with the effect escalate; `total`: the sum of all.
- `loop_guard`: decisions in which it fired. `rules` {rule: decisions in which it fired}.
- `refusals`: `total` and `by_code`. `questions` to a person: `asked`, `open`, `seconds` (whole seconds of each
  from asking to its closing, or to `measured_at`).
- `tasks`: how many were `created`, `moved` {status: moves to it, by whomever}, and `taken_over` after the lease
  of a claim had ended.
- `usage`, here and by role: `reports` that say what they used, and the sums of `input_tokens` and
  `output_tokens`. A report says it in its details: {"usage": {"input_tokens": N, "output_tokens": N}}; what is
  no whole number from 0 to 2^53 counts as absent.
- `driven`: what the runs of driven turns used: `runs`, `seconds` of their executors, `input_tokens`,
  `output_tokens` and `cost_usd` (a decimal text with six places) in all, and the same `by_role_and_group`
  [{role, group_id, ...}]. A conversation that went on counts with what it used since.
- `starts`: the agents that hooks, a driver or a main agent over MCP have started, `by_role_and_group` [{role,
  group_id, via, starts, outcomes {answered, failed, lost, freed, limited, superseded or open: starts}, seconds}]
  and in all `starts` and `seconds`: from each start until its report, its end, or now; of one whose turn went on
  without it none are counted. `input_tokens`, `output_tokens` and `cost_usd`, here and in all, are of the agents that
  hooks saw, as their transcripts count them; those of driven turns are in `driven` alone.
- `measured_at`: now, or the time of the step `until` where the record goes on after it.
"""

from __future__ import annotations

import heapq
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

from orchestrator.app.kernel import durations, pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.routing.rules import COUNTERS
from orchestrator.hints import Any
from orchestrator.store import inquiries, queries, snapshot_read


class _Asked(NamedTuple):
    """Which rows are counted."""

    session: str
    group: str | None
    since: int
    until: int


def stats(
    context: Context,
    *,
    session_id: str,
    group_id: str | None = None,
    since: int | None = None,
    until: int | None = None,
) -> Answer:
    """A session, or one group of it, in numbers. All of it is of one moment.

    Args:
        group_id: only what belongs to this group.
        since, until: the steps after which and up to which things are counted; a turn is of the step that gave it out.

    Returns:
        `stats`, with the keys that are described above.

    Raises:
        Refused: UNKNOWN_SESSION.

    Source: seed 004, Proposed Solution 3.
    """
    context.require_session(session_id)
    asked = _Asked(session_id, group_id, pagination.seq_or(since, 0), pagination.seq_or(until, queries.LAST_SEQ))
    with snapshot_read.of(context.connection, context.deadline_s):
        now = inquiries.last_moment(context.connection, session_id, asked.until) or context.clock()
        head = _head(asked, group_id, since, until, now)
        return {"success": True, "stats": {**head, **_counted(context, asked, now)}}


def _head(asked: _Asked, group_id: str | None, since: int | None, until: int | None, now: str) -> Answer:
    return {"session_id": asked.session, "group_id": group_id, "since": since, "until": until, "measured_at": now}


def _counted(context: Context, asked: _Asked, now: str) -> Answer:
    def rows(sql: str) -> Any:
        return inquiries.stream(context.connection, sql, **asked._asdict())

    reports, times = count(rows(inquiries.TURNS), rows(inquiries.REPORTS), rows(inquiries.CLOSINGS))
    times.stop(now)
    rules = fired(row[0] for row in rows(inquiries.DECISIONS))
    codes = dict(rows(inquiries.REFUSALS))
    return {
        "reports": sum(reports.by_agent.values()),
        "roles": _roles(reports, times),
        "agents": _agents(reports),
        "rework": _rework(reports),
        "escalations": _escalations(rules, reports.effects["escalate"]),
        "loop_guard": rules["loop_guard"],
        "rules": dict(sorted(rules.items())),
        "refusals": {"total": sum(codes.values()), "by_code": codes},
        "tasks": _tasks(rows(inquiries.TASKS)),
        "questions": _questions(rows(inquiries.QUESTIONS), now),
        "usage": _usage(reports, sorted({role for role, *_ in reports.by_agent})),
        "driven": _driven(list(rows(inquiries.TURN_RUNS))),
        "starts": _starts(rows(inquiries.STARTS), {row[0]: row[1:] for row in rows(inquiries.USAGE)}, now),
    }


def _driven(rows: list[Any]) -> Answer:
    """What executors used in driven turns."""
    each = [{"role": row[0], "group_id": row[1], **_used(row[2:])} for row in rows]
    return {**_used([sum(row[place] for row in rows) for place in range(2, 7)]), "by_role_and_group": each}


def _starts(rows: Iterable[tuple[Any, ...]], used: Mapping[int, tuple[Any, ...]], now: str) -> Answer:
    """How many agents were started, how they ended, how long they worked, and what they used.

    Args:
        used: tokens in, tokens out and cost of those of which it is known, by the step of the start.
    """
    found: dict[tuple[str, str | None, str], Answer] = {}
    for seq, role, group, via, outcome, started, ended, reported, is_awaited in rows:
        row = found.setdefault(
            (role, group, via),
            {"role": role, "group_id": group, "via": via, "starts": 0, "outcomes": Counter(), "seconds": 0,
             **dict.fromkeys((*TOKENS, _COST), 0)},
        )  # fmt: skip
        for name, count in zip((*TOKENS, _COST), used.get(seq, ()), strict=False):
            row[name] += count or 0
        row["starts"] += 1
        row["outcomes"][outcome or ("answered" if reported else "open" if is_awaited else "superseded")] += 1
        row["seconds"] += durations.seconds(started, ended or reported or (now if is_awaited else None)) or 0
    whole = {name: sum(row[name] for row in found.values()) for name in ("starts", "seconds", *TOKENS, _COST)}
    each = [_priced({**row, "outcomes": dict(sorted(row["outcomes"].items()))}) for row in found.values()]
    return {**_priced(whole), "by_role_and_group": each}


def _priced(row: Answer) -> Answer:
    return {**{name: value for name, value in row.items() if name != _COST}, "cost_usd": _usd(row[_COST])}


def _usd(microusd: int) -> str:
    return f"{microusd // 1_000_000}.{microusd % 1_000_000:06d}"


def _used(found: Sequence[float]) -> Answer:
    runs, milliseconds, tokens_in, tokens_out, cost = map(int, found)
    return {
        "runs": runs, "seconds": milliseconds // 1000, "input_tokens": tokens_in, "output_tokens": tokens_out,
        "cost_usd": _usd(cost),
    }  # fmt: skip


def _agents(reports: Reports) -> list[Answer]:
    found: dict[tuple[str, str], Answer] = {}
    for (role, agent, status), count in sorted(reports.by_agent.items()):
        row = found.setdefault((role, agent), {"role": role, "agent_id": agent, "reports": 0, "statuses": {}})
        row["reports"] += count
        row["statuses"][status] = count
    return list(found.values())


def _roles(reports: Reports, times: Times) -> list[Answer]:
    statuses: dict[str, Counter[str]] = {role: Counter() for role in times.turns}
    for (role, _, status), count in reports.by_agent.items():
        statuses.setdefault(role, Counter())[status] += count
    return [
        {
            "role": role,
            "reports": sum(found.values()),
            "statuses": dict(sorted(found.items())),
            "turns": times.turns[role],
            "open_turns": times.open[role],
            "seconds": times.seconds[role],
            "usage": _usage(reports, [role]),
        }
        for role, found in sorted(statuses.items())
    ]


def _usage(reports: Reports, roles: list[str]) -> Answer:
    sums = {name: sum(reports.usage[role, name] for role in roles) for name in TOKENS}
    return {"reports": sum(reports.with_usage[role] for role in roles), **sums}


def _rework(reports: Reports) -> Answer:
    by_effect = {effect: reports.effects[effect] for effect in COUNTERS}
    returned = sum(by_effect.values())
    judged = returned + sum(reports.effects[effect] for effect in JUDGING)
    rate = share(returned, judged)
    groups = len(reports.reworked)
    return {"judged": judged, "returned": returned, "rate": rate, "by_effect": by_effect, "groups": groups}


def _escalations(rules: Counter[str], reported: int) -> Answer:
    found = {
        "after_failures": rules["escalation"],
        "iteration_budget": rules["iteration_budget"],
        "loop_guard": rules["loop_guard"],
        "reported": reported,
    }
    return {"total": sum(found.values()), **found}


def _tasks(rows: Any) -> Answer:
    created = taken_over = 0
    moved: Counter[str] = Counter()
    for entity, new, status, count in rows:
        if entity != "task":
            taken_over += count
        elif new:
            created += count
        else:
            moved[status] += count
    return {"created": created, "moved": dict(sorted(moved.items())), "taken_over": taken_over}


def _questions(rows: Any, now: str) -> Answer:
    found = {"asked": 0, "open": 0, "seconds": 0}
    for asked_at, closed_at in rows:
        found["asked"] += 1
        found["open"] += closed_at is None
        found["seconds"] += durations.seconds(asked_at, closed_at or now) or 0
    return found


_COST = "cost_microusd"
TOKENS = ("input_tokens", "output_tokens")
"""What a report may say under `usage` in its details."""
MOST_TOKENS = 2**53
JUDGING = ("test_pass", "approve", "merge")
"""Effects of judgements that let work go on; those of `COUNTERS` send it back."""
_SESSION = ""


class Report(NamedTuple):
    """A report as `inquiries.REPORTS` reads it."""

    seq: int
    group_id: str
    role: str
    agent_id: str
    status: str
    effect: str
    turn: int | None
    at: str
    details: str | None
    confirmed: int = 0
    """Whether a person has let it go on, so that it was counted when it was given; only its effect is new."""


class Turn(NamedTuple):
    """A turn that is open, or was."""

    seq: int
    group_id: str
    role: str
    at: str


class Times:
    """How long each role had its turns, in whole seconds of each turn."""

    def __init__(self) -> None:
        self.turns: Counter[str] = Counter()
        self.seconds: Counter[str] = Counter()
        self.open: Counter[str] = Counter()
        self._open: dict[str, Turn] = {}

    def begin(self, turn: Turn) -> None:
        """A turn is given out; the one before it of the same group is over."""
        self._end(turn.group_id, turn.at)
        self._open[turn.group_id] = turn
        self.turns[turn.role] += 1

    def answer(self, report: Report) -> None:
        """A report is there: of the turn that it names, of the awaited role, or of the manager for the session."""
        turn = self._open.get(report.group_id)
        if turn is not None and (report.turn == turn.seq or report.role == turn.role):
            self._end(report.group_id, report.at)
        if report.role == MANAGER and report.group_id != _SESSION:
            self._end(_SESSION, report.at)

    def close(self, group: str | None, at: str) -> None:
        """A group is no longer in progress, or (None) the session has ended."""
        for each in [group] if group is not None else list(self._open):
            self._end(each, at)

    def stop(self, at: str) -> None:
        """The reading is over: what is open is counted as far as it came."""
        for group, turn in list(self._open.items()):
            self.open[turn.role] += 1
            self._end(group, at)

    def _end(self, group: str, at: str) -> None:
        turn = self._open.pop(group, None)
        if turn is not None:
            self.seconds[turn.role] += durations.seconds(turn.at, at) or 0


class Reports:
    """Reports by agent and status, what sent work back, and what they say was used."""

    def __init__(self) -> None:
        self.by_agent: Counter[tuple[str, str, str]] = Counter()
        self.effects: Counter[str] = Counter()
        self.reworked: set[str] = set()
        self.with_usage: Counter[str] = Counter()
        self.usage: Counter[tuple[str, str]] = Counter()

    def add(self, report: Report) -> None:
        """Count one report; one that a person has let go on has come before, without its effect."""
        if not report.confirmed:
            self.by_agent[report.role, report.agent_id, report.status] += 1
        self.effects[report.effect] += 1
        if report.effect in COUNTERS:
            self.reworked.add(report.group_id)
        used = {} if report.confirmed else usage(report.details)
        if used:
            self.with_usage[report.role] += 1
        for name, count in used.items():
            self.usage[report.role, name] += count


def usage(details: str | None) -> dict[str, int]:
    """What a report says it used: whole numbers from 0 to 2^53 under `usage`; anything else counts as absent."""
    if details is None:
        return {}
    found = strict_json.stored(details)
    used = found.get("usage") if isinstance(found, dict) else None
    if not isinstance(used, dict):
        return {}
    return {name: used[name] for name in TOKENS if _is_count(used.get(name))}


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value <= MOST_TOKENS


def count(
    turns: Iterable[tuple[Any, ...]], reports: Iterable[tuple[Any, ...]], closings: Iterable[tuple[Any, ...]]
) -> tuple[Reports, Times]:
    """Go through turns, reports and closings together, in the order of their steps.

    In one step a report comes first, then what it closes, then whom it starts.
    """
    counted, times = Reports(), Times()
    streams = (_placed(reports, 0), _placed(closings, 1), _placed(turns, 2))
    for _, kind, _, row in heapq.merge(*streams):
        if kind == 0:
            report = Report(*row)
            counted.add(report)
            times.answer(report)
        elif kind == 1:
            times.close(row[1], row[2])
        else:
            times.begin(Turn(*row))
    return counted, times


def _placed(rows: Iterable[tuple[Any, ...]], kind: int) -> Iterator[tuple[int, int, int, tuple[Any, ...]]]:
    """Rows with what they are merged by; their number comes before them, so that no two of them are compared."""
    return ((row[0], kind, number, row) for number, row in enumerate(rows))


def fired(rules: Iterable[str]) -> Counter[str]:
    """In how many decisions each rule fired, by their JSON lists of them."""
    found: Counter[str] = Counter()
    for text in rules:
        if text != "[]":
            found.update({rule["name"] for rule in strict_json.stored(text)})
    return found


def share(part: int, whole: int) -> str | None:
    """A part of a whole as a decimal text of four places, rounded half up; None of nothing."""
    if not whole:
        return None
    places = (part * 20_000 + whole) // (2 * whole)
    return f"{places // 10_000}.{places % 10_000:04d}"
