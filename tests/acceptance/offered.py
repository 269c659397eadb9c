"""Every command that answers print, played in a copy of the state: what is offered must not be refused."""

from __future__ import annotations

import random
import re
import shlex
from collections.abc import Iterator
from typing import Any, NamedTuple

from orchestrator import testing
from orchestrator.app.kernel import arguments, human, operations
from orchestrator.app.kernel.context import Context
from orchestrator.doors.cli import catalogue, coercion, fast_parser
from orchestrator.errors import OrchestratorError
from tests.acceptance.walking import SESSION, Op, report

OTHER = "S2"
"""A second session that is open, so that a command without its session is ambiguous."""
FILLED = {"TEXT": "a reason", "REASON": "a reason"}
"""Placeholders that any text fills."""
_PLACEHOLDER = re.compile(r"(?<![\w-])(AGENT|GROUP|CODE|JSON|FILE|ID|TOKEN|N|S|G|T)(?![\w-])|\.\.\.")
_QUOTED = re.compile(r"`(orchestrator [^`]*)`")
_AGENTS = "SELECT id FROM agents WHERE active = 1 AND kind = 'ai' AND session_id IS NULL AND role <> 'orchestrator'"
_STARTED = "SELECT id FROM agents WHERE active = 1 AND kind = 'ai' AND session_id = 'S1'"


class Fault(NamedTuple):
    """A command that was printed and is refused."""

    source: str
    command: str
    code: str
    message: str


def texts(value: Any) -> Iterator[str]:
    """Every text in an answer."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from texts(each)
    elif isinstance(value, (list, tuple)):
        for each in value:
            yield from texts(each)


def commands(value: Any) -> Iterator[str]:
    """Every command that an answer prints: a text of its own, between backticks, or a line of a hand-off."""
    for text in texts(value):
        for line in text.splitlines():
            if line.startswith("orchestrator "):
                yield line
            yield from _QUOTED.findall(line)


def is_template(command: str) -> bool:
    """Whether a command is only named, or has a place that not any text can fill: a word in capitals says so."""
    return command.removeprefix("orchestrator ") in catalogue.every() or _PLACEHOLDER.search(command) is not None


def answers(context: Context) -> Iterator[tuple[str, Any]]:
    """What is printed in a state, with the call that prints it."""

    def ask(words: str, **given: Any) -> tuple[str, Any]:
        try:
            return f"{words} {given}", operations.call(context, words, **given)
        except OrchestratorError as problem:
            return f"{words} {given}", {"suggestion": problem.suggestion, **problem.data}

    rows = context.connection.execute
    yield ask("status", session_id=SESSION)
    yield ask("next", session_id=SESSION)
    yield ask("inbox")
    for (agent,) in rows(_AGENTS).fetchall() + rows(_STARTED).fetchall():
        yield ask("next", session_id=SESSION, agent_id=agent)
    for group, turn in rows("SELECT id, turn FROM task_groups WHERE session_id = 'S1'").fetchall():
        yield ask("next", session_id=SESSION, group_id=group)
        yield ask("why", id=group, session_id=SESSION)
        if turn is not None:
            yield ask("handoff", session_id=SESSION, group_id=group, turn=turn)
    (turn,) = rows("SELECT turn FROM sessions WHERE id = 'S1'").fetchone()
    if turn is not None:
        yield ask("handoff", session_id=SESSION, turn=turn)
    for (task,) in rows("SELECT id FROM tasks WHERE session_id = 'S1'").fetchall():
        yield ask("why", id=task, session_id=SESSION)


def play(context: Context, command: str) -> tuple[str, str] | None:
    """Play a command as it is printed, a person's through a person's channel; the refusal, if it is refused."""
    argv = [FILLED.get(word, re.sub(r"=(TEXT|REASON)$", "=a reason", word)) for word in shlex.split(command)[1:]]
    words = next(" ".join(argv[:size]) for size in (2, 1) if " ".join(argv[:size]) in catalogue.every())
    if words not in operations.every():
        return None
    declared = catalogue.find(words)
    read = fast_parser.read(declared, argv[len(words.split()) :])
    if read is None:
        return "USAGE", "it cannot be read as it stands"
    given = dict(coercion.given(declared, read, {}).arguments)
    given.pop("human_token_file", None)
    try:
        bound = arguments.complete(context, words, arguments.bind(words, given))
        by = context.reader.agent(bound["by"]) if bound.get("by") else None
        if words in operations.PERSONS or (by is not None and by.kind == "human"):
            context.credential = human.Credential(human.TERMINAL)
        operations.call(context, words, **bound)
    except OrchestratorError as problem:
        return problem.code, problem.message
    finally:
        context.credential = None
    return None


def faults(context: Context, more: tuple[tuple[str, Any], ...] = ()) -> list[Fault]:
    """Every printed command that is refused; the state stays as it is.

    Args:
        more: further answers of this state, such as refusals, with what they answer.
    """
    offered: dict[str, str] = {}
    for source, answer in (*answers(context), *more):
        for command in commands(answer):
            offered.setdefault(command, source)
    whole, found = context.connection.serialize(), []
    # Each command that changes something is played on a copy of its own: a connection whose content is put back may
    # have statements that are half read.
    copy = None
    for command, source in offered.items():
        if is_template(command):
            continue
        copy = copy or testing.memory_context(context.clock, content=whole)
        before = copy.connection.total_changes
        refused = play(copy, command)
        if refused is not None:
            found.append(Fault(source, command, *refused))
        if copy.connection.total_changes != before:
            copy.connection.close()
            copy = None
    if copy is not None:
        copy.connection.close()
    return found


class TaskWalk:
    """One seeded walk through sessions with tasks, dependencies, claims, blocks and blocked groups."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)  # noqa: S311 - a seed, no secret
        self.context = testing.memory_context()
        self.trace: list[Op] = []
        self.count = 0
        for op in (
            Op("session create", {"id": SESSION}),
            Op("session create", {"id": OTHER}),
            *(Op("group create", {"id": group, "session_id": SESSION}) for group in ("A", "B")),
            *(
                Op("agent register", {"id": name, "role": "developer", "parent": "tech_lead"})
                for name in ("dev-1", "dev-2")
            ),
            report("project_manager", "PLANNING_COMPLETE"),
        ):
            assert self.do(op)[1] is None, op

    def do(self, op: Op) -> tuple[str, Any]:
        """Do it, a person's as a person; what was answered, and the refusal where it was refused."""
        self.trace.append(op)
        person = op.words in operations.PERSONS or op.arguments.get("by") == "user"
        self.context.credential = human.Credential(human.TERMINAL) if person else None
        try:
            operations.call(self.context, op.words, **op.arguments)
            return "", None
        except OrchestratorError as problem:
            return f"{problem.code} of {op.line()}", {"suggestion": problem.suggestion, **problem.data}
        finally:
            self.context.credential = None

    def step(self) -> tuple[str, Any]:
        """One step, legal or not; what was answered where it was refused."""
        tasks = [row[0] for row in self.context.connection.execute("SELECT id FROM tasks ORDER BY created_seq, id")]
        ways = (self._create, self._move, self._depend, self._claim, self._lift, self._report, self._answer)
        (way,) = self.random.choices(ways, weights=(20 if len(tasks) < 9 else 3, 35, 14, 10, 6, 9, 6))
        op = way(tasks)
        return self.do(op) if op is not None else ("", None)

    def _who(self) -> str:
        return self.random.choice(("dev-1", "dev-1", "dev-2", "developer", "tech_lead", "project_manager", "user"))

    def _create(self, tasks: list[str]) -> Op:
        pick, chance = self.random.choice, self.random.random
        self.count += 1
        more: dict[str, Any] = {}
        if tasks and chance() < 0.4:
            more["parent"] = pick(tasks)
        else:
            more["group_id"] = pick((None, "A", "A", "B"))
        if tasks and chance() < 0.4:
            more |= {"depends_on": (pick(tasks),), "auto_unblock": chance() < 0.6}
        assignee = pick((None, "dev-1", "dev-1", "dev-2", "developer", "tech_lead"))
        given = {"id": f"T{self.count}", "title": "a task", "session_id": SESSION, "assignee": assignee, **more}
        return Op("task create", {**given, "by": pick(("tech_lead", "project_manager", "dev-1"))})

    def _move(self, tasks: list[str]) -> Op | None:
        if not tasks:
            return None
        pick = self.random.choice
        status = pick(("in_progress",) * 4 + ("done",) * 3 + ("blocked", "blocked", "cancelled", "todo"))
        more = {"blocker_type": pick(("manual", "timeout", "missing_dependency"))} if status == "blocked" else {}
        given = {"id": pick(tasks), "status": status, "session_id": SESSION, "by": self._who(), "reason": "so"}
        return Op("task set-status", {**given, **more})

    def _depend(self, tasks: list[str]) -> Op | None:
        if not tasks:
            return None
        words = self.random.choice(("task depend", "task depend", "task undepend"))
        given = {"id": self.random.choice(tasks), "on": self.random.choice(tasks), "session_id": SESSION}
        more = {"auto_unblock": self.random.random() < 0.5} if words == "task depend" else {}
        return Op(words, {**given, "by": self.random.choice(("tech_lead", "project_manager")), "reason": "so", **more})

    def _claim(self, tasks: list[str]) -> Op:
        task = self.random.choice([None, *tasks])
        return Op("task claim", {"id": task, "session_id": SESSION, "agent_id": self.random.choice(("dev-1", "dev-2"))})

    def _lift(self, tasks: list[str]) -> Op | None:
        open_ = self.context.connection.execute("SELECT id FROM blockers WHERE resolved_seq IS NULL").fetchall()
        if not open_:
            return None
        given = {"id": self.random.choice(open_)[0], "session_id": SESSION, "by": self._who(), "reason": "it is gone"}
        return Op("blocker resolve", given)

    def _report(self, tasks: list[str]) -> Op | None:
        rows = self.context.connection.execute("SELECT id, awaited_role FROM task_groups").fetchall()
        group, role = self.random.choice(rows)
        said = {"developer": ("READY_FOR_QA", "BLOCKED", "BLOCKED"), "investigator": ("ROOT_CAUSE_FOUND", "BLOCKED"),
                "qa_expert": ("PASS", "BLOCKED", "FAIL"), "tech_lead": ("APPROVED", "UNBLOCKING_GUIDANCE")}  # fmt: skip
        if role == "project_manager":
            return Op("group set-status", {"id": group, "status": "cancelled", "session_id": SESSION,
                                           "by": "project_manager", "reason": "no use"})  # fmt: skip
        return report(role, self.random.choice(said[role]), group, summary="so") if role in said else None

    def _answer(self, tasks: list[str]) -> Op | None:
        asked = self.context.connection.execute("SELECT id FROM questions WHERE closed_seq IS NULL").fetchall()
        if not asked:
            return None
        decision = self.random.choice(("continue", "revise", "abandon"))
        return Op("answer", {"id": self.random.choice(asked)[0], "decision": decision, "note": "so be it"})
