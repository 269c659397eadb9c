"""A session in a database in memory, moved forth and back by the real use cases inside savepoints.

The schema, guards and completion view are those of every database. Two things differ: a step is never committed, so
that going back costs one ROLLBACK TO; and, unless the world is exact, counters stand wherever a move says.

Cold module: `workflow check --prove` uses it, never `route`.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Sequence

from orchestrator.app import setup
from orchestrator.app.kernel import human, operations
from orchestrator.app.kernel.context import Call, Circumstances, Context, Version, Work
from orchestrator.app.workflow.requests import LoadWorkflow
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import Group, Session
from orchestrator.core.workflow.model import Rules
from orchestrator.errors import InvalidInput, Refused
from orchestrator.hints import Any
from orchestrator.store import memory, reader
from orchestrator.store import step as steps

SESSION = "S1"
AT = "2026-01-01T00:00:00.000000Z"
_EVENT = "INSERT INTO audit_events VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)"


ANSWER = "answer"
_ASKED = f"""SELECT id FROM questions WHERE session_id = '{SESSION}' AND closed_seq IS NULL
    ORDER BY opened_seq, id LIMIT 1"""


class Limit(NamedTuple):
    """Where the counters stand when a move is made; all below their limits where nothing is said.

    band: how often the escalation threshold is reached with this failure (1 escalation agent ... 4 a person);
    rounds: whether the investigation budget is used up; rung: the rung of the loop guard that is reached, from 1.
    """

    band: int = 0
    rounds: bool = False
    rung: int = 0


BELOW = Limit()


class Op(NamedTuple):
    """One operation with its arguments, as a line of `orchestrator batch` has them."""

    words: str
    arguments: dict[str, Any]

    def line(self) -> str:
        """The operation as such a line."""
        return json.dumps({"op": self.words, "args": self.arguments})


class Move(NamedTuple):
    """An operation under a limit; `awaited` says that whoever does it is awaited."""

    op: Op
    limit: Limit = BELOW
    awaited: bool = False


class LimitedReader(reader.Reader):
    """Reads what is recorded, but for the counters, which stand where the move under way says.

    `limit` None reads the recorded counters too.
    """

    def __init__(self, connection: Any) -> None:
        super().__init__(connection)
        self.limit: Limit | None = None
        self.rules: Rules | None = None

    def group(self, session: str, group: str) -> Group | None:
        """The group, with the attempts and rounds of the limit."""
        found = super().group(session, group)
        return self._limited(found) if found else None

    def group_of(self, row: Sequence[Any]) -> Group:
        """The same of a row that is read."""
        return self._limited(super().group_of(row))

    def _limited(self, found: Group) -> Group:
        if self.limit is None or self.rules is None:
            return found
        attempts = max(self.limit.band * self.rules.escalation_threshold - 1, 0)
        rounds = self.rules.investigation_max_iterations - 1 if self.limit.rounds else 0
        return found._replace(
            qa_attempts=attempts, tl_review_attempts=attempts, merge_attempts=attempts, iterations=rounds
        )

    def opening(
        self, session: str, group: str, role: str, status: str, *, own: bool, most: int
    ) -> reader.Opening | None:
        """What is known of a group, with the visits of the limit."""
        found = super().opening(session, group, role, status, own=own, most=most)
        visits = self._visits()
        return found if found is None or visits is None else found._replace(visits=visits)

    def visits(self, session: Session, role: str, status: str, *, own: bool, most: int) -> int:
        """The visits of the limit."""
        visits = self._visits()
        return super().visits(session, role, status, own=own, most=most) if visits is None else visits

    def count(self, sql: str, **parameters: object) -> int:
        """As recorded, but for the `set-status` that the loop guard counts."""
        visits = self._visits() if sql == reader.STATUS_SETTINGS else None
        return super().count(sql, **parameters) if visits is None else visits

    def _visits(self) -> int | None:
        if self.limit is None or self.rules is None:
            return None
        return self.rules.loop_max_visits - 2 + self.limit.rung if self.limit.rung else 0


class World:
    """One session under one workflow.

    Args:
        content: the text of the transitions file.
        agent_texts: agent files by name.
        exact: whether counters are as recorded, and a move's limit means nothing.

    Raises:
        InvalidInput: WORKFLOW_INVALID with every problem, as `workflow load`.
    """

    def __init__(self, content: str, agent_texts: dict[str, str], *, exact: bool = False) -> None:
        connection = self.connection = memory.watched()
        self.context = Context(
            connection, path=":memory:", clock=lambda: AT, door="python", channel="process", deadline_s=1.0
        )
        self.reader = LimitedReader(connection)
        self.context.reader = self.reader
        tree = setup._tree(agent_texts)
        operations.ask(self.context, setup.RegisterAgents(agents=tree))
        loading = LoadWorkflow(content=content, agent_texts=agent_texts, by=setup.INSTALLER)
        operations.ask(self.context, loading)
        self.version: Version = self.context.active_version()
        self.reader.rules = self.version.workflow.rules
        self.exact = exact
        self.path: list[Move] = []
        self._stack: list[Move | None] = []
        """For each savepoint that stays open, lowest first, the move behind it; None where several follow."""
        self._execute("BEGIN")

    def attempt(self, move: Move) -> str | None:
        """Make a move that `undo` takes back; the code of the refusal, after which nothing is left to take back."""
        self._execute("SAVEPOINT attempt")
        try:
            self._perform(move)
        except Exception as problem:
            self.undo()
            if isinstance(problem, (Refused, InvalidInput)):
                return problem.code
            raise
        return None

    def undo(self) -> None:
        """Take the move of the last `attempt` back."""
        self._execute("ROLLBACK TO attempt")
        self._execute("RELEASE attempt")

    def advance(self, move: Move) -> str | None:
        """Make a move for good, until `go` leads elsewhere; the code of the refusal."""
        if not self._stack or self._stack[-1] is not None:
            self._execute("SAVEPOINT attempt")
            self._stack.append(None)
        named = self._named(move)
        code = self.attempt(named)
        if code is None:
            self._execute("RELEASE attempt")
            self.path.append(named)
        return code

    def _named(self, move: Move) -> Move:
        """An answer with the id of the question that is open here; ids hold the numbers of steps."""
        if move.op.words != ANSWER:
            return move
        row = self.reader.one(_ASKED)
        return move._replace(op=Op(ANSWER, {**move.op.arguments, "id": row[0] if row else ""}))

    def go(self, path: Sequence[Move]) -> None:
        """Stand where a list of moves leads, from the beginning, all of which are accepted.

        One savepoint stays open for each move, so that only what differs from the last list is made again.
        """
        shared = 0
        for made, move in zip(self._stack, path, strict=False):
            if made is not move:
                break
            shared += 1
        for _ in self._stack[shared:]:
            self.undo()
        del self._stack[shared:], self.path[shared:]
        for move in path[shared:]:
            self._again(move)

    def _again(self, move: Move) -> None:
        named = self._named(move)
        code = self.attempt(named)
        if code is not None:
            raise AssertionError(f"{move.op.line()} was accepted once and is refused with {code}")
        self._stack.append(move)
        self.path.append(named)

    def _execute(self, sql: str) -> None:
        self.connection.execute(sql)

    def _perform(self, move: Move) -> None:
        self.reader.limit = None if self.exact else move.limit
        words, arguments = move.op
        given = {name: value for name, value in arguments.items() if name not in ("session_id", "human_token_file")}
        if words == ANSWER:
            given |= {"id": self._named(move).op.arguments["id"]}
        actor = str(given.get("by") or given.get("current_agent") or "project_manager")
        step = steps.Step(self.context.connection, SESSION, AT)
        circumstances = Circumstances(person={"channel": human.TERMINAL} if words == ANSWER else None)
        call = Call(words, SESSION, actor, given, circumstances=circumstances)
        operations.action(words)(Work(self.context, step, call))
        # Of an event that is never committed only the number and the place in the chain matter.
        head = hashlib.sha256(step.prev_hash).digest()
        event = (SESSION, step.seq, words, actor, "process", AT, "{}", "{}", step.prev_hash, head)
        self.connection.execute(_EVENT, event)


def answer(decision: str) -> Op:
    """A person's answer to what is asked first. As a line it needs the file of a token of theirs."""
    return Op(ANSWER, {"id": "", "decision": decision, "note": "so be it", "human_token_file": "TOKEN-FILE"})


def report(role: str, status: str, group: str | None = None, **more: Any) -> Op:
    """A report in the session."""
    given = {"session_id": SESSION, "current_agent": role, "status": status, **more}
    return Op("route", {**given, "group_id": group} if group else given)
