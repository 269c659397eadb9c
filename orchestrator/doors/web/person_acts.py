"""What a person may do with a session and its groups, each act on a page that says its effect before.

An act is an operation of the command line; its form is made of the operation's declaration, and its rules are its own:
a page holds none. What was not done is shown where it was tried, with what was typed.
"""

from __future__ import annotations

import contextlib
from collections.abc import Mapping
from typing import Annotated, Any
from urllib.parse import SplitResult, urlsplit

from fastapi import APIRouter, Query, Request
from starlette.responses import Response

from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.kernel.requests import REQUIRED, TEXT, Parameter
from orchestrator.app.verdict import criteria_views
from orchestrator.core import names
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.web import form_handlers
from orchestrator.doors.web.authentication import Fields, Reading, Serving, Writing
from orchestrator.doors.web.failures import Denied
from orchestrator.doors.web.idempotent_forms import Done
from orchestrator.doors.web.rendering import Look, looking, segment, words
from orchestrator.errors import Refused, UsageError

router = APIRouter(include_in_schema=False, prefix="/sessions/{session}/do")

_NOTHING: Mapping[str, Any] = {}
ANYBODY = "You, as a signed-in person. It is recorded under your name."
PERSON_ONLY = "Only a person. It is recorded under your name."


class Act(NamedTuple):
    """One act.

    words: of its operation. title: also its button. effect: what happens. done: what has happened, with what the
    operation answers in braces. fields: the parameters that its form asks for, in order. needed: those that must be
    filled in besides the operation's own. fixed: parameters that it gives itself. group: whether it is about one group,
    which is the parameter `id` or `group_id`. session: the parameter that holds the session. who: who may. ends: it
    cannot be undone.
    """

    words: str
    title: str
    effect: str
    done: str
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
        "The session is paused", session="id",
    ),
    "resume": Act(
        "session resume", "Resume the session", "What was held back starts at once.", "The session goes on",
        session="id",
    ),
    "group": Act(
        "group create", "Add a group",
        "The group starts as soon as a slot is free and the groups that it depends on are completed.",
        "Group {group[id]} was added",
        ("id", "name", "description", "kind", "priority", "complexity", "security_sensitive", "depends_on"), ("name",),
    ),
    "criterion": Act(
        "criterion add", "Add a criterion",
        "The session is accepted only when the criterion is met or deferred with a reason.",
        "Criterion {criterion[id]} was added",
        ("id", "text", "group_id", "metric", "operator", "target", "reason"),
    ),
    "testing": Act(
        "session testing-mode", "Change the testing mode",
        "Reports from now on are decided under the new mode. What was decided before stays.",
        "The testing mode is {session[testing_mode]} now",
        ("mode", "reason"), session="id", who="Anybody may tighten it; only a person may loosen it.",
    ),
    "upgrade": Act(
        "session upgrade-workflow", "Move to the active workflow",
        "Reports from now on are decided by the version of the workflow that is active. Refused where the session's"
        " open state does not exist there.",
        "The session follows version {session[workflow_version_id]} of the workflow now", session="id", who=PERSON_ONLY,
    ),
    "validate": Act(
        "validate", "Validate for good",
        "Checks the session against its record and runs its criteria's commands. ACCEPT ends the session; REJECT sends"
        " it back to the project manager with the list.",
        "The verdict is recorded: {verdict}", (), (), {"record": True}, ends=True,
    ),
    "end": Act(
        "session end", "End the session",
        "The session is abandoned: nobody is started any more, no report is accepted, and it cannot be opened again.",
        "The session has ended",
        session="id", who=PERSON_ONLY, ends=True,
    ),
    "redispatch": Act(
        "redispatch", "Start the agent again",
        "The awaited agent is started again under a new turn. A late report on the old turn is refused as stale.",
        "Turn {turn} began",
        group="group_id",
    ),
    "cancel": Act(
        "group set-status", "Cancel the group",
        "The group is closed without being completed, and its turn ends. Groups that depend on it keep waiting until"
        " the dependency is dropped.",
        "Group {group[id]} was cancelled", fixed={"status": "cancelled"}, group="id",
    ),
    "defer": Act(
        "group set-status", "Defer the group",
        "The group waits for something outside the project and holds up nobody else. It needs a blocker that the tech"
        " lead has marked as external; the project manager acknowledges the group at the end.",
        "Group {group[id]} was deferred",
        fixed={"status": "deferred_external"}, group="id",
    ),
    "reopen": Act(
        "group set-status", "Reopen the group",
        "The group is in progress again, and its agent is started.",
        "Group {group[id]} was reopened", fixed={"status": "in_progress"}, group="id",
    ),
    "depend": Act(
        "group depend", "Add a dependency",
        "The group waits until the other one is completed.",
        "Group {group[id]} depends on {on} now", ("on", "reason"), group="id",
    ),
    "undepend": Act(
        "group undepend", "Drop a dependency",
        "The group no longer waits for the other one, which has to be cancelled or deferred.",
        "Group {group[id]} no longer depends on {on}", ("on", "reason"),
        group="id",
    ),
    "unblock": Act(
        "blocker resolve", "Lift a blocker",
        "The blocker is resolved with your reason. Work goes on once the group has no other one.",
        "Blocker {blocker[id]} was lifted", ("id", "reason"),
        who="The roles that the blocker names, or a person; a hard blocker only a person.",
    ),
    "set-criterion": Act(
        "criterion set", "Record a criterion's result",
        "The next verdict counts the result. A criterion that a number or command decides cannot be set to met by"
        " hand.",
        "Criterion {criterion[id]} is {criterion[status]} now", ("id", "status", "actual", "evidence", "reason"), (),
    ),
    "approve-criterion": Act(
        "criterion approve", "Allow a criterion's command",
        "The validator may run this command in the project's folder from now on.",
        "The command of criterion {criterion[id]} is allowed", ("id", "reason"), (),
        who=PERSON_ONLY,
    ),
}  # fmt: skip
"""By the last part of their address."""
BACK = "back"
"""The form's field that holds where it was opened from."""
ASKED = "Nobody was started: it has been tried too often, and question {question_id} waits for a person"
"""What has happened where the rules ask a person in place of what was asked for."""
TURN = "turn"
"""The form's field that holds the turn whose agent the page showed."""
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
    given = {"id": id or "", "on": on or "", BACK: request.headers.get("referer", "")}
    return _page(request, session, _act(name), name, group, typed={each: text for each, text in given.items() if text})


@router.post("/{name}")
def do(request: Request, session: str, name: str, fields: Fields, serving: Serving, caller: Writing) -> Response:
    """Do it, and go back to where its form was opened from; a verdict is shown."""
    act, group = _act(name), fields.get("group") or None

    def done() -> Done:
        with serving.called(caller) as context:
            context.credential = caller.credential
            if name == "redispatch" and fields.get(TURN):
                _require_turn(context, session, group, fields[TURN])
            # Last, so that no field of a form names somebody else (HTTP-16).
            asked = _asked(act, session, group, fields) | {"by": caller.person}
            found = operations.call(context, act.words, **arguments.bind(act.words, asked))
        said = (ASKED if found.get("action") == "pause_for_user" else act.done).format_map({**asked, **found})
        back = _back(session, name, group, fields.get(BACK, ""))
        place = f"{_place(session)}/verdict" if name == "validate" else back
        return Done(place, f"{said}{form_handlers.called(found)}.")

    def page(status: int, problem: dict[str, Any], typed: dict[str, str]) -> Response:
        shown = {each: text for each, text in fields.items() if each in (*act.fields, BACK)}
        return _page(request, session, act, name, group, status=status, problem=problem, typed=shown)

    return form_handlers.tried(request, fields, form_handlers.once(request, fields, done), page)


def _require_turn(context: Context, session: str, group: str | None, seen: str) -> None:
    """Refuse to start an agent again whom the page did not show: the group may have gone on since it was opened.

    Raises:
        Refused: STALE_TURN, UNKNOWN_GROUP.
    """
    bound = arguments.bind("group show", {"id": group, "session_id": session})
    awaited = operations.call(context, "group show", **bound)["group"]["awaited"]
    if awaited is not None and str(awaited["turn"]) != seen:
        what = f"Group {group} has gone on since this page was opened; it waits for {words(awaited['role'])} now."
        raise Refused("STALE_TURN", what, "Check whom the page shows now, then send it again")


def _place(session: str) -> str:
    return f"/sessions/{segment(session)}"


def _back(session: str, name: str, group: str | None, named: str) -> str:
    """Where an act leads back to: a page of its session that its form was opened from, or that of what it is about.

    Args:
        named: the address that the browser gave; only a path and query below the session's are taken of it.
    """
    place, found = _place(session), _split(named)
    if found.path == place or (found.path.startswith(f"{place}/") and not found.path.startswith(f"{place}/do/")):
        return f"{found.path}?{found.query}" if found.query else found.path
    return f"{place}/groups/{segment(group)}" if group else f"{place}/tasks" if "criterion" in name else place


def _split(address: str) -> SplitResult:
    """The parts of an address; none of one that a browser could not have opened."""
    try:
        return urlsplit(address)
    except ValueError:
        return urlsplit("")


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
        named = _named(look, session, act, group, typed.get("id", ""))
        known = operations.find(act.words).parameters()
        fields = [_field(known[each], is_needed=each in act.needed, is_shown=each != "id" or not named)
                  for each in act.fields]  # fmt: skip
        group = group or (named["blocker"]["group_id"] if "blocker" in named else None)
        shown = {**act._asdict(), "name": name, "fields": fields, "group": group}
        back = _back(session, name, group, typed.get(BACK, ""))
        return look.page("do.html", status, title=act.title, act=shown, session=about, named=named, back=back,
                         barred=_barred(name, about, named), typed=typed, problem=problem)  # fmt: skip


def _named(look: Look, session: str, act: Act, group: str | None, id: str) -> dict[str, Any]:
    """What an act is about, with what is known of it: a `group`, `blocker` or `criterion`; empty where none is named.

    Raises:
        Refused: UNKNOWN_GROUP.
    """
    if group is not None and act.group:
        return {"group": look.ask("group show", id=group, session_id=session)["group"]}
    if act.words == "blocker resolve" and id:
        # One that is not there is typed anew.
        with contextlib.suppress(Refused):
            return {"blocker": look.ask("blocker show", id=id, session_id=session)["blocker"]}
    if act.words in ("criterion set", "criterion approve") and id:
        known = criteria_views.criterion(look.context, session_id=session, id=id)
        return {"criterion": known} if known else {}
    return {}


def _barred(name: str, session: dict[str, Any], named: dict[str, Any]) -> str:
    """Why an act has no form now; empty where it has one."""
    if session["status"] == "ended":
        return "The session has ended, so nothing of it can be changed."
    if (name, session["status"]) in (("pause", "paused"), ("resume", "active")):
        return f"The session is {session['status']} already."
    if named.get("blocker", {}).get("resolved_at"):
        return "The blocker was lifted already."
    return ""


def _field(parameter: Parameter, *, is_needed: bool, is_shown: bool) -> dict[str, Any]:
    """How a form asks for a parameter, or only sends it."""
    field, name = parameter.field, parameter.name
    kind = "flag" if bool in parameter.kinds else "choice" if field.choices else "number" if field.span else (
        "area" if field.reading == TEXT and name != "name" else "line"
    )
    default = "" if field.default in (REQUIRED, None, ()) else field.default
    return {
        "kind": kind if is_shown else "hidden", "name": name,
        "label": _LABELS.get(name, name.replace("_", " ").capitalize()),
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
