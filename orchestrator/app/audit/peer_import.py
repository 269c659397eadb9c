"""`import peer`: sessions of another program's database, with what is remarkable about them.

What comes is text. It proves nothing here: no log line is a report, no status there is a completion path here.
Each session is one step of its own chain, and the event holds everything that is imported, so that a replay needs no
file.

Source: seed 004, Problem Statement (groups that were completed while blocked)
"""

from __future__ import annotations

from orchestrator.app.audit.requests import ImportPeer
from orchestrator.app.engine import dispatch, overview, state_changes
from orchestrator.app.kernel import actors, human, operations
from orchestrator.app.kernel.context import Answer, Call, Context, Work, answered, call_of, perform
from orchestrator.app.kernel.requests import Request
from orchestrator.core import names, strict_json
from orchestrator.core.imported import translate
from orchestrator.core.imported.translate import Imported, Translated
from orchestrator.core.routing.facts import MANAGER, ROUTER, Fired, Target
from orchestrator.core.suggestions import again, local, sentence, suggest
from orchestrator.errors import InvalidInput, OrchestratorError, Refused
from orchestrator.hints import Any
from orchestrator.store import peer_reader
from orchestrator.store.constants import STORE_CHAIN
from orchestrator.store.peer_reader import Peer

KIND = "import peer"
REASONS_SHOWN = 12
"""How many findings the call of the project manager names; the rest are counted."""
TURN_TIMEOUT_MIN = 60

_NOT_MEANT = "of a kind that is not imported"
_UNREAD = "cannot be read without running what the file holds"
_CARRIED = (
    "name", "status", "security_sensitive", "complexity", "qa_attempts", "tl_review_attempts", "senior", "builder_role",
)  # fmt: skip


def import_peer(context: Context, request: ImportPeer) -> Answer:
    """Import the sessions of a peer's database, which is only read.

    Returns:
        `sessions` with their groups, `tables` with the rows that were imported or left out and why, `renamed` ids, and
        `findings`, which are read from texts and prove nothing.

    Raises:
        InvalidInput: PEER_INVALID {problems}. Refused: ALREADY_EXISTS {sessions}, UNKNOWN_SESSION {sessions},
            NOT_PERMITTED, UNKNOWN_AGENT. EnvironmentProblem: NO_WORKFLOW.
    """
    file, session_id, dry_run = request.file, request.session_id, request.dry_run
    said = {"file": file, "session_id": session_id, "by": request.by}
    try:
        source = peer_reader.read(file)
        translated = translate.translate({name: source.rows(name) for name in translate.TABLES}, session_id)
        _require_some(source, translated, file, session_id)
    except OrchestratorError as problem:
        raise _turned_down(context, said, request.by, problem, dry_run=dry_run) from problem
    calls = [_call(source, each, request) for each in translated.sessions]
    earlier = [answered(context, call) for call in calls]
    _refuse_known(context, calls, earlier)
    import_one = operations.action(KIND)
    answers = [before or perform(context, call, import_one) for before, call in zip(earlier, calls, strict=True)]
    return _answer(source, translated, answers, dry_run=dry_run, repeated=all(earlier))

def _require_some(source: Peer, translated: Translated, file: str, session_id: str | None) -> None:
    if translated.sessions:
        return
    if session_id is None:
        raise peer_reader.invalid(file, ("no_session", "it has no session with an id"))
    there = translate.translate({"sessions": source.rows("sessions")}).sessions
    known = [each.id for each in there][:20]
    raise Refused(
        "UNKNOWN_SESSION", sentence("{} has no session {}.", local(names.shown(file, 300)), session_id),
        suggest("import peer", file="FILE", dry_run=True), sessions=known,
        did_you_mean=names.nearest(session_id, known),
    )


def _turned_down(
    context: Context, said: Answer, by: str, problem: OrchestratorError, *, dry_run: bool
) -> OrchestratorError:
    """Record that a file could not be imported; nobody can judge the file again, so how it was refused is kept."""

    def refuse(work: Work) -> Answer:
        raise problem

    try:
        perform(context, Call(KIND, STORE_CHAIN, by, said, dry_run=dry_run, refused={}), refuse)
    except (Refused, InvalidInput) as recorded:
        return recorded
    return problem


class ImportSession(Request, event=KIND, use_case="audit.peer_import:import_session"):
    """Import one session.

    Attributes:
        content: all that is imported, as JSON, so that a replay needs no file.
        source, source_hash, peer_version: the file, its SHA-256, and the version of the program that wrote it.
    """

    session_id: str
    by: str | None
    content: str
    source: str
    source_hash: str
    peer_version: int | None = None
    request_id: str | None = None
    dry_run: bool = False


def _call(source: Peer, each: Imported, request: ImportPeer) -> Call:
    return call_of(
        ImportSession(
            session_id=each.id, by=request.by, content=strict_json.canonical(each.content), source=source.name,
            source_hash=source.hash, peer_version=source.version, request_id=request.request_id,
            dry_run=request.dry_run,
        )
    )


def _refuse_known(context: Context, calls: list[Call], earlier: list[Answer | None]) -> None:
    """Refuse the file where one of its sessions is here already, before anything of it is imported."""
    fresh = [call for call, before in zip(calls, earlier, strict=True) if before is None]
    known = [call for call in fresh if context.reader.session(call.chain) is not None]
    if not known:
        return
    new = [call.chain for call in fresh if call not in known]
    way = suggest("status", session_id=known[0].chain)
    if new:
        way = suggest("import peer", file="FILE", session_id=new[0])

    def refuse(work: Work) -> Answer:
        raise _exists([call.chain for call in known], way)

    perform(context, known[0], refuse)


def _exists(known: list[str], way: str) -> Refused:
    listed = ", ".join(known[:10]) + (f" and {len(known) - 10} more" if known[10:] else "")
    what = f"Session {listed} already exists" if len(known) == 1 else f"Sessions {listed} already exist"
    return Refused("ALREADY_EXISTS", f"{what}; nothing was imported.", way, sessions=known[:20])


def _answer(
    source: Peer, translated: Translated, answers: list[Answer], *, dry_run: bool, repeated: bool
) -> Answer:
    sessions = translated.sessions
    return {
        "success": True,
        "file": source.name,
        "file_hash": source.hash,
        "peer_version": source.version,
        "sessions": [_told(each, answer) for each, answer in zip(sessions, answers, strict=True)],
        "tables": _accounts(source, translated),
        "renamed": [
            {"session_id": each.id, "kind": kind, "from": old, "to": new}
            for each in sessions
            for kind, old, new in each.renamed
        ],
        "findings": [
            {"session_id": each.id, "group_id": group, "code": code, "text": text}
            for each in sessions
            for group, code, text in each.content["findings"]
        ],
        "dry_run": dry_run,
        "repeated": repeated,
    }


def _told(each: Imported, answer: Answer) -> Answer:
    head, made = each.content["session"], each.content["groups"]
    by_status = {
        status: [group["id"] for group in made if group["status"] == status]
        for status in ("completed", "in_progress", "pending")
    }
    return {
        "id": each.id,
        "peer_id": each.peer_id,
        "peer_status": head["peer_status"],
        "status": "ended" if head["ended"] else "active",
        "groups": len(made),
        "grandfathered": by_status["completed"],
        "in_progress": by_status["in_progress"],
        "pending": by_status["pending"],
        "blocked": [group["id"] for group in made if group["blocked"]],
        "criteria": len(each.content["criteria"]),
        "logs": len(each.content["logs"]),
        "seq": answer["seq"],
        "handoff": (answer.get("decision") or {}).get("handoff"),
    }


def _accounts(source: Peer, translated: Translated) -> list[Answer]:
    """Every table of the file: how many rows it has, how many were imported, and why the others were not."""
    found = []
    for table in source.tables:
        reasons: dict[str, int | None]
        if table.size is None:
            reasons = {_UNREAD: None}
        elif table.name.lower() in translate.TABLES:
            reasons = {**translated.left_out[table.name.lower()]}
        else:
            reasons = {_NOT_MEANT: table.size} if table.size else {}
        left_out = sum(rows or 0 for rows in reasons.values())
        found.append(
            {
                "table": table.name.encode("utf-8", "backslashreplace").decode(),
                "rows": table.size,
                "imported": (table.size or 0) - left_out,
                "left_out": None if table.size is None else left_out,
                "reasons": [{"rows": rows, "reason": reason} for reason, rows in reasons.items()],
            }
        )
    return found


def import_session(work: Work, request: ImportSession) -> Answer:
    """The step that imports one session."""
    session_id = work.step.chain
    if work.reader.session(session_id) is not None:
        raise _exists([session_id], suggest("status", session_id=session_id))
    by = _importer(work, request.by)
    content = strict_json.stored(request.content)
    _insert_session(work, request, content["session"], by)
    _insert_groups(work, content["groups"], by)
    _insert_texts(work, content, by)
    answer: Answer = {"success": True, "session_id": session_id, "seq": work.seq}
    if content["session"]["ended"]:
        reason = f"had ended there as {content['session']['peer_status']}"
        state_changes.move_session(work, "active", "ended", by=by, reason=reason, cause="import", outcome="imported")
    else:
        answer["decision"] = _call_manager(work, content)
    return answer


def _importer(work: Work, by: str | None) -> str:
    agent = actors.actor(work, by)
    if agent.kind == "human":
        human.require(work, agent, f"Importing as {agent.id}")
    elif agent.role != MANAGER:
        raise Refused(
            "NOT_PERMITTED", f"{agent.id} is {agent.role}; importing is the project manager's to do.",
            again(by="project_manager"),
        )
    return str(agent.id)


def _insert_session(work: Work, request: ImportSession, head: dict[str, Any], by: str) -> None:
    work.step.insert(
        "sessions",
        id=work.step.chain,
        kind="orchestration",
        mode=head["mode"],
        testing_mode="full",
        goal=head["goal"],
        workflow_version_id=work.context.active_version().id,
        turn_timeout=TURN_TIMEOUT_MIN,
        disabled_roles="",
        created_by=by,
        created_at=work.at,
        status="active",
        status_changed_by=None,
        status_changed_at=work.at,
        status_seq=work.seq,
    )
    work.step.insert(
        "imported_sessions",
        peer_id=head["peer_id"],
        peer_status=head["peer_status"],
        peer_version=request.peer_version,
        source=request.source,
        source_hash=request.source_hash,
    )


def _insert_groups(work: Work, found: list[dict[str, Any]], by: str) -> None:
    # In the order in which a verification reads them.
    for row in sorted(found, key=lambda row: str(row["id"])):
        if row["status"] == "completed":
            columns = {name: row[name] for name in ("peer_id", "peer_status", "completed_at")}
            work.step.insert("grandfathered_groups", group_id=row["id"], **columns)
    for row in found:
        work.step.insert(
            "task_groups",
            id=row["id"],
            kind="code",
            created_by=by,
            created_at=work.at,
            created_seq=work.seq,
            status_changed_by=None,
            status_changed_at=work.at,
            status_seq=work.seq,
            **{name: row[name] for name in _CARRIED},
        )
        if row["blocked"]:
            state_changes.open_blocker(
                work, row["id"], type="manual", severity="soft", reason=row["blocked"], by=None, role=None,
                cause="imported",
            )  # fmt: skip


def _insert_texts(work: Work, content: dict[str, Any], by: str) -> None:
    for row in content["criteria"]:
        work.step.insert(
            "criteria", id=row["id"], text=row["text"], created_by=by, created_at=work.at, created_seq=work.seq,
            status="open", reason=row["reason"],
        )  # fmt: skip
    for row in content["logs"]:
        work.step.insert("imported_logs", **row)
    for group_id, code, text in content["findings"]:
        work.step.insert("import_findings", group_id=group_id, code=code, text=text)


def _call_manager(work: Work, content: dict[str, Any]) -> Answer:
    """Whatever was under way waits for the project manager, who is called with what the import found."""
    session, version = work.session(), work.version()
    for row in content["groups"]:
        if row["status"] == "in_progress":
            group = work.group(row["id"])
            assert group is not None  # noqa: S101 - written just now
            dispatch.await_manager(work, group)
    work.step.flush()
    kinds = overview.kinds(work.reader, session.id)
    record = dispatch.Record(
        current_agent=ROUTER,
        response_status="IMPORT",
        group=None,
        target=Target(MANAGER, "spawn"),
        cause="import",
        rules=(Fired("imported", _reasons(content)),),
        extras={"groups": kinds, "causes": overview.causes(kinds)},
    )
    return dispatch.decide(work, session, version, record)


def _reasons(content: dict[str, Any]) -> str:
    found = [f"{group}: {text}" if group else text for group, _, text in content["findings"]]
    more = len(found) - REASONS_SHOWN
    shown = found[:REASONS_SHOWN] + ([f"{more} further findings"] if more > 0 else [])
    return "; ".join(["the session was imported; what it says is text only, no proof", *shown])
