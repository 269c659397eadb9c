"""What steps wrote, told one sentence a row."""

from __future__ import annotations

from orchestrator.app.engine import decision_views
from orchestrator.core import caller_labels, handoff
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import VALIDATOR, WITHHELD
from orchestrator.hints import Any
from orchestrator.store import queries
from orchestrator.store.queries import Row
from orchestrator.store.reader import Reader

_ENTITIES = {
    "criterion_actual": "measured value of criterion",
    "criterion_text": "text of criterion",
    "session_testing_mode": "testing mode of session",
    "session_workflow": "workflow version of session",
    "session_workflow_confirmed": "confirmed workflow version of session",
    "task_claim": "claim of task",
}
"""What changes, in words, where the record has none that people use."""


class Told(NamedTuple):
    """One row that a step wrote: what kind, its id where it has one, its group, the actors and statuses, a sentence."""

    what: str
    id: str | None
    group_id: str | None
    text: str
    actors: tuple[str | None, ...] = ()
    status: str | None = None

    def shown(self) -> dict[str, Any]:
        """What a list shows of it."""
        return {"what": self.what, "id": self.id, "group_id": self.group_id, "text": self.text}


def of_steps(reader: Reader, session: str, since: int, until: int) -> dict[int, list[Told]]:
    """Everything that the steps of a span wrote, by step, in the order of `queries.STEP_ROWS`.

    Args:
        since: the step before the first.
        until: the last step.
    """
    found: dict[int, list[Told]] = {}
    for what, sql in queries.STEP_ROWS.items():
        for row in queries.rows(reader, sql, session=session, since=since, until=until):
            found.setdefault(row["seq"], []).append(_TELL[what](row))
    return found


def decided(decision: Row) -> str:
    """What a decision, as `decision_views.decision_shape` gives it, sends whom to do."""
    spawns = decision["spawns"]
    if decision["action"] == "spawn_batch" and spawns:
        return "start " + ", ".join(f"{spawn['agent']} on {spawn['group_id']}" for spawn in spawns)
    where = handoff.place(decision)
    if decision["next_agent"] is None or decision["action"] == "wait":
        whom = f" for {decision['next_agent']}" if decision["next_agent"] else ""
        reason = f" ({decision['reason']})" if decision["reason"] else ""
        return f"{decision['action']}{whom}{where}{reason}"
    return f"{decision['action']} {decision['next_agent']}{where}"


def _on(group: str | None) -> str:
    return f" on {group}" if group else ""


def _about(row: Row) -> str:
    """The task, and the group or session, that a blocker or question is about."""
    return _on(f"task {row['task_id']}{_of(row['group_id'])}" if row["task_id"] else row["group_id"])


def _of(group: str | None) -> str:
    return f" of {group}" if group else ""


def _more(text: str | None) -> str:
    return f": {text}" if text else ""


def _report(row: Row) -> Told:
    taken = f", interrupting {row['interrupted']}" if row["interrupted"] else ""
    said = f"{row['response_status']}{_on(row['group_id'])}{taken}{_more(row['summary'])}"
    text = f"{row['agent_id']} reported {said}"
    if row["effect"] == WITHHELD:
        text += " (takes effect once a person approves it)"
    elif row["role"] != VALIDATOR and row["turn"] is None and not row["turn_assumed"]:
        text = f"the report of {row['agent_id']} takes effect now: {said}"
    return Told("report", row["id"], row["group_id"], text, (row["role"], row["agent_id"]), row["response_status"])


def _acknowledgement(row: Row) -> Told:
    text = f"the project manager acknowledged {row['group_id']}: {row['reason']}"
    return Told("acknowledgement", None, row["group_id"], text)


def _decision(row: Row) -> Told:
    decision = decision_views.decision_shape(row)
    rules = ", ".join(rule["name"] for rule in decision["rules"])
    text = f"decision {row['id']}: {decided(decision)}" + (f" by {rules}" if rules else "")
    actors = tuple(actor for spawn in decision["spawns"] for actor in (spawn["agent"], spawn["agent_id"]))
    return Told("decision", row["id"], row["group_id"], text, (row["next_agent"], *actors), row["response_status"])


def _status_change(row: Row) -> Told:
    named = f"{_ENTITIES.get(row['entity'], row['entity'])} {row['entity_id']}"
    reason = f" ({row['reason']})" if row["reason"] else ""
    text = f"{named}: {row['from_status'] or '(new)'} -> {row['to_status']} by {row['changed_by']}{reason}"
    group = row["entity_id"] if row["entity"] == "group" else row["group_id"]
    return Told("status_change", None, group, text, (row["changed_by"],), row["to_status"])


def _blocker_opened(row: Row) -> Told:
    text = f"blocker {row['id']} ({row['class']} {row['type']}) opened{_about(row)}{_more(row['reason'])}"
    return Told("blocker_opened", row["id"], row["group_id"], text, (row["opened_by"], row["opened_role"]))


def _blocker_marked(row: Row) -> Told:
    named = f"blocker {row['id']}" if row["id"] else "a blocker no longer marked external"
    text = f"{named} marked external{_on(row['group_id'])} by {row['agent_id']}{_more(row['dependency'])}"
    return Told("blocker_marked", row["id"], row["group_id"], text, (row["agent_id"], row["role"]))


def _blocker_resolved(row: Row) -> Told:
    text = f"blocker {row['id']} resolved by {row['resolved_by']} ({row['resolution']}){_more(row['resolution_note'])}"
    return Told("blocker_resolved", row["id"], row["group_id"], text, (row["resolved_by"],))


def _question_asked(row: Row) -> Told:
    text = f"question {row['id']} ({row['kind']}) asked{_about(row)}{_more(row['text'])}"
    return Told("question_asked", row["id"], row["group_id"], text, (row["asked_by"],))


def _question_closed(row: Row) -> Told:
    through = f" through {row['channel']}" if row["channel"] else ""
    note = f" ({row['note']})" if row["note"] else ""
    text = f"question {row['id']} closed by {row['closed_by']}{through}{_more(row['answer'])}{note}"
    return Told("question_closed", row["id"], row["group_id"], text, (row["closed_by"],))


def _evidence(row: Row) -> Told:
    text = f"evidence {row['id']} ({row['kind']} of {row['subject']}): {row['outcome']}"
    return Told("evidence", row["id"], row["group_id"], text)


def _import_finding(row: Row) -> Told:
    text = f"import finding{_on(row['group_id'])} ({row['code']}; text, no proof): {row['text']}"
    return Told("import_finding", None, row["group_id"], text)


def _refusal(row: Row) -> Told:
    tried = f" {row['status']}" if row["status"] else ""
    who = caller_labels.tried(row["actor"], row["role"])
    text = f"refused {who}{tried}{_on(row['group_id'])}: {row['code']}, {row['detail']}"
    return Told("refusal", row["id"], row["group_id"], text, (row["role"], row["actor"]), row["status"])


_TELL: dict[str, Any] = {
    "report": _report,
    "acknowledgement": _acknowledgement,
    "decision": _decision,
    "status_change": _status_change,
    "blocker_opened": _blocker_opened,
    "blocker_marked": _blocker_marked,
    "blocker_resolved": _blocker_resolved,
    "question_asked": _question_asked,
    "question_closed": _question_closed,
    "evidence": _evidence,
    "import_finding": _import_finding,
    "refusal": _refusal,
}
