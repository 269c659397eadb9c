"""One turn from its start to its decision: hand-off, supervised run, report out of the answer, `route`.

An answer without a report goes back once, where the executor can go on with its conversation. What fails then, or fails
otherwise, is replaced by a fresh agent at most twice; then a person is asked.
"""

from __future__ import annotations

import contextlib
from collections.abc import Callable

from orchestrator.app import starts
from orchestrator.app.driving import fresh, trees
from orchestrator.app.driving.crew import Member
from orchestrator.app.driving.trees import Tell
from orchestrator.app.kernel import attached_evidence
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports import handoffs, last_messages, limits
from orchestrator.app.running import driven_turn, run_list_views
from orchestrator.app.running.driven_turn import TurnOrder, TurnResult
from orchestrator.app.session import pending_commands
from orchestrator.app.verdict import gates
from orchestrator.core import agent_programs, handoff, project_settings, report_parser
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import turn_verdict
from orchestrator.core.suggestions import suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused
from orchestrator.hints import Any
from orchestrator.runner import process
from orchestrator.store import turn_reader
from orchestrator.store.queries import Row

STARTED_BY = "ORCHESTRATOR_START"
"""The variable that tells a driven agent's own hooks that a driver directs it."""
_SURROUNDINGS = frozenset((
    "PROGRAM_MISSING", "NOT_STARTED", "NOT_LOGGED_IN", "AUTHENTICATION", "KEY_NOT_SET", "EXTRA_MISSING", "CREDIT",
    "MODEL_MISSING",
))  # fmt: skip
"""Failures that no further agent can do anything about."""
_BUDGET = "BUDGET_EXHAUSTED"
SPENT = "the budget is used up"
"""Why a turn is free again that was broken off because of `--max-cost`."""
_GO_ON = "The usage limit has been reset. Continue your turn where you left off, and end it with a report as before."
_FAILED_STARTS = """SELECT count(*) FROM starts INDEXED BY sqlite_autoindex_starts_1 WHERE session_id = :session
    AND group_id = :place AND outcome = 'failed' AND via = 'drive' AND seq > max(:answered, coalesce((
        SELECT max(seq) FROM agent_reports WHERE session_id = :session AND group_id IS :group), 0))"""


class Place(NamedTuple):
    """Where a turn is run and by whom.

    root: the project, where evidence and logs lie. isolated: whether its agent works in a worktree. timeout_ms: its
    clock.
    cancelled: asked again and again; once true the executor is ended. tell: takes what happens, as events.
    limited: how often its executor has reached a usage limit without an answer since. conversation: one that such a
    limit broke off, and that goes on. cost_before: what that had cost. most: what the session may cost, in millionths
    of a dollar.
    """

    member: Member
    root: str
    isolated: bool
    timeout_ms: int
    cancelled: Callable[[], bool]
    tell: Tell
    limited: int = 0
    conversation: str | None = None
    cost_before: int = 0
    most: int | None = None


def play(context: Context, start: Row, place: Place) -> None:
    """Run a reserved turn to its end; whatever comes of it is recorded and told.

    Args:
        start: as `starts.reserve` answered it.

    Raises:
        EnvironmentProblem: EXECUTOR_UNAVAILABLE, nothing that is started could do better; OUTPUT_FAILED, the shared
            folder of evidence takes nothing; the turn stays open.
    """
    try:
        _play(context, start, place)
    except Refused as problem:
        _refused(context, start, place, problem)
    except EnvironmentProblem as problem:
        with contextlib.suppress(OrchestratorError):
            starts.end(context, start, outcome=starts.FREED, reason=problem.message)
        # What fails during a cancellation is its effect and no fault of the surroundings, so it stops no other turn.
        if not place.cancelled():
            raise
        place.tell("freed", run=None, reason="cancelled")


def _play(context: Context, start: Row, place: Place) -> None:
    session, group = start["session_id"], start["group_id"]
    attached_evidence.require_shared(context.path, context.connection)
    told = handoffs.handoff(context, session_id=session, group_id=group, turn=start["turn"])
    action = told["handoff"]["action"]
    tree = trees.prepare(place.root, start, action, place.tell) if place.isolated else None
    order = _order(context.path, start, place, told, tree)
    if tree is not None:
        given = fresh.make_ready(context, start, tree, place.tell, place.cancelled)
        order = order._replace(variables=(*order.variables, *given))
    if place.conversation is not None:
        order = order._replace(handoff=_GO_ON, conversation=place.conversation, cost_before=place.cost_before)
    sent = _Sent()
    while True:
        result, problem = _run(context, start, place, order, tree, bound=sent.back > 0), None
        if result.state in (turn_verdict.ANSWERED, turn_verdict.NO_ANSWER):
            problem = _reported(context, start, place, result, tree, sent)
            if problem is None:
                return
            if sent.again(problem) and result.conversation is not None and _can_repair(context, start, problem):
                place.tell("sent_back", run=result.run, reason=problem.message)
                form = last_messages.form(context, start, problem)
                order = order._replace(
                    handoff=form, conversation=result.conversation, cost_before=result.cost or 0
                )
                continue
        _ended(context, start, place, result, problem)
        return


class _Sent:
    """How often an agent was sent back in its turn: once for a report, once for a change, and some times for gates."""

    def __init__(self) -> None:
        self.back = self.gates = self.changes = 0

    def again(self, problem: OrchestratorError) -> bool:
        """Count one more time; whether there may be one."""
        self.back += 1
        if problem.code == gates.CODE:
            # How often is counted in the record (AUT-29).
            self.gates += 1
            return True
        if problem.code == trees.UNCHANGED:
            self.changes += 1
            return self.changes <= 1
        return self.back - self.gates - self.changes <= 1

    def may_ask(self, result: TurnResult) -> bool:
        """Whether the agent can be asked, and was not yet, why nothing has changed."""
        return result.conversation is not None and self.changes == 0


def _order(database: str, start: Row, place: Place, told: Answer, tree: trees.Tree | None) -> TurnOrder:
    session, group, turn = start["session_id"], start["group_id"], start["turn"]
    text = str(handoff.render({**told["handoff"], "by_message": True}))
    if tree is not None and tree.note:
        text += f"\n## The merge\n\n{tree.note}\n"
    acts_for = f"{start['role']}@{session}:{group}" if group else str(start["role"])
    allowed = pending_commands.allowed(database) if start["role"] in trees.COMMITS else []
    return TurnOrder(
        session_id=session, group_id=group, turn=turn, role=start["role"], handoff=text,
        executor=place.member.executor, folder=tree.path if tree else place.root, root=place.root,
        model=place.member.model_of(told),
        limits=_limits(place.timeout_ms),
        patience_s=place.timeout_ms / 1000,
        variables=((STARTED_BY, f"{session}:{group or ''}:{turn}"), (agent_programs.ACTS_FOR, acts_for)),
        commands=tuple(each for line in allowed for each in (line, f"{line} *")),
    )  # fmt: skip


def _run(
    context: Context, start: Row, place: Place, order: TurnOrder, tree: trees.Tree | None, *, bound: bool = False
) -> TurnResult:
    def begun(run: str, raw: str) -> None:
        if not bound:
            # With the commit a driver that takes over can undo what a killed agent has committed (AUT-9).
            starts.bind(context, start, worker=run, trace=raw, commit=tree.begun if tree else None)

    if place.most is not None:
        # What is gone on with after the budget is used up ends at its first call.
        left = max(1, place.most - turn_reader.cost(context.connection, order.session_id))
        order = order._replace(budget=left)
    result = driven_turn.run_turn(context, order, cancelled=place.cancelled, begun=begun)
    if result.reached:
        said = f"{'; '.join(result.reached[:20])}; from now on one agent runs at a time"
        place.tell("warning", run=result.run, reason=said, one_at_a_time=True)
    if tree is not None:
        changed = any(each.path == project_settings.FILE for each in result.changes)
        # A run that failed before its end has seen nothing.
        trees.finish(tree, place.tell, settings_changed=changed or result.raw is None)
    return result


def _reported(
    context: Context, start: Row, place: Place, result: TurnResult, tree: trees.Tree | None, sent: _Sent
) -> OrchestratorError | None:
    """Route the report of an answer; why that was not possible, or None."""
    if result.state == turn_verdict.NO_ANSWER:
        return InvalidInput("AMBIGUOUS_REPORT", str(result.reason), "")

    returns, asks = result.conversation is not None, sent.may_ask(result)
    prove = _measured(
        context, start, tree, place.tell, may_return=returns, asks=asks, cancelled=place.cancelled,
        reached=result.reached,
    )
    try:
        decision = last_messages.report(context, start, _last_report(result, start["role"]), prove)
    except EnvironmentProblem:
        raise
    except OrchestratorError as problem:
        return problem
    place.tell("reported", run=result.run, decision=decision)
    return None


def _measured(
    context: Context, start: Row, tree: trees.Tree | None, tell: Tell, *, may_return: bool, asks: bool = False,
    cancelled: Callable[[], bool] | None = None, reached: tuple[str, ...] = (),
) -> last_messages.Prove:
    """What compares a reported status with what was seen.

    Args:
        may_return: whether a failing gate sends the agent back; else the report carries the failure.
        asks: whether the agent is asked why nothing has changed; else the report is taken as it is.
        reached: what changed outside of its tree that it may have done.
    """
    folder = tree.path if tree else gates.where(context, start)
    gate = last_messages.gated(context, start, folder, may_return=may_return, cancelled=cancelled)

    def prove(effect: str, status: str) -> last_messages.Proven:
        gated = gate(effect, status)
        measured = trees.measure(tree, effect, asks=asks, tell=tell) if tree is not None else None
        # An agent may have named another commit, or none: the one that was seen counts (AUT-18).
        commit = {"commit": measured["commit"]} if measured is not None and effect == trees.MERGED else {}
        seen = {**(gated.measured or {}), **(measured or {})}
        if reached:
            seen["differences"] = [*reached]
        return last_messages.Proven({**gated.details, **commit}, seen or None)

    return prove


def recover(context: Context, start: Row, action: str, root: str, message: str, tell: Tell) -> Answer:
    """Route an answer that a killed driver had not routed; it is kept and measured like any other.

    Returns:
        The decision.

    Raises:
        OrchestratorError: there is no report in it, it is refused, or (EnvironmentProblem) git fails.
    """
    tree = None
    if start["isolation"] == trees.WORKTREE:
        tree = trees.prepare(root, start, action, tell)
        trees.finish(tree, tell)
    # The agent is gone, so a failing gate goes into the report instead of back to the agent (AUT-8).
    prove = _measured(context, start, tree, tell, may_return=False)
    return last_messages.report(context, start, message, prove)


def _refused(context: Context, start: Row, place: Place, problem: Refused) -> None:
    """End a start that the rules turned down: the session was closed, or others moved its turn."""
    decision: Answer = {}
    # Whatever is refused here as well has moved on without this start.
    with contextlib.suppress(Refused):
        replaced = failures(context, start)
        starts.end(context, start, outcome=starts.FAILED, reason=problem.message)
        if last_messages.is_open(context, start):
            decision = last_messages.replace(context, start, reason=problem.message, replaced=replaced)
    place.tell("failed", run=None, reason=problem.message, decision=decision)


def _last_report(result: TurnResult, role: str) -> str:
    """The last of several results that reports something, be it unclear; the last one if none does."""
    for text in reversed(result.answers):
        try:
            report_parser.extract(text, role)
        except InvalidInput as problem:
            if problem.data.get("candidates") == []:
                continue
        return text
    return result.answer


def _can_repair(context: Context, start: Row, problem: OrchestratorError) -> bool:
    """Whether another last message of the same agent may put it right."""
    return problem.code in (*last_messages.FAULTS, *last_messages.SEEN) and last_messages.is_open(context, start)


def _ended(
    context: Context, start: Row, place: Place, result: TurnResult, problem: OrchestratorError | None
) -> None:
    """End a start that no report came of, and see to it that somebody goes on."""
    said = problem.message if problem is not None else str(result.reason)
    reason = run_list_views.with_places(context, start["session_id"], said)
    if not last_messages.is_open(context, start):
        # The turn went on without this agent.
        place.tell("failed", run=result.run, reason=reason)
        return
    kind = (result.error or "").partition(":")[0]
    if problem is None and kind in _SURROUNDINGS:
        starts.end(context, start, outcome=starts.FREED, reason=reason)
        raise EnvironmentProblem("EXECUTOR_UNAVAILABLE", reason, suggest("drive", check=True), run=result.run)
    # Freed and not failed: the agent did nothing wrong, and a larger budget starts the turn again (AUT-4).
    if kind == _BUDGET:
        starts.end(context, start, outcome=starts.FREED, reason=reason)
        place.tell("freed", run=result.run, reason=SPENT)
        return
    if place.cancelled():
        starts.end(context, start, outcome=starts.FREED, reason="the driver was asked to cancel it")
        place.tell("freed", run=result.run, reason="cancelled")
        return
    if result.state == turn_verdict.LIMITED:
        wait, due = limits.due(context, start, reason, resets_at=result.resets_at, before=place.limited)
        starts.end(context, start, outcome=starts.LIMITED, reason=reason, due_at=due)
        place.tell("limited", run=result.run, reason=reason, due_at=due, wait_s=wait)
        return
    # Counted before this start is ended as failed, so that it does not count itself.
    replaced = failures(context, start)
    starts.end(context, start, outcome=starts.FAILED, reason=reason)
    decision = last_messages.replace(context, start, reason=reason, replaced=replaced)
    place.tell("failed", run=result.run, reason=reason, decision=decision)


def failures(context: Context, start: Row) -> int:
    """How many driven starts of this place have failed since its last report and since a person's last answer."""
    session, group = start["session_id"], start["group_id"]
    row = context.require_session(session) if group is None else context.reader.group(session, group)
    given: dict[str, Any] = {"session": session, "group": group, "place": group or ""}
    found = context.reader.one(_FAILED_STARTS, **given, answered=row.answered_seq if row else 0)
    return int(str(found[0])) if found else 0


def summary(decision: Answer) -> Answer:
    """What an event tells of a decision."""
    kept = ("decision_id", "response_status", "next_agent", "action", "group_status", "question_id", "completed")
    return {name: decision[name] for name in kept if decision.get(name) is not None}


def _limits(timeout_ms: int) -> process.Limits:
    """The clocks of a turn: its own, and ten minutes of silence at most."""
    silence = min(timeout_ms, driven_turn.LIMITS.progress_timeout_ms)
    return driven_turn.LIMITS._replace(executor_timeout_ms=timeout_ms, progress_timeout_ms=silence)
