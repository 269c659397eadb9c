"""`drive`: a team that runs by itself. Each round starts what the record says is open, and judges when that is due.

Which agent acts next is in the record alone. The driver keeps nothing of its own that it would need to go on: whoever
kills it loses nothing, and another one may run beside it.
"""

from __future__ import annotations

import contextlib
import functools
import queue
import re
import threading
import time
from collections.abc import Callable, Iterator, Mapping

from orchestrator.app import starts
from orchestrator.app.driving import crew as crews
from orchestrator.app.driving import leftovers, preflight, trees, turn
from orchestrator.app.driving.requests import Drive
from orchestrator.app.kernel import arguments, attached_evidence, operations
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports import limits
from orchestrator.app.running import work_leases
from orchestrator.app.session import sessions, status
from orchestrator.app.session.open_work import is_under_way
from orchestrator.core import database_urls, names, refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing import free_slots
from orchestrator.core.suggestions import suggest
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, EXIT_PERSON, EnvironmentProblem, Refused, UsageError
from orchestrator.hints import Any
from orchestrator.runner import driver_locks, process_identity
from orchestrator.store import constants, high_water, leases, sqlite, turn_reader

GO_ON, START_NONE, CANCEL = 0, 1, 2
"""What whoever watches may want: that it goes on, lets what runs end, or cancels that too."""
MOST_SKIPPED = 5
"""How often in a row a turn is passed over because of another step of its session, until that is waited for."""
POLL_S, PATIENCE_S = 0.1, 0.5
"""Seconds between two looks at whoever watches, and at the record while others are at work."""
ACCEPTED, ENDED, PERSON, BUDGET, WORK_REMAINS, STOPPED, STALLED, LIMITED = (
    "accepted", "ended", "person", "budget", "work_remains", "stopped", "stalled", "limited"
)  # fmt: skip
_SYNCHRONOUS = ("OFF", "NORMAL", "FULL", "EXTRA")
_OF_CALLER = ("rules_version", "secrets", "state_folder", "acts_for", "client")
_EXITS = {ACCEPTED: EXIT_OK, ENDED: EXIT_NEGATIVE, STALLED: EXIT_NEGATIVE}
Key = tuple[str | None, int]
_at_work = set[str]()
"""The drivers of this process whose turns may still run, by their names."""


class DrivenElsewhere(EnvironmentProblem):
    """Another process drives the session."""


class Watcher(NamedTuple):
    """Who watches a driver.

    tell: takes each event, as it happens. wants: GO_ON, START_NONE or CANCEL, asked again and again.
    """

    tell: Callable[[Answer], None] = lambda _: None
    wants: Callable[[], int] = lambda: GO_ON


def drive(
    context: Context, request: Drive, watcher: Watcher = Watcher(),  # noqa: B008 - it is fixed
    *, hold: Hold | None = None,
) -> Answer:
    """Run a session until it has ended, awaits a person, or a budget is used up.

    Args:
        hold: of the session, where the caller has it already (default: it is taken beside other drivers).

    Returns:
        How it ended, as `answers.driving.Driven`; `exit_code` 0 ACCEPT, 2 waiting for a person, a budget is used up or
        work remains, 1 it ended otherwise. With `check` what was looked at, and 5 where a check fails.

    Raises:
        UsageError: USAGE, also by ORCHESTRATOR_LEASE; AMBIGUOUS_SESSION. InvalidInput: as `crew.crew`. Refused:
            UNKNOWN_SESSION, ALREADY_EXISTS.
        DrivenElsewhere: BUSY, a server drives the session, or another machine. EnvironmentProblem: PREFLIGHT_FAILED,
            EXECUTOR_UNAVAILABLE, and others of the store.
    """
    if context.path == constants.IN_MEMORY:
        raise UsageError("USAGE", "drive works only on a database that is kept.", "Open a database file")
    work_leases.seconds()
    root = str(attached_evidence.project_root(context.path))
    if request.clean:
        return _clean(context, _open_session(context, request), root)
    crew, isolation = crews.crew(request.executor, request.role), request.isolation or trees.usual(root)
    checks = [*preflight.checks(crew, root, isolation), *preflight.evidence(context)]
    if request.check:
        return preflight.answer(checks)
    preflight.require(checks)
    session = _session(context, request)
    asked = request.replaced(session_id=session, isolation=isolation)
    mode = leases.HOST if isolation == trees.WORKTREE else leases.SHARED
    with contextlib.nullcontext(hold) if hold is not None else held(context, session, mode) as found:
        if isolation == trees.WORKTREE and database_urls.is_postgresql(context.path):
            preflight.require([preflight.work(context, session, root)])
        return Driver(context, asked, crew, root, watcher, found).run()


class Hold(NamedTuple):
    """The right to drive a session: on this machine, and on a server's database the lease as well."""

    lease: work_leases.Lease | None = None

    def is_lost(self) -> bool:
        """Whether others may have taken over."""
        return self.lease is not None and self.lease.is_lost()


@contextlib.contextmanager
def held(context: Context, session: str, mode: str) -> Iterator[Hold]:
    """Hold the right to drive a session.

    Args:
        mode: `leases.ALONE`, as a server does; `leases.HOST`, beside drivers of this machine; or `leases.SHARED`,
            beside those of all.

    Raises:
        DrivenElsewhere: BUSY.
    """
    alone = mode == leases.ALONE
    with driver_locks.held(attached_evidence.own_folder(context.path), session, alone=alone) as free:
        if not free:
            raise _driven(session, "another process" if alone else "a server, or its worktrees are being removed")
        if not database_urls.is_postgresql(context.path):
            yield Hold()
            return
        lease = work_leases.take(context, session, mode)
        if not isinstance(lease, work_leases.Lease):
            raise _driven(session, _others(lease))
        try:
            yield Hold(lease)
        finally:
            lease.give_back()


def _driven(session: str, by: str) -> DrivenElsewhere:
    what = f"Session {session} is driven by {by}."
    return DrivenElsewhere("BUSY", what, suggest("status", session_id=session, watch=True))


def _others(holders: tuple[tuple[str, str], ...] | None) -> str:
    """Who drives a session, by machine and process."""
    return " and ".join(
        f"{'a server' if mode == leases.ALONE else 'a driver'} on {names.host_of(owner)} (process"
        f" {owner.rsplit(':', 2)[1]})" for owner, mode in holders or ()
    ) or "somebody who is beginning to"  # fmt: skip


def _clean(context: Context, session: str, root: str) -> Answer:
    """Remove what is merged, unless a driver or another cleaning is at work: none begins meanwhile."""
    with driver_locks.held(attached_evidence.own_folder(context.path), session, alone=True) as free:
        spawns = status.status(context, session_id=session, brief=True)["spawns"]
        cleaned = trees.clean(root, session, in_use=not free or any("start" in each for each in spawns))
    return {"success": True, "session_id": session, **cleaned, "exit_code": EXIT_OK}


def _session(context: Context, request: Drive) -> str:
    """The session to run: the named one, a new one for the goal, or the only open one."""
    if request.goal is None:
        return _open_session(context, request)
    if not request.goal.strip():
        raise UsageError("USAGE", "goal is blank.", "Say what the team should achieve: --goal TEXT", _named="goal")
    id = request.session_id or sessions.free_id(context)
    operations.call(context, "session create", id=id, goal=request.goal)
    return id


def _open_session(context: Context, request: Drive) -> str:
    session = request.session_id or arguments.only_session(context, "drive", {})
    if context.require_session(session).kind == "chat":
        what = f"Session {session} is a chat, which is driven by its messages."
        raise Refused("NOT_PERMITTED", what, suggest("session list"))
    return session


class Driver:
    """Runs one session.

    Args:
        request: with its session.
        root: the project's folder.
        hold: the right to drive the session.
    """

    def __init__(
        self, context: Context, request: Drive, crew: crews.Crew, root: str, watcher: Watcher, hold: Hold
    ) -> None:
        self._context, self._request, self._crew, self._root = context, request, crew, root
        self._session = str(request.session_id)
        self._isolation = request.isolation or trees.NONE
        self._watcher, self._hold = watcher, hold
        self._level = _level_of(context)
        self._client = leftovers.client()
        self._busy: dict[Key, threading.Thread] = {}
        self._alone: set[Key] = set()
        self._limits: dict[str, tuple[float, int]] = {}
        self._waited_for: set[str] = set()
        self._most, self._is_spent = dollars(request.max_cost), False
        self._news: queue.SimpleQueue[Answer | BaseException | Key] = queue.SimpleQueue()
        self._steps = self._rounds = self._skipped = 0
        self._until = time.monotonic() + request.max_minutes * 60 if request.max_minutes else None
        self._fault: BaseException | None = None
        self._waits = self._one_at_a_time = False
        self._listener = context.connection.listener() if database_urls.is_postgresql(context.path) else None

    def run(self) -> Answer:
        """Go round by round until nothing is left to do here.

        Raises:
            OrchestratorError: what made it impossible to go on; what ran has ended by then.
        """
        _at_work.add(self._client)
        try:
            self._tell("session")
            for each in preflight.warnings(self._root, self._isolation):
                self._tell("warning", reason=each)
            while True:
                ended = self._round()
                if ended is not None:
                    return ended
                self._wait()
        except BaseException as fault:
            self._fault = fault
            self._join()
            raise
        finally:
            _at_work.discard(self._client)
            if self._listener is not None:
                self._listener.close()

    # What happens

    def _tell(self, event: str, *, start: Mapping[str, Any] | None = None, **more: Any) -> None:
        if "decision" in more:
            more["decision"] = turn.summary(more["decision"])
        of = {name: start[name] for name in ("group_id", "turn", "role")} if start is not None else {}
        self._watcher.tell({"success": True, "event": event, "session_id": self._session, **of, **more})

    def _post(self, start: Mapping[str, Any], event: str, **more: Any) -> None:
        """Tell from a thread of a turn."""
        self._news.put({"event": event, "start": start, **more})

    def _wait(self) -> None:
        """Wait until a turn has ended, somebody wants something else, or it is time for another look: a server tells
        when others have taken a step.
        """
        wanted, until = self._watcher.wants(), time.monotonic() + PATIENCE_S
        while True:
            try:
                news = self._news.get(timeout=POLL_S)
            except queue.Empty:
                news = None
            if news is not None and self._take(news):
                return
            looks = not self._busy or self._skipped or self._hold.is_lost()
            if self._watcher.wants() != wanted or (looks and (time.monotonic() > until or self._is_told())):
                return

    def _is_told(self) -> bool:
        """Whether a server has told of a step since this was asked last."""
        return self._listener is not None and self._listener.wait(0.0)

    def _take(self, news: Answer | BaseException | Key) -> bool:
        """Take in what a thread says; whether that is the end of its turn."""
        if isinstance(news, dict):
            self._note(news)
            self._tell(news.pop("event"), **news)
            return False
        if isinstance(news, BaseException):
            self._fault = self._fault or news
            return False
        self._busy.pop(news).join()
        return True

    def _note(self, news: Answer) -> None:
        """Keep until when an executor has to wait."""
        self._one_at_a_time |= news.pop("one_at_a_time", False)
        member = self._crew.of(news["start"]["role"]).name
        if news["event"] == "limited":
            times = self._limits.get(member, (0.0, 0))[1] + 1
            self._limits[member] = (time.monotonic() + news.pop("wait_s"), times)
            self._waited_for.add(news["due_at"])
        elif news["event"] == "reported":
            self._limits.pop(member, None)
        elif news["event"] == "freed":
            self._is_spent |= news["reason"] == turn.SPENT

    def _note_limits(self, free: list[Answer]) -> None:
        """Wait as well for the limits that an earlier driver, or another client, had reached."""
        for each in free:
            limit, member = each.get("limited"), self._crew.of(each["agent"])
            if limit is None or limit["due_at"] in self._waited_for:
                continue
            run = turn_reader.by_id(self._context.connection, str(limit["worker"]))
            if run is not None and run.executor != member.executor.name:
                # Somebody else is to answer now.
                continue
            self._waited_for.add(limit["due_at"])
            until, times = self._limits.get(member.name, (0.0, 0))
            left = limits.left_s(self._context, limit["due_at"])
            self._limits[member.name] = (max(until, time.monotonic() + left), times + 1)
            self._tell("waiting", reason=member.shown + f" has reached a usage limit, until {limit['due_at']}")

    def _is_limited(self, spawn: Answer) -> bool:
        """Whether the executor of a turn has reached a usage limit that is not over."""
        return self._limits.get(self._crew.of(spawn["agent"]).name, (0.0, 0))[0] > time.monotonic()

    def _join(self) -> None:
        while self._busy:
            self._take(self._news.get())

    # Rounds

    def _round(self) -> Answer | None:
        """Start what may be started; how it has ended where nothing is left to do."""
        standing = status.status(self._context, session_id=self._session, brief=True)
        leftovers.take_over(self._context, self._session, standing["spawns"], self._root, self._tell, _at_work)
        # Read again: taking over may have routed an answer or opened a new turn.
        standing = status.status(self._context, session_id=self._session, brief=True)
        free = [each for each in standing["spawns"] if not is_under_way(each) and _key(each) not in self._busy]
        if self._hold.is_lost():
            self._fault = self._fault or _driven(self._session, "others: the lease of this driver has expired")
        stops = self._stops(standing)
        self._note_limits(free)
        if stops is None:
            for each in self._startable(free):
                self._start(each)
        if self._busy:
            return None
        if self._fault is not None:
            raise self._fault
        return self._idle(standing, free, stops)

    def _stops(self, standing: Answer) -> str | None:
        """Why no turn is started, by the outcome that this leads to; None where one may be."""
        if self._fault is not None or self._watcher.wants() != GO_ON:
            return STOPPED
        if standing["session"]["status"] != "active":
            return PERSON
        if self._request.max_steps is not None and self._steps >= self._request.max_steps:
            return BUDGET
        if self._until is not None and time.monotonic() >= self._until:
            return BUDGET
        if self._is_spent:
            return BUDGET
        if self._most is not None and turn_reader.cost(self._context.connection, self._session) >= self._most:
            return BUDGET
        return WORK_REMAINS if self._request.once and self._rounds else None

    def _room(self) -> int:
        """How many turns may be started now."""
        room = self._parallel() - len(self._busy)
        left = self._request.max_steps
        return max(0, room if left is None else min(room, left - self._steps))

    def _parallel(self) -> int:
        """How many turns run at once: those that share a folder run one after another, and so do all where a change in
        the user's checkout could have been made by several.
        """
        if self._isolation == trees.NONE or self._one_at_a_time:
            return 1
        session = self._context.require_session(self._session)
        workflow = self._context.version(session.workflow_version_id).workflow
        return self._request.parallel or free_slots.limit(workflow, session)

    def _is_alone(self, spawn: Answer) -> bool:
        """Whether a turn works on the integration branch, which one turn at a time may do."""
        return spawn["group_id"] is None or spawn["action"] == trees.MERGE_ACTION

    def _startable(self, free: list[Answer]) -> list[Answer]:
        """Those of the free turns that may be started beside those that run, and beside each other."""
        found, alone = [], self._alone & self._busy.keys()
        for each in free:
            if self._is_limited(each):
                continue
            if not self._is_alone(each):
                found.append(each)
            elif not alone:
                alone = {_key(each)}
                found.append(each)
        return found[: self._room()]

    def _idle(self, standing: Answer, free: list[Answer], stops: str | None) -> Answer | None:
        """Decide what to do while this driver runs nothing: how the drive ended, or None to go on."""
        if standing["session"]["status"] == "ended":
            accepted = standing["session"]["outcome"] == "accepted"
            ended = self._ended(ACCEPTED if accepted else ENDED, str(standing["session"]["outcome_reason"] or ""))
            return self._landed(ended) if accepted and self._isolation == trees.WORKTREE else ended
        if stops is None and standing["validate"]:
            self._rounds += 1
            return self._validate()
        if stops is not None and (free or standing["validate"] or stops in (STOPPED, PERSON)):
            return self._ended(stops, _why(stops))
        if [each for each in standing["spawns"] if is_under_way(each)] and stops is None:
            self._others(standing)
            return None
        if standing["questions"] or standing["state"] == status.PERSON_AWAITED:
            return self._ended(PERSON, _why(PERSON))
        if stops is not None:
            return self._ended(stops, _why(stops))
        if free and self._request.no_wait and all(map(self._is_limited, free)):
            return self._ended(LIMITED, _why(LIMITED))
        # What is free and could not be taken now was taken by somebody else meanwhile.
        return None if free else self._ended(STALLED, _why(STALLED))

    def _others(self, standing: Answer) -> None:
        """Say once that others are at work."""
        if not self._waits:
            self._waits = True
            who = ", ".join(f"{each['agent']} (turn {each['turn']})" for each in standing["spawns"])
            self._tell("waiting", reason=f"others are working: {who}")

    def _validate(self) -> Answer | None:
        try:
            found = operations.call(self._context, "validate", session_id=self._session)
        except Refused as problem:
            if problem.code not in ("STATE_CHANGED", "SESSION_CLOSED"):
                raise
            return None
        noted = [each for each in found["checks"] if each["level"] != "info"]
        self._tell("verdict", verdict=found["verdict"], reason=found["reason"], checks=noted)
        return None if found["recorded"] else self._ended(STALLED, f"no verdict could be recorded: {found['reason']}")

    def _ended(self, outcome: str, reason: str) -> Answer:
        standing = status.status(self._context, session_id=self._session, brief=True)
        return {
            "success": True, "event": "ended", "session_id": self._session, "outcome": outcome, "reason": reason,
            "steps": self._steps, "questions": [each["id"] for each in standing["questions"]],
            "next": [*self._again(outcome), *standing["next"]], "exit_code": _EXITS.get(outcome, EXIT_PERSON),
        }  # fmt: skip

    def _again(self, outcome: str) -> list[str]:
        """The command that goes on with the same team, where nothing but a driver is missing."""
        if outcome not in (BUDGET, WORK_REMAINS, STOPPED, LIMITED):
            return []
        asked = {"executor": self._request.executor, "role": [*self._request.role], "isolation": self._isolation}
        same = {name: value for name, value in asked.items() if value}
        return [suggest("drive", session_id=self._session, **same)]

    def _landed(self, ended: Answer) -> Answer:
        """After ACCEPT: the command that takes the work over, or that it is done."""
        why = trees.land(self._root, self._session) if self._request.land else "--land was not given"
        if why is None:
            return {**ended, "landed": True}
        if self._request.land:
            self._tell("warning", reason=f"the work was not merged into the checked-out branch: {why}")
        return {**ended, "landed": False, "next": [f"git merge {refs.branch(self._session)}", *ended["next"]]}

    # Turns

    def _start(self, spawn: Answer) -> None:
        """Take a turn and run it in a thread; where somebody else was faster, nothing."""
        member = self._crew.of(spawn["agent"])
        try:
            asked = starts.ReserveStart(
                session_id=self._session, group_id=spawn["group_id"], turn=spawn["turn"], via=starts.DRIVE,
                client=self._client, owner=process_identity.mine(), isolation=self._isolation,
            )  # fmt: skip
            with self._skipping():
                start = operations.ask(self._context, asked)["start"]
            self._skipped = 0
        except EnvironmentProblem as problem:
            if not problem.data.get(constants.SKIPPED):
                raise
            self._skipped += 1
            return
        except Refused as problem:
            # These three mean that somebody else moved the turn first, which is no fault of this driver (AUT-6).
            if problem.code not in ("ALREADY_EXISTS", "STALE_TURN", "SESSION_CLOSED"):
                raise
            return
        self._steps += 1
        self._rounds = max(self._rounds, 1)
        self._waits = False
        self._tell("started", start=start, executor=member.name)
        conversation, cost = self._broken_off(spawn, member)
        place = turn.Place(
            member, self._root, self._isolation == trees.WORKTREE, self._request.turn_timeout * 60_000,
            cancelled=lambda: self._watcher.wants() >= CANCEL or self._fault is not None or self._hold.is_lost(),
            tell=functools.partial(self._post, start), limited=self._limits.get(member.name, (0.0, 0))[1],
            conversation=conversation, cost_before=cost, most=self._most,
        )  # fmt: skip
        thread = threading.Thread(target=self._work, args=(start, place), name=f"turn-{start['turn']}")
        self._busy[_key(spawn)] = thread
        if self._is_alone(spawn):
            self._alone.add(_key(spawn))
        thread.start()

    @contextlib.contextmanager
    def _skipping(self) -> Iterator[None]:
        """On a server, skip a session in which another step is under way: the turn may be taken by it."""
        connection = self._context.connection
        if not hasattr(connection, "skips"):
            yield
            return
        connection.skips = self._skipped < MOST_SKIPPED
        try:
            yield
        finally:
            connection.skips = False

    def _broken_off(self, spawn: Answer, member: crews.Member) -> tuple[str | None, int]:
        """The conversation that a usage limit broke off in a turn, and what it has cost; whoever drove then."""
        found = turn_reader.broken_off(self._context.connection, self._session, *_key(spawn))
        return found[1:] if found is not None and found[0] == member.executor.name else (None, 0)

    def _work(self, start: Answer, place: turn.Place) -> None:
        """The thread of a turn."""
        try:
            with _beside(self._context, self._level) as context:
                turn.play(context, start, place)
        except BaseException as fault:
            self._news.put(fault)
        finally:
            # Last of all, so that the deciding thread has heard everything of a turn before it takes the turn for
            # ended.
            self._news.put((start["group_id"], start["turn"]))


def dollars(text: str | None) -> int | None:
    """An amount in millionths of a dollar.

    Raises:
        UsageError: USAGE.
    """
    if text is None:
        return None
    if not re.fullmatch(r"\d{1,6}(\.\d{1,6})?", text):
        what = f"max_cost must be an amount in dollars such as 2.50, not {names.shown(text)}."
        raise UsageError("USAGE", what, "Repeat with an amount", _named="max_cost")
    return round(float(text) * 1_000_000)


def _key(spawn: Answer) -> Key:
    return spawn["group_id"], spawn["turn"]


def _why(outcome: str) -> str:
    return {
        PERSON: "waiting for a person", BUDGET: turn.SPENT, WORK_REMAINS: "one round done",
        STOPPED: "it was stopped", LIMITED: "a usage limit is reached",
        STALLED: "nobody to start and nothing open",
    }[outcome]  # fmt: skip


def _level_of(context: Context) -> str:
    """How safely a context writes, asked in its own thread; a connection to a server hands it on by itself."""
    if database_urls.is_postgresql(context.path):
        return ""
    return _SYNCHRONOUS[context.connection.execute("PRAGMA synchronous").fetchone()[0]]


def _another(context: Context, level: str) -> Any:
    if database_urls.is_postgresql(context.path):
        return context.connection.another(write=True)
    connection = sqlite.connect(context.path, write=True, deadline=context.deadline_s, synchronous=level)
    connection.seen = high_water.follow(connection, context.state_folder)
    return connection


@contextlib.contextmanager
def _beside(context: Context, level: str) -> Iterator[Context]:
    """A context for a thread that runs a turn: another connection, by the same caller; closed at the end.

    Args:
        level: as `_level_of` gives it.

    Raises:
        EnvironmentProblem: as opening a database.
    """
    # One connection a thread: steps of two threads on one connection would share a transaction (AUT-7).
    connection = _another(context, level)
    try:
        made = Context(
            connection, path=context.path, clock=context.clock, door=context.door, channel=context.channel,
            deadline_s=context.deadline_s, run=context.run,
        )  # fmt: skip
        for name in _OF_CALLER:
            setattr(made, name, getattr(context, name))
        yield made
    finally:
        connection.close()
