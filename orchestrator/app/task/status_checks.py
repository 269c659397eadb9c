"""What a change of a task's status is asked before anything is written: who may, and whether it may be now."""

from __future__ import annotations

from orchestrator.app.engine import task_blocks
from orchestrator.app.kernel import human
from orchestrator.app.kernel.context import Context, Work
from orchestrator.core import blockers, lifecycle_table, names, permissions, tasks
from orchestrator.core.permissions import Block, Standing
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import again, sentence, suggest
from orchestrator.core.tasks import Task
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import task_reader
from orchestrator.store.reader import Agent

MOST_NAMED = 20
"""So many tasks a message names at most."""
Asked = Work | Context
"""Where a question can be asked: a step under way, or outside any."""


def place(asked: Asked) -> Context:
    """The context of a step, or the context itself."""
    return asked.context if isinstance(asked, Work) else asked


def require_task(asked: Asked, session: str, id: str) -> Task:
    """The task of a session.

    Raises:
        Refused: UNKNOWN_TASK {did_you_mean}.
    """
    connection = place(asked).connection
    found = task_reader.task(connection, session, id)
    if found is None:
        near = names.nearest(id, task_reader.known(connection, session))
        raise Refused(
            "UNKNOWN_TASK", f"Session {session} has no task {names.shown(id)}.",
            suggest("task list", session_id=session), did_you_mean=near,
        )
    return found


def known_status(to: str) -> None:
    """Whether a task can have a status of this name at all.

    Raises:
        Refused: UNKNOWN_STATUS {valid_statuses, did_you_mean}.
    """
    if to not in lifecycle_table.TASK_STATUSES:
        raise Refused(
            "UNKNOWN_STATUS",
            f"Unknown task status {names.shown(to)}.",
            f"One of: {', '.join(lifecycle_table.TASK_STATUSES)}",
            valid_statuses=list(lifecycle_table.TASK_STATUSES),
            did_you_mean=names.nearest(to, lifecycle_table.TASK_STATUSES),
            _recorded=f"A task has no status {names.shown(to)}.",
        )


def show(work: Work, task: str) -> str:
    """The command that shows a task."""
    return suggest("task show", id=task, session_id=work.step.chain)


def expected_version(work: Work, task: Task, version: int | None) -> None:
    """Whether the task is as the caller saw it.

    Raises:
        Refused: VERSION_CONFLICT {version}.
    """
    if version is not None and version != task.version:
        raise Refused(
            "VERSION_CONFLICT", f"Task {task.id} is at version {task.version}, not {version}; nothing changed.",
            show(work, task.id), version=task.version,
        )


def legal(work: Work, task: Task, to: str, cause: str) -> None:
    """Whether the move exists; one more blocker on a blocked task is no move.

    Raises:
        Refused: ILLEGAL_MOVE {allowed}.
    """
    if task.status == to == tasks.BLOCKED:
        return
    try:
        lifecycle_table.refuse_task_move(task.status, to, cause)
    except Refused as refusal:
        if (task.status, to) == (tasks.IN_PROGRESS, tasks.TODO):
            own = {"claim_token": "TOKEN"} if task.claim_holder else {"by": task.assignee or "AGENT"}
            release = suggest("task release", id=task.id, session_id=work.step.chain, **own)
            refusal.suggestion = sentence("{}; give it back by `{}`", refusal.suggestion, release)
        raise


def standing(asked: Asked, agent: str) -> Standing:
    """Where a registered agent stands."""
    found = task_reader.standing(place(asked).connection, agent)
    assert found is not None  # noqa: S101 - its caller has required the agent
    return found


def is_person(work: Work, agent: Agent) -> bool:
    """Whether a person acts.

    Raises:
        Refused: HUMAN_REQUIRED, a person's name without a human channel.
    """
    if agent.kind != "human":
        return False
    human.require(work, agent, f"Acting as {agent.id}")
    return True


def by_hand(work: Work, agent: Agent) -> None:
    """Whether an agent changes tasks by hand: the system never does, nor does a person's name alone.

    Raises:
        Refused: NOT_PERMITTED, HUMAN_REQUIRED.
    """
    if agent.kind == "system":
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} changes tasks by its own rules, not by hand.", "Name an agent that has a role"
        )
    is_person(work, agent)


def liftable(asked: Asked, requester: Standing, block: Block, *, person: bool = False) -> permissions.Answer:
    """Whether a requester may lift a blocker of a task, and if not, why and who may.

    Source: seed 002, validateUnblockPermission.
    """
    opener = task_reader.standing(place(asked).connection, block.opened_by) if block.opened_by else None
    return permissions.lift(requester, block, opener, person=person)


def refuse_lift(what: str, block: Block, answer: permissions.Answer) -> Refused:
    """The refusal of lifting a blocker of something: who opened it, when, why, and who may."""
    by = block.opened_by or "nobody on record"
    return Refused(
        "UNBLOCK_NOT_PERMITTED",
        f"Blocker {block.id} of {what} was opened by {by} at {block.opened_at}: {block.reason}."
        f" It is not yours to lift: {answer.why}.",
        f"Allowed: {'; '.join(answer.may)}",
        opened_by=block.opened_by, may=list(answer.may), when=block.opened_at, why=block.reason, blocker_id=block.id,
        hard=block.severity == blockers.HARD,
    )


def lift_all(work: Work, task: Task, found: list[Block], requester: Standing, *, person: bool) -> bool:
    """Whether all blockers may be lifted, or none is; True where one of them has no opener on record.

    Raises:
        Refused: UNBLOCK_NOT_PERMITTED.
    """
    legacy = False
    for block in found:
        answer = liftable(work, requester, block, person=person)
        if not answer.allowed:
            raise refuse_lift(f"task {task.id}", block, answer)
        legacy = legacy or answer.legacy
    return legacy


def may_move(work: Work, task: Task, to: str, requester: Standing, *, person: bool) -> None:
    """Whether the requester may change the status of a task that is not blocked.

    Raises:
        Refused: NOT_PERMITTED.
    """
    owner = task.assignee or _creator(work, task)
    found = task_reader.standing(work.context.connection, owner) if owner else None
    answer = permissions.move(requester, found, task.assignee, person=person, starts=to == tasks.IN_PROGRESS)
    if not answer.allowed:
        raise Refused(
            "NOT_PERMITTED", f"{requester.id} may not move task {task.id}: {answer.why}.",
            f"Allowed: {'; '.join(answer.may)}", may=list(answer.may),
        )


def _creator(work: Work, task: Task) -> str | None:
    row = work.reader.one(
        "SELECT created_by FROM tasks WHERE session_id = :session AND id = :task", session=work.step.chain, task=task.id
    )
    return None if row is None or row[0] is None else str(row[0])


def may_cancel(work: Work, task: Task, requester: Standing, *, person: bool) -> None:
    """Whether the requester may cancel a task, and with it what is open below.

    A blocker that the requester may not lift stops it, unless it is the project manager or a person.

    Raises:
        Refused: NOT_PERMITTED, UNBLOCK_NOT_PERMITTED.
    """
    if permissions.may_cancel(requester, person=person):
        return
    if task.status != tasks.BLOCKED:
        may_move(work, task, tasks.CANCELLED, requester, person=person)
    for blocks in task_reader.blockers_below(work.context.connection, work.step.chain, task.id).values():
        lift_all(work, task, blocks, requester, person=person)


def reason_given(task: Task, to: str, reason: str) -> None:
    """Whether a reason stands where one is needed.

    Raises:
        Refused: REASON_REQUIRED.
    """
    if to in (tasks.BLOCKED, tasks.CANCELLED) and not reason:
        what = f"Setting task {task.id} {to} needs a reason."
        raise Refused("REASON_REQUIRED", what, again(reason="TEXT"))


def takes_part(work: Work, agent: str) -> None:
    """Whether the session has a place for an agent: one that does without a role gives it no work.

    Raises:
        Refused: NOT_PERMITTED.
    """
    found = work.reader.agent(agent)
    if found is not None and found.role in work.session().disabled_roles:
        raise Refused(
            "NOT_PERMITTED", f"Session {work.step.chain} does without {found.role}, which {agent} is.",
            suggest("session show", id=work.step.chain), disabled_roles=list(work.session().disabled_roles),
        )


def may_begin(work: Work, task: Task, assignee: str) -> None:
    """Whether a task can be in progress now, in the hands of an agent.

    Raises:
        Refused: NOT_PERMITTED, the session does without the agent's role; DEPENDENCIES_OPEN {open},
            ASSIGNEE_BUSY {tasks}.
    """
    takes_part(work, assignee)
    connection, session = work.context.connection, work.step.chain
    if task_reader.waits(connection, session, task):
        what, look = _waits_for(work, task)
        raise Refused("DEPENDENCIES_OPEN", what, look, open=open_names(work, task))
    # No trigger repeats this check: it keeps work from being wasted and guards no completion (TSK-13).
    stop = task_reader.stops_group(connection, session, task.group_id)
    if stop is not None:
        raise Refused(
            "DEPENDENCIES_OPEN", f"Task {task.id} waits with its group {task.group_id}, which blocker {stop} stops.",
            suggest("blocker show", id=stop, session_id=session), open=[stop],
        )
    has_room(work, task, assignee)


def has_room(work: Work, task: Task, agent: str) -> None:
    """Whether an agent may have one more task in progress; a subtask takes no room.

    Raises:
        Refused: ASSIGNEE_BUSY {tasks}.
    """
    others = task_blocks.busy(work, task, agent) if task.parent_id is None else []
    if others:
        session, first = others[0]
        named = [name if at == work.step.chain else f"{name} of session {at}" for at, name in others]
        raise Refused(
            "ASSIGNEE_BUSY", f"{agent} has {', '.join(named)} in progress, as many as it takes at a time.",
            suggest("task show", id=first, session_id=session), tasks=[name for _, name in others],
        )


def _waits_for(work: Work, task: Task) -> tuple[str, str]:
    connection, session = work.context.connection, work.step.chain
    direct = task_reader.open_dependencies(connection, session, task.id)
    named = [f"{each.id} ({each.status})" for each in direct]
    above = task_reader.open_above(connection, session, task.id)
    named += [f"{each.id} ({each.status}), as {each.of} does" for each in above]
    named += [f"group {name}" for name in _open_groups(work, task)]
    edges = [(task.id, each.id, each.status) for each in direct] + [(each.of, each.id, each.status) for each in above]
    dead = next((edge for edge in edges if edge[2] == tasks.CANCELLED), None)
    look = show(work, task.id) if dead is None else undepend(work, dead[0], dead[1])
    return f"Task {task.id} waits for {', '.join(named)}.", look


def undepend(work: Work, task: str, on: str) -> str:
    """The command that drops a dependency of which nothing will come, in the name of who always may."""
    return suggest("task undepend", id=task, on=on, session_id=work.step.chain, by=MANAGER, reason="TEXT")


def _open_groups(work: Work, task: Task) -> tuple[str, ...]:
    return work.reader.open_dependencies(work.step.chain, task.group_id) if task.group_id else ()


def open_names(work: Work, task: Task) -> list[str]:
    """Ids of the tasks, then of the groups, that a task waits for."""
    connection, session = work.context.connection, work.step.chain
    open_ = [each.id for each in task_reader.open_dependencies(connection, session, task.id)]
    above = [each.id for each in task_reader.open_above(connection, session, task.id)]
    return [*dict.fromkeys((*open_, *above)), *_open_groups(work, task)]


def may_finish(work: Work, task: Task, agent: Agent) -> None:
    """Whether a task is done: its subtasks are, one at least, and nothing about it is open.

    Raises:
        Refused: COMPLETION_GATE {next}: what is to be done instead, as `orchestrator next` answers.
    """
    missing = _missing(work, task)
    if missing:
        from orchestrator.app.task import answer_next

        following: dict[str, Any] = answer_next.answer(work, work.step.chain, _asker(work, task, agent), task)
        raise Refused(
            "COMPLETION_GATE", f"Task {task.id} is not done: {missing}.", following.get("instruction", ""),
            next=following,
        )


def _asker(work: Work, task: Task, agent: Agent) -> Agent:
    """Who goes on with a task that is not done: whoever asked; where the system did, who has the task."""
    owner = work.reader.agent(task.assignee) if agent.kind == "system" and task.assignee else None
    return owner or agent


def _missing(work: Work, task: Task) -> str:
    connection, session = work.context.connection, work.step.chain
    subtasks = task_reader.open_subtasks(connection, session, task.id)
    if subtasks:
        more = f" and {len(subtasks) - MOST_NAMED} more" if len(subtasks) > MOST_NAMED else ""
        named = ", ".join(f"{each.id} ({each.status})" for each in subtasks[:MOST_NAMED])
        return f"still open below it: {named}{more}"
    if task_reader.none_done(connection, session, task.id):
        return "all its subtasks are cancelled"
    found = task_reader.blockers_of_task(connection, session, task.id)
    if found:
        return f"blocker {found[0].id} is open"
    question = task_reader.question(connection, session, task.id, task.group_id)
    return f"question {question.id} is open" if question else ""


def respects_claim(work: Work, task: Task, by: Agent, token: str | None) -> None:
    """Whether a claim stands in the way of what an agent does with a task.

    A token that is given must be the claim's. Without one, a claim is respected by all but its holder, those above
    the holder, people and the system.

    Raises:
        Refused: CLAIM_LOST {holder}.
    """
    if token is not None:
        if token != task.claim_token or task.claim_holder is None:
            raise claim_lost(work, task, token)
        return
    if task.claim_holder in (None, by.id) or by.kind != "ai":
        return
    connection = work.context.connection
    holder, asker = task_reader.standing(connection, str(task.claim_holder)), task_reader.standing(connection, by.id)
    if holder is None or asker is None or not permissions.is_above(asker, holder):
        raise claim_lost(work, task)


def claim_lost(work: Work, task: Task, token: str | None = None, *, by_token: bool = False) -> Refused:
    """The refusal of who does not hold the claim of a task.

    Args:
        token: what was given as its token.
        by_token: nothing but the claim's token would do.
    """
    holder = task.claim_holder or (task.assignee if task.status == tasks.IN_PROGRESS else None)
    what = f"is claimed by {holder}" if task.claim_holder else f"is {task.status}, claimed by nobody"
    if task.claim_holder is None and holder is not None:
        what = f"is in progress with {holder}, claimed by nobody"
    until = f" until {task.claim_until}" if task.claim_until else ""
    why, then = "", show(work, task.id)
    known: dict[str, Any] = {"holder": holder, "until": task.claim_until}
    if token is not None:
        why = f"; {names.shown(token)} is not the token of a claim that holds"
    elif by_token and task.claim_holder is not None:
        why = "; only the token of that claim proves its holder"
        then = again(claim_token="TOKEN")  # noqa: S106 - what stands for one
        kept = f"Task {task.id} {what}{until}; only with the token of that claim this is its holder's to do."
        known["_recorded"] = kept
    return Refused("CLAIM_LOST", f"Task {task.id} {what}{until}{why}.", then, **known)
