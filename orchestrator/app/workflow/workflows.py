"""Workflow versions: loading a checked file with its agent files, showing, comparing and drawing what is loaded."""

from __future__ import annotations

import functools
import hashlib

from orchestrator.app.kernel import actors, views
from orchestrator.app.kernel.context import Answer, Context, Version, Work
from orchestrator.app.workflow import rule_changes
from orchestrator.app.workflow.requests import LoadWorkflow
from orchestrator.core import strict_json
from orchestrator.core.routing.facts import MANAGER, PERSON, ROUTER
from orchestrator.core.suggestions import again, suggest
from orchestrator.core.workflow import diff, model
from orchestrator.errors import InvalidInput, Refused, UsageError
from orchestrator.hints import TYPE_CHECKING, Any
from orchestrator.store import page_reader
from orchestrator.store import versions as loaded
from orchestrator.store.reader import Agent

if TYPE_CHECKING:
    from collections.abc import Callable


def check(
    content: str, agent_texts: dict[str, str], source: str, folder: str = "agents"
) -> tuple[Any, list[Any], list[Any]]:
    """Check a file and its agent files together.

    Args:
        content, agent_texts, source: as for `load`.
        folder: where the agent files lie, for the places of their problems.

    Returns:
        The report on the file, the parsed agent files, and all problems of both.
    """
    report, files, found = _checked(content, tuple(sorted(agent_texts.items())), source, folder)
    return report, list(files), [dict(each) if isinstance(each, dict) else each for each in found]


# A process that tells many sessions again loads the same version with each.
@functools.lru_cache(maxsize=4)
def _checked(
    content: str, agent_texts: tuple[tuple[str, str], ...], source: str, folder: str
) -> tuple[Any, tuple[Any, ...], tuple[Any, ...]]:
    from orchestrator.core import agents
    from orchestrator.core.workflow import checks

    report = checks.check(content.encode("utf-8", "surrogateescape"), source)
    found: list[Any] = list(report.problems)
    files = []
    broken = False
    for name, text in agent_texts:
        try:
            files.append(agents.parse(text, f"{folder}/{name}"))
        except InvalidInput as problem:
            broken = True
            found += problem.data["problems"]
    if report.workflow is not None and not broken:
        found += agents.check(files, report.workflow)
    return report, tuple(files), tuple(found)


def valid(content: str, agent_texts: dict[str, str], source: str) -> tuple[Any, list[Any], list[Answer]]:
    """A transitions file with its agent files, as `check`; of the problems only warnings are left.

    Raises:
        InvalidInput: WORKFLOW_INVALID with every problem.
    """
    report, files, found = check(content, agent_texts, source)
    rows = [problem if isinstance(problem, dict) else problem._asdict() for problem in found]
    errors = sum(row["severity"] == "error" for row in rows)
    if errors or report.document is None:
        noun = "error" if errors == 1 else "errors"
        raise InvalidInput(
            "WORKFLOW_INVALID", f"{source} has {errors} {noun}; the active version stays.",
            suggest("workflow check", file=source), problems=rows,
        )
    return report, files, rows


def load(work: Work, request: LoadWorkflow) -> Answer:
    """Check a transitions file with its agent files, store them as one version, and make that the active one.

    While sessions are open a version with other rules than the active one's is a person's to make active.

    Returns:
        `version`, `loaded` (whether the content is new), `activated`, `problems` (warnings).

    Raises:
        InvalidInput: WORKFLOW_INVALID with every problem; the active version stays.
        Refused: ACTOR_REQUIRED, UNKNOWN_AGENT, NOT_PERMITTED; HUMAN_REQUIRED {changes, sessions}.
    """
    loader = _require_loader(work, request)
    report, files, rows = valid(request.content, request.agent_texts, request.source)
    hash_ = version_hash(report.hash, files)
    row = work.reader.one("SELECT id FROM workflow_versions WHERE hash = :hash", hash=hash_)
    active = work.reader.one("SELECT workflow_version_id FROM workflow_activations ORDER BY seq DESC LIMIT 1")
    if row is not None and row == active:
        return {"success": True, "version": version_row(work.context, int(str(row[0]))), "loaded": False,
                "activated": False, "problems": rows, "unchanged": True}
    new = diff.Version(report.workflow, tuple(_pinned(file) for file in files))
    old = None if active is None else int(str(active[0]))
    rule_changes.require_person_to_activate(work, loader, old, new, request.source)
    version = int(str(row[0])) if row else _store(work, report, files, hash_)
    work.step.insert(
        "workflow_activations", workflow_version_id=version, activated_by=request.by, activated_at=work.at
    )
    return {"success": True, "version": version_row(work.context, version), "loaded": row is None, "activated": True,
            "problems": rows, "seq": work.seq}


def _pinned(file: Any) -> diff.AgentFile:
    return diff.AgentFile(file.name, file.role, file.model, file.reports_to, file.hash)


def _require_loader(work: Work, request: LoadWorkflow) -> Agent:
    by = request.by
    # The first file of a database is loaded by the program that sets it up.
    agent = actors.actor(work, by) if by == ROUTER else actors.named_actor(work, by, "Loading a workflow")
    if agent.role != MANAGER and agent.kind == "ai":
        raise Refused(
            "NOT_PERMITTED",
            f"Only the project manager or a person may load workflows; {agent.id} is {agent.role}.",
            again(by="project_manager"),
            _recorded=f"{agent.id} is {agent.role}; workflows are the project manager's or a person's to load.",
        )
    return agent


def version_hash(transitions_hash: str, files: list[Any]) -> str:
    """The hash of a version: of its transitions and of every agent file that it pins."""
    pinned = {"transitions": transitions_hash, "agents": {file.name: file.hash for file in files}}
    return hashlib.sha256(strict_json.canonical(pinned).encode()).hexdigest()


def _store(work: Work, report: Any, files: list[Any], hash_: str) -> int:
    row = work.reader.one("SELECT id FROM workflow_versions ORDER BY id DESC LIMIT 1")
    version = int(str(row[0])) + 1 if row else 1
    work.step.insert(
        "workflow_versions", id=version, hash=hash_, name=report.workflow.name, content=report.canonical_text,
        transitions_hash=report.hash, loaded_at=work.at, seq=work.seq,
    )
    # In the order of their key, which is the only one that their table keeps.
    for _, transition in sorted(report.workflow.transitions.items()):
        _store_transition(work, version, transition)
    for file in files:
        work.step.insert(
            "agent_files", workflow_version_id=version, role=file.role, name=file.name, model=file.model,
            reports_to=file.reports_to, content=file.text, hash=file.hash,
        )
    return version


def _store_transition(work: Work, version: int, transition: model.Transition) -> None:
    work.step.insert(
        "workflow_transitions",
        workflow_version_id=version,
        current_agent=transition.role,
        response_status=transition.status,
        next_agent=transition.next_agent,
        action=transition.action,
        include_context=strict_json.canonical(list(transition.include_context)),
        escalation_check=int(transition.escalation_check),
        model_override=transition.model_override,
        fallback_agent=transition.fallback_agent,
        bypass_qa=int(transition.bypass_qa),
        max_parallel=transition.max_parallel,
        then_action=transition.then,
        effect=transition.effect,
    )


def version_row(context: Context, version: int) -> Answer:
    """The row of a loaded version by column name, with whether it is the active one."""
    return _row(context, "WHERE v.id = :key", version)


_VERSIONS = """SELECT v.id, v.hash, v.name, v.transitions_hash, v.loaded_at, v.seq,
    v.id = (SELECT workflow_version_id FROM workflow_activations ORDER BY seq DESC LIMIT 1) AS active
    FROM workflow_versions v"""


def _rows(context: Context, where: str, key: object) -> list[Answer]:
    cursor = context.connection.execute(f"{_VERSIONS} {where} ORDER BY v.id", {"key": key})
    names = [column[0] for column in cursor.description]
    return [{**dict(zip(names, row, strict=True)), "active": bool(row[-1])} for row in cursor]


def _row(context: Context, where: str, key: object) -> Answer:
    found = _rows(context, where, key)
    return found[0] if found else {}


def versions(context: Context) -> Answer:
    """Every loaded version, oldest first, the active one marked."""
    return {"success": True, "versions": _rows(context, "", None), "has_more": False, "next_since": None}


def find(context: Context, key: str | None) -> Version:
    """The version with this id, name or hash (or its beginning of at least 8 characters); the active one for None.

    Raises:
        Refused: UNKNOWN_ID {kind}. EnvironmentProblem: NO_WORKFLOW.
    """
    if key is None:
        return context.active_version()
    found = [row for row in _rows(context, "", None) if _names(row, key)]
    if len(found) != 1:
        what = "No workflow version is" if not found else f"{len(found)} workflow versions are"
        raise Refused("UNKNOWN_ID", f"{what} called {key}.", suggest("workflow versions"), kind="workflow version")
    return context.version(found[0]["id"])


def _names(row: Answer, key: str) -> bool:
    starts = len(key) >= 8 and row["hash"].startswith(key)
    return key in (str(row["id"]), row["name"], row["hash"]) or starts


def show(context: Context, *, version: str | None = None) -> Answer:
    """One loaded version: its file as canonical JSON, and the agent files pinned with it."""
    return shown(context, find(context, version).id)


def shown(context: Context, version: int) -> Answer:
    """What `show` answers about a version that is known by its id."""
    row = context.reader.one("SELECT content FROM workflow_versions WHERE id = :id", id=version)
    cursor = context.connection.execute(
        "SELECT role, name, model, reports_to, hash FROM agent_files WHERE workflow_version_id = :id ORDER BY name",
        {"id": version},
    )
    files = [dict(zip(("role", "name", "model", "reports_to", "hash"), file, strict=True)) for file in cursor]
    content = strict_json.stored(row[0]) if row else {}
    return {"success": True, "version": version_row(context, version), "workflow": content,
            "agent_files": files}


def compare(context: Context, *, a: str, b: str) -> Answer:
    """What changed from one loaded version to another, transition by transition, agent files included.

    Returns:
        `a` and `b` (hashes), `changes`, `text`, and `rules`: the changes of rules in words, those for which a person
        is needed while sessions are open.
    """
    before, after = (loaded.read(context.connection, find(context, key).id) for key in (a, b))
    assert before is not None and after is not None  # noqa: S101, PT018 - both were found just now
    changes = diff.diff(before, after)
    return {"success": True, "a": before.workflow.hash, "b": after.workflow.hash,
            "changes": [change._asdict() for change in changes], "text": diff.describe(changes),
            "rules": diff.sentences(diff.of_rules(changes))}


def graph(
    context: Context, *, format: str = "mermaid", session_id: str | None = None, group_id: str | None = None,
    version: str | None = None,
) -> Answer:
    """The workflow as a drawing in mermaid, dot, svg or text; with a session, its position highlighted.

    Args:
        group_id: only this group of the session is highlighted.

    Raises:
        UsageError: USAGE, a group without its session. Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, UNKNOWN_ID.
    """
    if session_id is None:
        if group_id is not None:
            raise UsageError("USAGE", "A group is one of a session.", "Name the session as well")
        found, positions = find(context, version), {}
    else:
        session = context.require_session(session_id)
        found = context.version(session.workflow_version_id)
        positions = _positions(context, session_id) if group_id is None else _position(context, session_id, group_id)
    told = {"positions": positions}
    drawn = _once(found.workflow, format, told, lambda graphs: graphs.draw(found.workflow, format, positions))
    return {"success": True, "format": format, "graph": drawn, "positions": positions}


def way_gone(
    context: Context, *, session_id: str, group_id: str | None = None, whole: bool = False
) -> Answer:
    """The way that the work of a session, or of one group, went through its workflow, as SVG with counts.

    Args:
        whole: what was never reported is drawn as well, faintly.

    Returns:
        `graph`, `positions`, `reports` (how many went this way), `ladder`: the same from top to bottom, in words.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP.
    """
    session = context.require_session(session_id)
    positions = _positions(context, session_id) if group_id is None else _position(context, session_id, group_id)
    ways = _ways(context, session_id, group_id)
    workflow = context.version(session.workflow_version_id).workflow
    told = {"positions": positions, "whole": whole, "ways": sorted([*way, times] for way, times in ways.items())}
    drawn, ladder = _once(workflow, "way", told, lambda graphs: graphs.way_gone(workflow, positions, ways, whole=whole))
    return {"success": True, "graph": drawn, "positions": positions, "reports": sum(ways.values()), "ladder": ladder}


def _ways(context: Context, session: str, group: str | None) -> dict[tuple[str, str], int]:
    rows = context.connection.execute(page_reader.WAYS, {"session": session, "group": group})
    return {(role, status): number for role, status, number in rows}


_DRAWN: dict[tuple[str, str, str], Any] = {}
_KEPT = 64


def _once(workflow: model.Workflow, kind: str, told: dict[str, Any], draw: Callable[[Any], Any]) -> Any:
    """A drawing; a server shows the same one over and over, and laying it out costs more than the rest of a page.

    Args:
        told: what of a session is drawn.
        draw: makes it with the module that draws.
    """
    from orchestrator.core.workflow import graph as graphs

    key = (workflow.hash, kind, strict_json.canonical(told))
    found = _DRAWN.get(key)
    if found is None:
        found = draw(graphs)
        if len(_DRAWN) >= _KEPT:
            _DRAWN.clear()
        _DRAWN[key] = found
    return found


def _positions(context: Context, session_id: str) -> dict[str, list[str]]:
    positions: dict[str, list[str]] = {}
    rows = context.connection.execute(
        "SELECT awaited_role, id FROM task_groups INDEXED BY ix_task_groups_open"
        " WHERE session_id = :session AND status = 'in_progress' AND awaited_role IS NOT NULL ORDER BY created_seq",
        {"session": session_id},
    )
    for role, group in rows:
        positions.setdefault(_place(role), []).append(group)
    session = context.require_session(session_id)
    if session.awaited_role:
        positions.setdefault(_place(session.awaited_role), []).append(session_id)
    return positions


def _position(context: Context, session_id: str, group_id: str) -> dict[str, list[str]]:
    role = views.require_group(context, session_id, group_id)["awaited_role"]
    return {_place(role): [group_id]} if role else {}


def _place(role: str) -> str:
    return "question" if role == PERSON else role
