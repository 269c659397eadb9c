"""The pages of one session: a first screen that says whom it awaits and what is stuck, and a tab for each question.

Each tab has an address of its own and reads one page of rows. Looking changes nothing.
"""

from __future__ import annotations

import re
from contextlib import closing
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from markupsafe import Markup
from starlette.responses import Response

from orchestrator.app import projects
from orchestrator.app.audit import evidence_list, export_session, swimlanes
from orchestrator.app.questions import inbox
from orchestrator.app.running import live_output, run_list_views
from orchestrator.app.session import board, dependency_views
from orchestrator.app.verdict import finding_runs, verdicts
from orchestrator.app.workflow import workflows
from orchestrator.core import control_characters, dependency_picture, lane_picture, masking
from orchestrator.core.dependency_picture import Box
from orchestrator.core.running import states
from orchestrator.core.suggestions import elsewhere
from orchestrator.core.workflow import svg_style
from orchestrator.doors.web import finding_links, person_acts, session_activity
from orchestrator.doors.web.authentication import Reading
from orchestrator.doors.web.rendering import Look, looking, segment

router = APIRouter(include_in_schema=False, prefix="/sessions/{session}")

DECISIONS, STEPS, LANES, TASKS, CRITERIA, EVIDENCE, CHAT_DECISIONS, FINDINGS = 25, 25, 50, 100, 100, 50, 12, 50
"""How many of each are on a page."""
ZOOMS = (1, 2, 4, 8, 16, 32)
"""Into how many parts a time may be cut."""
FULL_SIZE = 100
SIZES = (0, FULL_SIZE, 150, 200)
"""Sizes of a graph in percent; 0 is fitted to the page."""
_SIZE = re.compile(' width="([0-9.]+)" height="([0-9.]+)"')
_NO_NAME = re.compile(r"[^\w.-]", re.ASCII)
BAR = 100.0
"""Units of a progress bar's length."""
_DEFERRED = "deferred_external"
_SHOWN = ("completed", "in_progress", "pending", _DEFERRED, "cancelled")

Step = Annotated[int | None, Query(ge=0, le=2**53)]
Word = Annotated[str, Query(max_length=300)]
Name = Annotated[str | None, Query(max_length=300)]
Number = Annotated[int, Query(ge=1, le=10**6)]
Percent = Annotated[int, Query(ge=0, le=10**6)]


def _page(request: Request, look: Look, id: str, template: str, tab: str, /, **data: Any) -> Response:
    """A tab below the session's first screen."""
    head = board.head(look.context, session_id=id)
    shown = {"title": f"Session {id}", "head": head, "tab": tab, "bar": _bar(head["counts"]), **data}
    driver = session_activity.driver(request.app.state.autopilot, id, head)
    menu = person_acts.menu(person_acts.OF_SESSION, head["session"])
    return look.page(template, **shown, driver=driver, menu=menu)


def _bar(counts: dict[str, Any]) -> list[dict[str, Any]]:
    """The parts of the progress bar, with where each begins and how long it is."""
    parts, start = [], 0.0
    for status in _SHOWN:
        number = counts["by_status"].get(status, 0)
        length = BAR * number / counts["groups"] if number else 0.0
        if number:
            parts.append({"status": status, "groups": number, "start": round(start, 2), "length": round(length, 2)})
        start += length
    return parts


@router.get("")
def show_session(
    request: Request, session: str, caller: Reading, state: Word = board.ALL, role: Name = None, text: Word = "",
    sort: Word = board.SORTS[0], page: Number = 1,
) -> Response:  # fmt: skip
    """A session with the board of its groups; a chat with its tasks."""
    with looking(request, session) as look:
        if look.ask("session show", id=session)["session"]["kind"] == "chat":
            return _chat(request, look, session)
        asked = {"state": state, "role": role or None, "text": text.strip(), "sort": sort}
        found = board.board(look.context, session_id=session, **asked, page=page)  # type: ignore[arg-type]
        return _page(
            request, look, session, "board.html", "board", board=found, asked=asked, sorts=board.SORTS,
            roles=[each["role"] for each in board.counts(look.context, session_id=session)["working"]],
        )


def _chat(request: Request, look: Look, session: str) -> Response:
    """The tasks of a chat, and the project in which something more may be said."""
    found = look.ask("status", session_id=session)
    tasks, root = run_list_views.listed(look.context, session)
    place = [each._asdict() for each in projects.listed(look.context) if each.path == root]
    under_way = [each for each in tasks if each["status"] in (states.RUNNING.upper(), states.QUEUED.upper())]
    named: dict[str, Any] = {"session_id": session, "order": "desc"}
    return look.page(
        "chat.html", title=f"Session {session}", found=found, tasks=tasks, under_way=under_way,
        project=place[0] if place else None, **drawn_way(look, session, empty=False),
        steps=look.ask("audit timeline", limit=STEPS, **named),
        blockers=look.ask("blocker list", session_id=session, open=True, limit=100)["blockers"],
        decisions=look.ask("audit decisions", limit=CHAT_DECISIONS, **named)["decisions"],
    )  # fmt: skip


def drawn_way(
    look: Look, session: str, group: str | None = None, *, empty: bool = True, whole: bool = False
) -> dict[str, Any]:
    """The way through the workflow, with the position of a session or of one group.

    Args:
        empty: it is drawn also where nothing stands in it.
        whole: what was never reported is drawn as well.

    Returns:
        `picture`: the drawing, whose style is in our style sheet; `ladder`: the same from top to bottom.
    """
    found = workflows.way_gone(look.context, session_id=session, group_id=group, whole=whole)
    # A picture goes onto the page as it is.
    told = run_list_views.with_places(look.context, session, found["graph"])
    drawn = masking.mask(elsewhere(told)) if empty or found["positions"] else ""
    plain = control_characters.on_a_page(drawn).replace(f"<style>{svg_style.STYLE}</style>", "")
    return {"picture": Markup(plain), "ladder": found["ladder"]}  # noqa: S704 - made and escaped by us


@router.get("/time")
def show_time(
    request: Request, session: str, caller: Reading, since: Step = None, zoom: Number = 1,
    at: Annotated[int, Query(ge=0, le=10**6)] = 0,
) -> Response:  # fmt: skip
    """The swimlanes of a session: a lane a group, a bar a turn."""
    with looking(request, session) as look:
        found = swimlanes.swimlanes(look.context, session_id=session, limit=LANES, since=since)
        found = masking.mask_value(elsewhere(run_list_views.with_places(look.context, session, found)))
        parts = min((each for each in ZOOMS if each >= zoom), default=ZOOMS[-1])
        place = min(at, parts - 1)
        shown = lane_picture.part(lane_picture.window(found["start"], found["end"]), parts, place)
        base = f"/sessions/{segment(session)}"
        for lane in found["lanes"]:
            drawn = control_characters.on_a_page(lane_picture.svg(lane, shown, base))
            lane["drawn"] = Markup(drawn)  # noqa: S704 - made and escaped by us
        data = {"lanes": found, "zoom": parts, "at": place, "zooms": ZOOMS}
        data |= {"moments": lane_picture.moments(shown), "roles": lane_picture.ROLES}
        return _page(request, look, session, "time.html", "time", **data, since=since)


@router.get("/graph")
def show_graph(request: Request, session: str, caller: Reading, whole: bool = False, size: Percent = 0) -> Response:
    """The way that the work went through the workflow, fitted to the page, and what groups depend on."""
    with looking(request, session) as look:
        chosen = min((each for each in SIZES if each >= size), default=SIZES[-1])
        way = drawn_way(look, session, whole=whole)
        way["picture"] = _sized(way["picture"], chosen)
        found = dependency_views.of_groups(look.context, session_id=session)
        waits = _sized(_dependencies(look, session, "groups", found), chosen)
        return _page(request, look, session, "graph.html", "graph", **way, whole=whole, size=chosen, sizes=SIZES,
                     dependencies=found, drawn=waits)  # fmt: skip


def _sized(drawn: Markup, size: int) -> Markup:
    """A picture at a part of its own size, in percent; at 0, which is fitted to the page, as it is."""
    if size in (0, FULL_SIZE):
        return drawn

    def larger(found: re.Match[str]) -> str:
        width, height = (round(float(each) * size / FULL_SIZE) for each in found.groups())
        return f' width="{width}" height="{height}"'

    return Markup(_SIZE.sub(larger, drawn, count=1))  # noqa: S704 - made and escaped by us


@router.get("/decisions")
def show_decisions(
    request: Request, session: str, caller: Reading, group: Name = None, until: Step = None
) -> Response:
    """Who was sent where, by which rule, the newest first."""
    with looking(request, session) as look:
        found = look.ask(
            "audit decisions", session_id=session, group_id=group or None, order="desc", limit=DECISIONS, until=until
        )
        return _page(request, look, session, "decisions.html", "decisions", found=found, only=group, until=until)


@router.get("/decisions/{id}")
def show_decision(request: Request, session: str, id: str, caller: Reading) -> Response:
    """Why one decision was made: report, rule, decision, what follows."""
    with looking(request, session) as look:
        found = look.ask("why", id=f"{session}:{id}")
        return _page(request, look, session, "why.html", "decisions", why=found)


@router.get("/steps")
def show_steps(request: Request, session: str, caller: Reading, until: Step = None) -> Response:
    """All that happened, the newest first."""
    with looking(request, session) as look:
        found = look.ask("audit timeline", session_id=session, order="desc", limit=STEPS, until=until)
        return _page(request, look, session, "steps.html", "steps", steps=found, older=until is not None)


@router.get("/runs")
def show_runs(request: Request, session: str, caller: Reading) -> Response:
    """Who is at work, with what, since when; what it has cost; what was reported and what was seen."""
    with looking(request, session) as look:
        work = session_activity.of_session(look, session)
        tasks, _ = run_list_views.listed(look.context, session)
        return _page(request, look, session, "runs.html", "runs", work=work, tasks=tasks)


@router.get("/tasks")
def show_tasks(request: Request, session: str, caller: Reading, since: Step = None) -> Response:
    """The criteria by which the session is judged, and the tasks of its groups."""
    with looking(request, session) as look:
        tasks = look.ask("task list", session_id=session, limit=TASKS, since=since)
        criteria = look.ask("criterion list", session_id=session, limit=CRITERIA)["criteria"]
        found = dependency_views.of_tasks(look.context, session_id=session)
        drawn = _dependencies(look, session, "tasks", found)
        return _page(request, look, session, "tasks.html", "tasks", tasks=tasks, criteria=criteria,
                     dependencies=found, drawn=drawn)  # fmt: skip


def _dependencies(look: Look, session: str, named: str, found: dict[str, Any]) -> Markup:
    """What the tasks or groups of a session depend on; nothing where none depends on another."""
    if not found[named]:
        return Markup()
    rows = masking.mask_value(elsewhere(run_list_views.with_places(look.context, session, found[named])))
    base = f"/sessions/{segment(session)}/groups"
    boxes = tuple(
        Box(row["id"], control_characters.on_a_page(row["title"] or ""), row["status"],
            f"{base}/{segment(group)}" if (group := row.get("group_id", named == "groups" and row["id"])) else "")
        for row in rows
    )  # fmt: skip
    drawn = dependency_picture.svg(boxes, tuple(found["edges"]), named)
    return Markup(drawn)  # noqa: S704 - made and escaped by us


@router.get("/export")
def export(request: Request, session: str, caller: Reading) -> Response:
    """The session as one HTML file that needs no server, as `audit export --format html` writes it."""
    with looking(request, session) as look, closing(export_session.stream(look.context, session, "html")) as chunks:
        # As a whole: a place could lie across the border of two chunks.
        placed = run_list_views.with_places(look.context, session, b"".join(chunks).decode())
        content = elsewhere(placed).encode()
    name = f"session-{_NO_NAME.sub('-', session)}.html"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(content, headers=headers, media_type="text/html; charset=utf-8")


@router.get("/evidence")
def show_evidence(request: Request, session: str, caller: Reading, until: Step = None) -> Response:
    """What commands, gates, merges and runs left, the newest first."""
    with looking(request, session) as look:
        found = evidence_list.evidence(look.context, session_id=session, limit=EVIDENCE, until=until)
        return _page(request, look, session, "evidence.html", "evidence", found=found)


@router.get("/evidence/{seq}.{part}")
def show_evidence_content(request: Request, session: str, seq: int, part: int, caller: Reading) -> Response:
    """The content of a piece of evidence as a download, its secrets masked."""
    with looking(request, session) as look:
        text = evidence_list.content(look.context, session_id=session, seq=seq, part=part)
        shown = masking.mask(elsewhere(run_list_views.with_places(look.context, session, text)))
    headers = {"Content-Disposition": f'attachment; filename="evidence-{seq}-{part}.txt"'}
    return Response(shown.encode("utf-8", "replace"), headers=headers, media_type="text/plain; charset=utf-8")


@router.get("/verdict")
def show_verdict(request: Request, session: str, caller: Reading, anew: bool = False) -> Response:
    """The verdict that was recorded last; what the validator would say now, where there is none or it is wanted."""
    with looking(request, session) as look:
        shown = look.ask("session show", id=session)["session"]
        verdict = verdicts.newest(look.context, session)
        open_ = shown["status"] != "ended"
        if open_ and (anew or verdict is None):
            dry = look.ask("validate", session_id=session, dry_run=True)
            verdict = {"report_id": None, "at": None, "fresh": True, **dry}
        data = {"session": shown, "verdict": verdict, "open": open_, "title": f"Verdict on {session}"}
        if verdict is not None:
            data |= {"kinds": _kinds(look, session, verdict["checks"]), "verdict": {**verdict, "checks": []}}
            data["failed"] = sum(each["level"] == "error" for each in verdict["checks"])
        return _page(request, look, session, "verdict.html", "verdict", **data)


def _kinds(look: Look, session: str, checks: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The findings of a verdict by check and level, in their order; of each the first ones, and how many more."""
    kinds: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for each in checks:
        kinds.setdefault((each["id"], each["level"]), []).append(each)
    names = finding_links.names(session, checks)
    known = finding_links.Known(
        board.known(look.context, session_id=session, ids=names),
        finding_runs.runs(look.context, session_id=session, names=names),
        finding_runs.turns(look.context, session_id=session),
    )
    return [
        {"id": id, "level": level, "checks": finding_links.linked(session, known, each[:FINDINGS]),
         "more": max(len(each) - FINDINGS, 0)}
        for (id, level), each in kinds.items()
    ]  # fmt: skip


@router.get("/groups/{group}")
def show_group(request: Request, session: str, group: str, caller: Reading) -> Response:
    """A group: each part of its completion path, its place in the workflow, its blockers and its decisions."""
    with looking(request, session) as look:
        found = look.ask("group show", id=group, session_id=session)["group"]
        found["questions"] = [{**each, "report": inbox.report(look.context, each)} for each in found["questions"]]
        decisions = look.ask("audit decisions", session_id=session, group_id=group, order="desc", limit=50)
        tasks = look.ask("task list", session_id=session, group_id=group, limit=TASKS)
        told = {
            "group": found, "decisions": decisions["decisions"], "tasks": tasks["tasks"],
            "limited_until": board.limited(look.context, session, [group]).get(group),
            "deferral": board.deferral(look.context, session, group) if found["status"] == _DEFERRED else None,
        }  # fmt: skip
        about = look.ask("session show", id=session)["session"]
        return look.page(
            "group.html", title=f"Group {group}", **told,
            menu=person_acts.menu(person_acts.OF_GROUP, about) if found["kind"] != "chat" else [],
            **drawn_way(look, session, group, empty=found["kind"] != "chat"),
        )


@router.get("/handoffs/{turn}")
def show_handoff(request: Request, session: str, turn: int, caller: Reading, group: Name = None) -> Response:
    """What the agent of a turn was told, exactly as it was, and what it has written while it runs."""
    with looking(request, session) as look:
        found = look.ask("handoff", session_id=session, group_id=group or None, turn=turn)
        so_far = live_output.of_turn(look.context, session, group or None, turn)
        return look.page("handoff.html", title=f"Hand-off of turn {turn}", session=session, group=group, turn=turn,
                         found=found, so_far=so_far)  # fmt: skip
