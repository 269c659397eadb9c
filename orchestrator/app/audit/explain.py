"""Why a group or task stands where it stands, and why a decision was made: from the record, rule by rule."""

from __future__ import annotations

import re

from orchestrator.app.audit import event_sentences
from orchestrator.app.engine import decision_views, overview
from orchestrator.app.engine import measured as measuring
from orchestrator.app.kernel import views
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import completion_wording, names, strict_json
from orchestrator.core.routing.facts import PERSON, WITHHELD
from orchestrator.core.suggestions import again, sentence, suggest
from orchestrator.errors import Refused, UsageError
from orchestrator.hints import Any
from orchestrator.store import queries, task_reader
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

LAST_DECISIONS = 5

_LOADED = """SELECT e.input FROM workflow_versions v JOIN audit_events e ON e.session_id = '@store' AND e.seq = v.seq
    WHERE v.id = :id AND e.kind = 'workflow load'"""
_DECISION = re.compile(r"[DR]([1-9][0-9]{0,15})(?:\.([1-9][0-9]{0,8}))?")
_QUESTION = re.compile(r"Q[1-9][0-9]{0,15}(?:\.[1-9][0-9]{0,8})?")
_LISTED = {"B": "audit blockers", "E": "audit timeline", "Q": "inbox", "X": "audit refusals"}
"""Where ids are listed that are none of a decision, by their first letter."""
_REPORT_COLUMNS = (
    "id", "role", "raw_role", "response_status", "raw_status", "agent_id", "effect", "turn", "turn_assumed", "summary",
    "reported_at",
)  # fmt: skip


def why(context: Context, *, id: str, session_id: str | None = None, at_seq: int | None = None) -> Answer:
    """Why a group or task is not finished, or why a decision was made.

    Args:
        id: a group or task of the session, a decision (`S1:D12`, `S1:D12.2`, or `D12` with a session) or a question
            (`S1:Q12`). A report's id stands for the decision on it. Where a group and a task are called the same, the
            group is meant.
        session_id: where a group, a task or a short id belongs.
        at_seq: the state right after this step of the session (default: the current one).

    Returns:
        For a group `about: group`, the path with its `unmet` parts, whom it awaits and since which decision, and the
        last decisions. For a decision `about: decision`, the report, the transition, the rules that fired, and the
        consequences. For a task `about: task`, see `explain_tasks.why`. For a question `about: question`, and
        `question` as `question_views.question` gives it. All with `sentences`.

    Raises:
        Refused: UNKNOWN_SESSION, UNKNOWN_GROUP, UNKNOWN_ID (kind decision or question). UsageError: USAGE without a
            session, SEQ_OUT_OF_RANGE {first, last}.
    """
    owner, colon, short = id.rpartition(":")
    if at_seq is not None:
        return context.as_of(context, why, session_id=owner if colon else session_id, at_seq=at_seq, id=id)
    if colon and _QUESTION.fullmatch(short):
        return _question(context, id)
    if colon:
        return _decision(context, owner, short, id)
    if session_id is None:
        raise UsageError("USAGE", f"{names.shown(id)} needs a session.", again(session_id="SESSION"))
    context.require_session(session_id)
    row = views.group_row(context.reader, session_id, id)
    if row is not None:
        return _group(context, session_id, row)
    task = task_reader.task(context.connection, session_id, id)
    if task is not None:
        from orchestrator.app.audit import explain_tasks

        return explain_tasks.why(context, session_id, task)
    if _DECISION.fullmatch(id):
        return _decision(context, session_id, id, id)
    if _QUESTION.fullmatch(id):
        return _question(context, f"{session_id}:{id}")
    raise _neither(context, session_id, id)


def _question(context: Context, id: str) -> Answer:
    """What a person is or was asked, which report led to it, and what each answer does."""
    from orchestrator.app.questions import question_views

    if queries.row(context.reader, queries.QUESTION, id=id) is None:
        raise _unknown(id, "question")
    found = question_views.question(context, id=id)["question"]
    where = (found["group_id"] and f" on group {found['group_id']}") or ""
    asked = f"Question {id} ({found['kind']}{where}) was asked by {found['asked_by']} at {found['asked_at']}."
    sentences = [asked, f"It asks: {found['text']}"]
    if found["report"]:
        report = found["report"]
        sentences.append(f"{report['agent_id']} reported {report['response_status']} ({report['id']}).")
    if found["closed_at"]:
        note = f" ({found['note']})" if found["note"] else ""
        sentences.append(f"{found['closed_by']} answered it at {found['closed_at']}: {found['answer']}{note}.")
    sentences += [
        sentence("{}: {}; `{}`.", each["decision"], each["effect"], each["command"]) for each in found["answers"]
    ]
    kept = {"session_id": found["session_id"], "group_id": found["group_id"]}
    return {"success": True, "about": "question", **kept, "question": found, "sentences": sentences}


def _neither(context: Context, session_id: str, id: str) -> Refused:
    """The refusal of what is neither a group nor a task, with the nearest of both."""
    found = context.unknown_group(session_id, id)
    known = [near for near in (found.data.get("did_you_mean"),) if near]
    near = names.nearest(id, [*known, *task_reader.known(context.connection, session_id)])
    message = f"Session {session_id} has no group and no task {names.shown(id)}."
    return Refused(found.code, message, suggest("status", session_id=session_id), did_you_mean=near)


def _group(context: Context, session_id: str, row: Row) -> Answer:
    reader, key = context.reader, {"session": session_id, "group": row["id"]}
    path, parts = overview.path(reader, session_id, row["id"])
    newest = queries.row(reader, queries.LAST_DECISIONS, **key, limit=1)
    open_blockers = [b for b in queries.rows(reader, queries.BLOCKERS, **key) if b["resolved_seq"] is None]
    answer: Answer = {
        "success": True,
        "about": "group",
        "session_id": session_id,
        "group_id": row["id"],
        "status": row["status"],
        "awaited": _awaited(context, session_id, row, newest),
        "path": parts,
        "unmet": [part for part in parts if not part["met"]],
        "path_valid": bool(path.get("valid")),
        "pm_path": bool(path.get("pm_path")),
        "awaiting_confirmation": bool(path.get("awaiting_confirmation")),
        "blockers": open_blockers,
        "depends_on": views.depends_on(reader, session_id, row["id"]),
        "decisions": decisions(reader, session_id, row["id"], LAST_DECISIONS),
        **views.imported(reader, session_id, row["id"]),
    }
    sentences = _group_sentences(context, row, answer)
    if task_reader.task(context.connection, session_id, row["id"]) is not None:
        command = suggest("task show", id=row['id'], session_id=session_id)
        sentences.append(sentence("There is also a task {}: {}", row["id"], command))
    session = context.require_session(session_id)
    if session.status == "ended":
        sentences.append(f"Session {session_id} has ended.")
    return answer | {"sentences": sentences}


def _awaited(context: Context, session_id: str, row: Row, newest: Row | None) -> Answer | None:
    """Whom the group awaits, with the id of the decision that said so."""
    waiting = views.awaited(row)
    if waiting is None:
        return None
    seq, part = row["held_seq"] or row["turn"], row["held_part"]
    if seq is None:
        return {**waiting, "decision_id": newest["id"] if newest else None}
    given = decision_views.spawn(context.reader, session_id, row["id"], seq)
    if given is not None:
        return {**waiting, "decision_id": given[0]["id"]}
    steps = queries.rows(context.reader, queries.STEP_DECISIONS, session=session_id, seq=seq)
    named = [step["id"] for step in steps if part in (None, step["part"])]
    return {**waiting, "decision_id": named[0] if named else None}


def _reason(context: Context, session_id: str, group: str) -> str:
    """The reason of the group's last change of status."""
    key = {"session": session_id, "entity": "group", "id": group, "limit": 1}
    found = queries.row(context.reader, queries.LAST_CHANGES, **key)
    return found["reason"] if found else ""


def _group_sentences(context: Context, row: Row, answer: Answer) -> list[str]:
    key = (context.reader, answer["session_id"], row["id"])
    back = came_back(*key) if answer["awaited"] else None
    taken = taken_as_it_is(*key) if answer["pm_path"] and answer["unmet"] else ""
    sentences = [_standing(row, answer["awaited"], _reason(context, *key[1:])), *([back] if back else [])]
    if answer["grandfathered"]:
        sentences += [
            "It was completed before the import; nothing in this record proves it.",
            "The session ends only when a project manager's BAZINGA acknowledges it by name.",
        ]
    elif row["status"] == "deferred_external":
        sentences.append(_deferred(answer["blockers"]))
    elif row["status"] != "cancelled":
        sentences += _path_sentences(row["status"], answer, taken)
    sentences += [f"The import found (text only, no proof): {each['text']}." for each in answer["import_findings"]]
    waits = [dependency for dependency in answer["depends_on"] if not dependency["satisfied"]]
    sentences += [f"It depends on group {each['id']}, which is {each['status']}." for each in waits]
    if answer["path_valid"] and row["status"] == "in_progress":
        sentences.append(_valid(answer["session_id"], taken))
    elif answer["awaiting_confirmation"]:
        command = suggest(
            "route", current_agent="project_manager", status="BAZINGA", session_id=answer["session_id"],
            acknowledge={row["id"]: "REASON"},
        )  # fmt: skip
        sentences.append(sentence("Only the project manager's confirmation is missing: `{}`.", command))
    return sentences


def _valid(session: str, taken: str) -> str:
    if not taken:
        return "Its completion path is valid."
    return sentence(
        "{}: its completion path is valid, and a verdict of ACCEPT completes it: `{}`.",
        taken, suggest("validate", session_id=session),
    )  # fmt: skip


def _path_sentences(status: str, answer: Answer, taken: str) -> list[str]:
    """What a completed group rests on, else what a group lacks."""
    lacks = [f"{completion_wording.LACKING[part['part']]}: {part['reason']}." for part in answer["unmet"]]
    if status != "completed":
        return lacks
    rests = [f"{part['part']} is met: {part['reason']}." for part in answer["path"] if part["met"]]
    return [*rests, *lacks, *([f"{taken}."] if taken else [])]


def _deferred(blockers: list[Row]) -> str:
    outside = [f"{each['external_dependency']} (blocker {each['id']})" for each in blockers if each["external"]]
    waits = f"It waits for {', '.join(outside)}, outside the project" if outside else "It waits"
    return f"{waits}; the session ends only when a project manager's BAZINGA acknowledges it by name."


def _standing(row: Row, awaited: Answer | None, reason: str) -> str:
    if awaited is None:
        by = f"by {row['status_changed_by']}" if row["status_changed_by"] else "as it was imported"
        why = f" ({reason})" if reason else ""
        return f"Group {row['id']} is {row['status']} since {row['status_changed_at']}, {by}{why}."
    whom = "a person" if awaited["role"] == PERSON else f"{awaited['role']} ({awaited['agent_id']})"
    since = f"since {awaited['since']}" + (f", decision {awaited['decision_id']}" if awaited["decision_id"] else "")
    held = f"; it is held ({awaited['held']})" if awaited["held"] else ""
    return f"Group {row['id']} is {row['status']} and awaits {whom}, action {awaited['action']}, {since}{held}."


def _decision(context: Context, session_id: str, short: str, id: str) -> Answer:
    found = _DECISION.fullmatch(short)
    if found is None:
        raise _unknown(id)
    context.require_session(session_id)
    seq, part = int(found[1]), int(found[2] or 1)
    steps = queries.rows(context.reader, queries.STEP_DECISIONS, session=session_id, seq=seq)
    row = next((step for step in steps if step["part"] == part), None)
    if row is None:
        raise _unknown(id)
    report = queries.row(context.reader, queries.REPORT, session=session_id, seq=seq) if row["report_id"] else None
    decision = decision_views.decision_shape(row)
    answer: Answer = {
        "success": True,
        "about": "decision",
        "session_id": session_id,
        "group_id": row["group_id"],
        "decision": decision,
        "report": _report(context, session_id, report) if report else None,
        "transition": _transition(context, row, report) if report else None,
        "rules": decision["rules"],
        "consequences": _consequences(context, row),
    }
    return answer | {"sentences": _decision_sentences(answer)}


def _report(context: Context, session_id: str, report: Row) -> Answer:
    """What was reported, and what was seen of that by whoever ran its agent."""
    (measured,) = context.reader.one(queries.MEASURED, session=session_id, seq=report["seq"]) or (None,)
    seen = {"measured": strict_json.stored(str(measured))} if measured else {}
    return {name: report[name] for name in _REPORT_COLUMNS} | seen


def _seen(measured: Answer) -> str:
    """What was measured, in words."""
    plain = {name: value for name, value in measured.items() if name != measuring.GATES}
    told = [f"{name}: {_in_words(value)}" for name, value in plain.items()]
    return "; ".join([*told, *measuring.gates_in_words(measured)])


def _in_words(value: object) -> str:
    if isinstance(value, bool):
        return "yes" if value else "no"
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _consequences(context: Context, row: Row) -> list[Answer]:
    """What the step wrote besides the report and this decision: blockers, moves, questions, further decisions."""
    seq = row["seq"]
    told = event_sentences.of_steps(context.reader, row["session_id"], seq - 1, seq).get(seq, [])
    return [each.shown() for each in told if each.id not in (row["id"], row["report_id"]) or each.id is None]


def _unknown(id: str, kind: str = "decision") -> Refused:
    what = "no question" if kind == "question" else "no group and no decision"
    message = f"There is {what} {names.shown(id)}."
    session, _, short = id.rpartition(":")
    command = _LISTED.get(short[:1], "audit decisions")
    where = session if names.ID_PATTERN.fullmatch(session) else None
    return Refused("UNKNOWN_ID", message, suggest(command, session_id=where), kind=kind)


def _transition(context: Context, row: Row, report: Row) -> Answer | None:
    """The transition that the decision came from, and where it stands in the workflow file."""
    workflow = context.version(row["workflow_version_id"]).workflow
    found = workflow.find(row["current_agent"], names.status_name(report["raw_status"]))
    if found is None:
        return None
    transition, alias = found
    shown: dict[str, Any] = {
        name: getattr(transition, name)
        for name in ("role", "status", "next_agent", "action", "then", "effect", "description")
    }
    path = f"$.{transition.role}.{transition.status}"
    place = {"path": path, **_place(context, row["workflow_version_id"], (transition.role, transition.status))}
    return {**shown, **place, "alias": alias, "workflow_version": workflow.hash}


def _place(context: Context, version: int, path: tuple[str, ...]) -> dict[str, Any]:
    """File and line of an entry of the workflow, as the file was when it was loaded."""
    row = context.reader.one(_LOADED, id=version)
    if row is None:
        return {"file": None, "line": None}
    from orchestrator.core.workflow import loader

    given = strict_json.stored(row[0])
    return {"file": given["source"], "line": loader.lines(given["content"]).get(path)}


def _decision_sentences(answer: Answer) -> list[str]:
    decision, report, transition = answer["decision"], answer["report"], answer["transition"]
    if report is None:
        sentences = [f"Triggered by {decision['cause']}, not by a report."]
    else:
        raw = names.shown(report["raw_status"]) if report["raw_status"] != report["response_status"] else ""
        spelt = f" (written {raw})" if raw else ""
        sentences = [f"{report['agent_id']} reported {report['response_status']}{spelt} as {report['role']}."]
        if report["effect"] == WITHHELD:
            sentences.append("It has no effect until a person approves it.")
        if "measured" in report:
            sentences.append(f"What was seen of it: {_seen(report['measured'])}.")
    if transition is not None:
        alias = f", reached by the alias {transition['alias']}" if transition["alias"] else ""
        goes = f"{transition['next_agent'] or 'nobody'}, {transition['action']}"
        where = f"{transition['file']}:{transition['line']}, " if transition["line"] else ""
        said = f"The workflow says at {where}{transition['path']}{alias}"
        sentences.append(f"{said}: {goes}, effect {transition['effect']}.")
    sentences += [f"Rule {rule['name']} fired: {rule['reason']}." for rule in answer["rules"]]
    if not answer["rules"]:
        sentences.append("No rule changed it.")
    sentences.append(f"Decided: {event_sentences.decided(decision)}.")
    return sentences + [f"With it: {each['text']}." for each in answer["consequences"]]


_CAME_BACK = {"completed": "completed, and reopened", "deferred_external": "deferred, and taken up again"}


def decisions(reader: Reader, session: str, group: str, most: int) -> list[Row]:
    """The newest decisions that were about a group, started it or moved it, whichever group they name; newest first.

    Args:
        most: how many at most.
    """
    key = {"session": session, "group": group, "limit": most}
    moves = _changes(reader, session, group, most)
    own = [row["seq"] for row in queries.rows(reader, queries.LAST_DECISIONS, **key)]
    started = [row["turn"] for row in queries.rows(reader, queries.LAST_TURNS, **key)]
    found: list[Row] = []
    for seq in sorted({*own, *started, *(move["seq"] for move in moves)}, reverse=True):
        step = queries.rows(reader, queries.STEP_DECISIONS, session=session, seq=seq)
        found += reversed(_concerning(group, [decision_views.decision_shape(row) for row in step]))
    return found[:most]


def _concerning(group: str, step: list[Row]) -> list[Row]:
    """The decisions of a step that name the group or start it; else the first, with which all of the step came."""
    named = [each for each in step if group in (each["group_id"], *(spawn["group_id"] for spawn in each["spawns"]))]
    return named or step[:1]


def came_back(reader: Reader, session: str, group: str) -> str | None:
    """Who took a group up again that was finished, when and why; None where its last move is none of that kind."""
    last = next(iter(_changes(reader, session, group, 1)), None)
    if last is None or last["to_status"] != "in_progress" or last["from_status"] not in _CAME_BACK:
        return None
    reason = f": {last['reason']}" if last["reason"] else ""
    return f"It was {_CAME_BACK[last['from_status']]} by {last['changed_by']} at {last['changed_at']}{reason}."


def taken_as_it_is(reader: Reader, session: str, group: str) -> str:
    """That the project manager acknowledged a group whatever it lacks: in which report, and with which words."""
    found = queries.row(reader, queries.LAST_CONFIRMED, session=session, group=group)
    where = f", in {found['response_status']}, report {found['id']} ({found['reason']})," if found else ","
    return f"The project manager acknowledged it as it is{where} which stands for what is not met"


def _changes(reader: Reader, session: str, group: str, most: int) -> list[Row]:
    key = {"session": session, "entity": "group", "id": group, "limit": most}
    return queries.rows(reader, queries.LAST_CHANGES, **key)
