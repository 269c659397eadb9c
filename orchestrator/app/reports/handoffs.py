"""The hand-off of a turn with its references filled in, and whether it is still what the decision's hash says."""

from __future__ import annotations

from orchestrator.app.engine import decision_views, overview
from orchestrator.app.kernel import pagination, views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.verdict import criteria_views as scope
from orchestrator.core import handoff as handoffs
from orchestrator.core import oversized, sha256, strict_json
from orchestrator.core.routing.facts import MANAGER
from orchestrator.core.suggestions import suggest
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row

"""Effects that only an agent sent to merge may report."""

FINDINGS_SHOWN = 200
"""How many findings of an import a hand-off for a whole session names."""

_GROUP_COLUMNS = ("id", "name", "description", "kind", "complexity", "security_sensitive")
_BLOCKER_COLUMNS = ("id", "type", "class", "reason", "opened_by", "opened_role", "opened_at", "opened_seq")
"""What never changes of a row: the only part that a frozen hand-off may show."""

_CRITERION_COLUMNS = ("id", "text", "metric", "operator", "target", "command", "created_by", "created_seq")
_QUESTION_COLUMNS = ("id", "kind", "text", "answer", "note", "closed_by", "channel")
_REPORT_COLUMNS = ("seq", "id", "agent_id", "role", "response_status", "summary")


def handoff(context: Context, *, session_id: str, group_id: str | None = None, turn: int | None = None) -> Answer:
    """What the agent of a turn was given.

    Args:
        group_id: the group (default: what was handed to the project manager for the session as a whole).
        turn: the turn (default: the newest one).

    Returns:
        `handoff`: the frozen document with goal, group, role text, context values, blockers, reports and groups as
        they stood then, why nothing went on by itself (`phase_check`, `causes`) and what may follow (`next`), allowed
        statuses and the command to report with (None when the turn is over); `hash`, and
        whether document and decision still agree with it (`verified`); `open`, whether the turn is still awaited;
        `markdown`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, UNKNOWN_ID (kind handoff).

    Source: seed 004, Proposed Solution 1 (include_context).
    """
    session = _session(context, session_id)
    group = views.require_group(context, session_id, group_id) if group_id is not None else None
    frozen = _frozen(context, session_id, group_id, turn)
    document = strict_json.stored(frozen["document"])
    is_open = session["status"] != "ended" and (group or session)["turn"] == frozen["turn"]
    full = document | _filled(context, session, group, document)
    if not is_open:
        full |= {"report_command": None, **({"next": []} if "next" in full else {})}
    given = decision_views.spawn(context.reader, session_id, group_id, frozen["turn"])
    computed = sha256.new(frozen["document"].encode()).hexdigest()
    return {
        "success": True,
        "handoff": full,
        "hash": frozen["hash"],
        "verified": computed == frozen["hash"] and given is not None and given[1]["handoff_hash"] == computed,
        "decision_id": given[0]["id"] if given else None,
        "model": given[1]["model"] if given else None,
        "open": is_open,
        "markdown": handoffs.render(full, is_open=is_open),
    }


def _session(context: Context, session_id: str) -> Row:
    context.require_session(session_id)
    return views.session_row(context.reader, session_id)


def _frozen(context: Context, session_id: str, group_id: str | None, turn: int | None) -> Row:
    key: dict[str, Any] = {"session": session_id, "group": group_id or ""}
    if turn is None:
        frozen = queries.row(context.reader, queries.LAST_HANDOFF, **key)
    else:
        frozen = queries.row(context.reader, queries.HANDOFF, **key, turn=pagination.seq_or(turn, 0))
    if frozen is None:
        scope = f"group {group_id}" if group_id else f"session {session_id} as a whole"
        which = "no hand-off yet" if turn is None else f"no hand-off of turn {turn}"
        message = f"There is {which} for {scope}."
        raise Refused("UNKNOWN_ID", message, _elsewhere(context, key, turn), kind="handoff")
    return frozen


def _elsewhere(context: Context, key: dict[str, Any], turn: int | None) -> str:
    """The command that shows the hand-off of a turn which is the session's and not the group's; else its status."""
    session = key["session"]
    turn = None if turn is None else pagination.seq_or(turn, 0)
    found = turn and queries.row(context.reader, queries.HANDOFF, session=session, group="", turn=turn)
    return handoffs.command(session, None, int(turn)) if turn and found else suggest("status", session_id=session)


def _filled(context: Context, session: Row, group: Row | None, document: dict[str, Any]) -> Answer:
    """What the document's references stand for."""
    version = queries.row(context.reader, queries.VERSION, hash=document["workflow_version"])
    version_id = version["id"] if version else session["workflow_version_id"]
    workflow = context.version(version_id).workflow
    role, turn, group_id = document["role"], document["turn"], document["group_id"]
    filled: Answer = {
        "goal": session["goal"],
        "group": group and {name: group[name] for name in _GROUP_COLUMNS},
        "criteria": _criteria(context, session["id"], turn),
        "context": [_item(context, session["id"], name, seq) for name, seq in document["context"]],
        "blockers": _blockers(context, session["id"], document),
        "reports": _reports(context, session["id"], document["reports"]),
        "statuses": decision_views.statuses(workflow, role, document["action"]),
        "role_text": _role_text(context, version_id, role),
        "report_command": handoffs.report_command(session["id"], group_id, role, turn),
    }
    if denied := _denied(context, session["id"], document):
        filled["denied"] = denied
    if "question" in document:
        filled["question"] = _question(context, document["question"])
    if "tasks" in document:
        filled["tasks"] = _tasks(context, session["id"], document["tasks"])
        filled["task_command"] = handoffs.task_command(session["id"], document["agent_id"])
    if "resume" in document:
        filled["resume"] = overview.resume_point_of(context.reader, session["id"], document["resume"])
    if imported := _imported(context, session["id"], group_id, role):
        filled["imported"] = imported
    if "groups" in document:
        filled["groups"] = _groups(context, session["id"], document["groups"])
        filled["next"] = handoffs.next_steps(document | filled)
    return filled


def _item(context: Context, session_id: str, name: str, seq: int) -> Answer:
    report = queries.row(context.reader, queries.REPORT, session=session_id, seq=seq)
    value = strict_json.stored(report["details"]).get(name) if report else None
    item: Answer = {"name": name, "producer": report["agent_id"] if report else None, "seq": seq, "value": value}
    path = oversized.reference(value)
    if path is not None:
        # Only what is on record lies in a file of evidence, whatever an agent's own value looks like.
        rows = queries.rows(context.reader, queries.PARTS_IN_FILES, session=session_id, seq=seq)
        for id_ in (row["id"] for row in rows if row["path"] == path):
            from orchestrator.app.kernel import attached_evidence

            item |= {"evidence": id_, "file": attached_evidence.located(context.path, session_id, path)}
    return item


def _criteria(context: Context, session_id: str, turn: int) -> list[Answer]:
    """The criteria that held then, without what was found about them since."""
    rows = scope.standing(context.reader, session_id, turn)
    return [{name: row[name] for name in _CRITERION_COLUMNS} for row in rows]


def _blockers(context: Context, session_id: str, document: dict[str, Any]) -> list[Row]:
    """The blockers that were open then; whether they are resolved by now is not part of it."""
    key = {"session": session_id}
    external = dict(document.get("external", ()))
    found = (queries.row(context.reader, queries.BLOCKER, id=id_, **key) for id_ in document["blockers"])
    return [
        {name: row[name] for name in _BLOCKER_COLUMNS}
        | {"external_dependency": _dependency(context, session_id, external.get(row["id"]))}
        for row in found
        if row
    ]


def _question(context: Context, id_: str) -> Row | None:
    """An answered question, which never changes any more."""
    row = queries.row(context.reader, queries.QUESTION, id=id_)
    return {name: row[name] for name in _QUESTION_COLUMNS} if row else None


def _dependency(context: Context, session_id: str, seq: int | None) -> str | None:
    if seq is None:
        return None
    value = _item(context, session_id, "external_dependency", seq)["value"]
    return None if value is None else str(value).strip()


def _reports(context: Context, session_id: str, seqs: list[int]) -> list[Row]:
    found = (queries.row(context.reader, queries.REPORT, session=session_id, seq=seq) for seq in seqs)
    shown = [{name: report[name] for name in _REPORT_COLUMNS} for report in found if report]
    for each in shown:
        if gates := queries.rows(context.reader, queries.GATES, session=session_id, seq=each["seq"]):
            each["gates"] = gates
    return shown


def _denied(context: Context, session_id: str, document: dict[str, Any]) -> list[Answer]:
    """What the agents of the turns since the latest report, and that of the report itself, were not allowed to use."""
    newest = document["reports"][0] if document["reports"] else None
    report = newest and queries.row(context.reader, queries.REPORT, session=session_id, seq=newest)
    given: Answer = {"session": session_id, "group": document["group_id"], "turn": document["turn"]}
    runs = queries.rows(context.reader, queries.ENDED_TURNS, **given, since=(report and report["turn"]) or 0)
    found: dict[str, list[str]] = {}
    for run in runs:
        log = strict_json.stored(run["content"]).get("log", ())
        found.setdefault(run["role"], []).extend(each["text"] for each in log if each["kind"] == "denied")
    return [{"role": role, "tools": list(dict.fromkeys(tools))} for role, tools in found.items() if tools]


def _tasks(context: Context, session_id: str, frozen: list[list[str]]) -> list[Row]:
    """The tasks that were open then, in the status of then."""
    found = []
    for id_, status in frozen:
        row = queries.row(context.reader, queries.TASK_TEXTS, session=session_id, task=id_)
        found += [{**row, "status": status}] if row else []
    return found


def _imported(context: Context, session_id: str, group_id: str | None, role: str) -> list[Answer]:
    """What the import of the session found out: about the group, or for the project manager about all of it."""
    if group_id is not None:
        found = queries.rows(context.reader, queries.GROUP_FINDINGS, session=session_id, group=group_id)
    elif role == MANAGER:
        found = queries.rows(context.reader, queries.IMPORT_FINDINGS, session=session_id, limit=FINDINGS_SHOWN)
    else:
        found = []
    return [{name: each[name] for name in ("group_id", "code", "text")} for each in found]


def _role_text(context: Context, version_id: int, role: str) -> str:
    row = context.reader.one(queries.ROLE_TEXT, version=version_id, role=role)
    return str(row[0]).strip() if row else ""


def _groups(context: Context, session_id: str, frozen: list[list[Any]]) -> list[Answer]:
    """The groups as they stood then; their names never change."""
    rows = queries.rows(context.reader, queries.GROUPS, session=session_id, since=0, status=None, limit=-1)
    names = {row["id"]: row["name"] for row in rows}
    found = map(handoffs.named, frozen)
    return [{"id": group["id"], "name": names.get(group["id"]), **group} for group in found]
