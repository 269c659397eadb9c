"""What a person may do with a session and its groups, each act on a page that says its effect before.

An act is an operation of the command line; its form is made of the operation's declaration, and its rules are its own:
a page holds none. What was not done is shown where it was tried, with what was typed.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.requests import REQUIRED, TEXT, Parameter
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.web import form_handlers
from orchestrator.doors.web.authentication import Fields, Reading, Serving, Writing
from orchestrator.doors.web.failures import Denied
from orchestrator.doors.web.rendering import looking, segment
from orchestrator.errors import UsageError

router = APIRouter(include_in_schema=False, prefix="/sessions/{session}/do")

_NOTHING: Mapping[str, Any] = {}
ANYBODY = "You, as a signed-in person. It is recorded under your name."
PERSON_ONLY = "Only a person. It is recorded under your name."


class Act(NamedTuple):
    """One act.

    words: of its operation. title: also its button. effect: what happens. fields: the parameters that its form asks
    for, in order. needed: those that must be filled in besides the operation's own. fixed: parameters that it gives
    itself. group: whether it is about one group, which is the parameter `id` or `group_id`. session: the parameter
    that holds the session. who: who may. ends: it cannot be undone.
    """

    words: str
    title: str
    effect: str
    fields: tuple[str, ...] = ("reason",)
    needed: tuple[str, ...] = ("reason",)
    fixed: Mapping[str, Any] = _NOTHING
    group: str = ""
    session: str = "session_id"
    who: str = ANYBODY
    ends: bool = False


ACTS = {
    "pause": Act(
        "session pause", "Pause the session",
        "Nobody is started until the session is resumed. Agents at work may still report, and reports are decided.",
        session="id",
    ),
    "resume": Act("session resume", "Resume the session", "What was held back starts at once.", session="id"),
    "group": Act(
        "group create", "Add a group",
        "The group starts as soon as a slot is free and the groups that it depends on are completed.",
        ("id", "name", "description", "kind", "priority", "complexity", "security_sensitive", "depends_on"), ("name",),
    ),
    "criterion": Act(
        "criterion add", "Add a criterion",
        "The session is accepted only when the criterion is met or deferred with a reason.",
        ("id", "text", "group_id", "metric", "operator", "target", "reason"),
    ),
    "testing": Act(
        "session testing-mode", "Change the testing mode",
        "Reports from now on are decided under the new mode. What was decided before stays.",
        ("mode", "reason"), session="id", who="Anybody may tighten it; only a person may loosen it.",
    ),
    "upgrade": Act(
        "session upgrade-workflow", "Move to the active workflow",
        "Reports from now on are decided by the version of the workflow that is active. Refused where the session's"
        " open state does not exist there.", session="id", who=PERSON_ONLY,
    ),
    "validate": Act(
        "validate", "Validate for good",
        "Checks the session against its record and runs its criteria's commands. ACCEPT ends the session; REJECT sends"
        " it back to the project manager with the list.", (), (), {"record": True}, ends=True,
    ),
    "end": Act(
        "session end", "End the session",
        "The session is abandoned: nobody is started any more, no report is accepted, and it cannot be opened again.",
        session="id", who=PERSON_ONLY, ends=True,
    ),
    "redispatch": Act(
        "redispatch", "Start the agent again",
        "The awaited agent is started again under a new turn. A late report on the old turn is refused as stale.",
        group="group_id",
    ),
    "cancel": Act(
        "group set-status", "Cancel the group",
        "The group is closed without being completed, and its turn ends. Groups that depend on it keep waiting until"
        " the dependency is dropped.", fixed={"status": "cancelled"}, group="id",
    ),
    "defer": Act(
        "group set-status", "Defer the group",
        "The group waits for something outside the project and holds up nobody else. It needs a blocker that the tech"
        " lead has marked as external; the project manager acknowledges the group at the end.",
        fixed={"status": "deferred_external"}, group="id",
    ),
    "reopen": Act(
        "group set-status", "Reopen the group",
        "The group is in progress again, and its agent is started.", fixed={"status": "in_progress"}, group="id",
    ),
    "depend": Act(
        "group depend", "Add a dependency",
        "The group waits until the other one is completed.", ("on", "reason"), group="id",
    ),
    "undepend": Act(
        "group undepend", "Drop a dependency",
        "The group no longer waits for the other one, which has to be cancelled or deferred.", ("on", "reason"),
        group="id",
    ),
    "unblock": Act(
        "blocker resolve", "Lift a blocker",
        "The blocker is resolved with your reason. Work goes on once the group has no other one.", ("id", "reason"),
        who="The roles that the blocker names, or a person; a hard blocker only a person.",
    ),
    "set-criterion": Act(
        "criterion set", "Record a criterion's result",
        "The next verdict counts the result. A criterion that a number or command decides cannot be set to met by"
        " hand.", ("id", "status", "actual", "evidence", "reason"), (),
    ),
    "approve-criterion": Act(
        "criterion approve", "Allow a criterion's command",
        "The validator may run this command in the project's folder from now on.", ("id", "reason"), (),
        who=PERSON_ONLY,
    ),
}  # fmt: skip
"""By the last part of their address."""
OF_SESSION = ("pause", "resume", "group", "criterion", "testing", "upgrade", "validate", "end")
OF_GROUP = ("redispatch", "defer", "reopen", "depend", "undepend", "cancel")

_LABELS = {
    "id": "Id", "on": "The other group", "text": "What has to be true", "mode": "Testing mode",
    "security_sensitive": "Security-sensitive", "depends_on": "Depends on", "group_id": "Group", "reason": "Why",
}  # fmt: skip

Name = Annotated[str | None, Query(max_length=300)]


def menu(chosen: tuple[str, ...], session: dict[str, Any]) -> list[dict[str, Any]]:
    """The acts that a page offers: their names, titles and whether they end something.

    Args:
        session: its `status`: what is paused is resumed, and what is not cannot be.
    """
    if session["status"] == "ended":
        return []
    left_out = "pause" if session["status"] == "paused" else "resume"
    return [{"name": name, "title": ACTS[name].title, "ends": ACTS[name].ends} for name in chosen if name != left_out]


@router.get("/{name}")
def show_act(
    request: Request, session: str, name: str, caller: Reading, group: Name = None, id: Name = None, on: Name = None
) -> Response:  # fmt: skip
    """The page of an act: what it does, who may do it, and its form."""
    given = {"id": id or "", "on": on or ""}
    return _page(request, session, _act(name), name, group, typed={each: text for each, text in given.items() if text})


@router.post("/{name}")
def do(request: Request, session: str, name: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Do it, and go on to the page of what it was about."""
    act, group = _act(name), fields.get("group") or None

    def done() -> str:
        with serving.called(caller) as context:
            context.credential = caller.credential
            # Last, so that no field of a form names somebody else (HTTP-16).
            asked = _asked(act, session, group, fields) | {"by": caller.person}
            operations.call(context, act.words, **arguments.bind(act.words, asked))
        place = f"/sessions/{segment(session)}"
        return f"{place}/groups/{segment(group)}" if group else f"{place}/verdict" if name == "validate" else place

    def page(status: int, problem: dict[str, Any], typed: dict[str, str]) -> Response:
        shown = {each: text for each, text in fields.items() if each in act.fields}
        return _page(request, session, act, name, group, status=status, problem=problem, typed=shown)

    return form_handlers.tried(fields, form_handlers.once(request, fields, done), page)


def _act(name: str) -> Act:
    found = ACTS.get(name)
    if found is None:
        raise Denied(404, "NOT_FOUND", "There is no such act.")
    return found


def _page(
    request: Request, session: str, act: Act, name: str, group: str | None, *, typed: dict[str, str],
    status: int = 200, problem: dict[str, Any] | None = None,
) -> Response:  # fmt: skip
    with looking(request, session) as look:
        about = look.ask("session show", id=session)["session"]
        if group is not None:
            look.ask("group show", id=group, session_id=session)
        known = operations.find(act.words).parameters()
        fields = [_field(known[each], is_needed=each in act.needed) for each in act.fields]
        shown = {**act._asdict(), "name": name, "fields": fields, "group": group if act.group else None}
        return look.page("do.html", status, title=act.title, act=shown, session=about, typed=typed, problem=problem)


def _field(parameter: Parameter, *, is_needed: bool) -> dict[str, Any]:
    """How a form asks for a parameter."""
    field, name = parameter.field, parameter.name
    kind = "flag" if bool in parameter.kinds else "choice" if field.choices else "number" if field.span else (
        "area" if field.reading == TEXT and name != "name" else "line"
    )
    default = "" if field.default in (REQUIRED, None, ()) else field.default
    return {
        "name": name, "label": _LABELS.get(name, name.replace("_", " ").capitalize()), "kind": kind,
        "hint": field.help.replace(" Repeatable.", " Several with commas."), "choices": field.choices,
        "span": field.span, "default": default, "needed": is_needed or field.default is REQUIRED,
    }  # fmt: skip


def _asked(act: Act, session: str, group: str | None, fields: Mapping[str, str]) -> dict[str, Any]:
    """The parameters of the operation, from the form's texts.

    Raises:
        UsageError: USAGE, something that is needed is missing or no number.
    """
    known = operations.find(act.words).parameters()
    asked: dict[str, Any] = {act.session: session, **act.fixed}
    if act.group:
        asked[act.group] = group
    for name in act.fields:
        text = fields.get(name, "").strip()
        if not names.said(text) and (name in act.needed or known[name].field.default is REQUIRED):
            label = _LABELS.get(name, name)
            raise UsageError("USAGE", f"Something is missing: {label}.", "Fill it in")
        value = _value(known[name], text)
        if value is not None:
            asked[name] = value
    return asked


def _value(parameter: Parameter, text: str) -> Any:
    """A form's text as the parameter takes it; None where it was left empty."""
    if bool in parameter.kinds:
        return bool(text)
    if not text:
        return None
    if list in parameter.kinds:
        return [each.strip() for each in text.split(",") if each.strip()]
    if parameter.kinds != (int,):
        return text
    # 18 digits always fit into the 64 bits of an integer in the database.
    if not text.isdecimal() or len(text) > 18:
        raise UsageError("USAGE", f"{parameter.name} is a whole number.", "Give one")
    return int(text)
