"""A session as one HTML file for an auditor: it needs no server, no network and no script.

What may be long is written part by part. What looks like a secret is masked, as in every export.

Source: spec 50, section 3; spec 60, section 3 (pages).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial

from orchestrator.app.audit import audit_log, event_sentences, swimlanes
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.reports import handoffs
from orchestrator.app.session import board
from orchestrator.app.verdict import verdicts
from orchestrator.core import control_characters, lane_picture
from orchestrator.core import session_page as page
from orchestrator.core.suggestions import suggest
from orchestrator.hints import Any
from orchestrator.store import event_stream, queries, snapshot
from orchestrator.store.queries import Row

PAGE = 500
"""Steps that are read at a time."""
TEXTS = 8 * 1024 * 1024
"""Characters of hand-offs that the file holds; of later ones it says how to print them."""
SECTIONS = (
    ("verdict", "Verdict"), ("board", "Groups"), ("lanes", "Turns over time"), ("decisions", "Decisions"),
    ("blockers", "Blockers"), ("questions", "Questions to people"), ("criteria", "Criteria"), ("evidence", "Evidence"),
    ("handoffs", "Hand-offs"), ("timeline", "Timeline"), ("head", "Audit head"),
)  # fmt: skip
_WORKFLOW = "SELECT id, name, hash FROM workflow_versions WHERE id = :id"
_SAID = """SELECT id, agent_id, summary FROM agent_reports
    WHERE session_id = :session AND seq >= :first AND seq <= :last"""
_HANDOFFS = """SELECT h.turn, h.group_id, h.agent_id, h.hash FROM handoffs h
    WHERE h.session_id = :session ORDER BY h.turn, h.group_id"""
_LAST = "SELECT at FROM audit_events WHERE session_id = :session ORDER BY seq DESC LIMIT 1"
_CRITERIA = """SELECT id, text, status, metric || ' ' || operator || ' ' || target AS aim, actual, set_by, reason,
        evidence FROM criteria WHERE session_id = :session AND removed_seq IS NULL ORDER BY created_seq, id"""
_EVIDENCE = """SELECT id, group_id, kind, subject, outcome, size, hash, path FROM evidence
    WHERE session_id = :session ORDER BY seq, part"""

Hide = Callable[[str], str]
_HERE = "#"
"""The base of links within the file."""


def parts(context: Context, session_id: str, hide: Hide) -> Iterator[str]:
    """The file, part by part.

    Args:
        hide: masks a text.
    """
    yield from _Page(context, session_id, hide).parts()


class _Page:
    """One session as a page."""

    def __init__(self, context: Context, session_id: str, hide: Hide) -> None:
        self._context = context
        self._id = session_id
        self._hide = hide
        self._session: Row = queries.row(context.reader, queries.SESSION, session=session_id) or {}
        self._turns = list(self._every(partial(swimlanes.swimlanes, limit=swimlanes.MOST, every=True)))

    def parts(self) -> Iterator[str]:
        """All sections, in their order."""
        yield page.head(f"Session {self._id}")
        yield self._summary()
        yield page.navigation(SECTIONS)
        for id_, title in SECTIONS:
            yield page.section(id_, title)
            yield from getattr(self, f"_{id_}")()
        yield page.END

    def _every(self, ask: Callable[..., Answer]) -> Iterator[Answer]:
        """The pages of a list, one after the other."""
        since: int | None = None
        while True:
            found = ask(self._context, session_id=self._id, since=since)
            yield found
            if not found["has_more"]:
                return
            since = found["next_since"]

    def _shown(self, value: object) -> object:
        return self._hide(value) if isinstance(value, str) else value

    def _row(self, *cells: object) -> list[object]:
        return [self._shown(cell) for cell in cells]

    def _summary(self) -> str:
        session = self._session
        workflow = queries.row(self._context.reader, _WORKFLOW, id=session["workflow_version_id"]) or {}
        return page.fields((
            ("Goal", self._shown(session["goal"]) or None),
            ("State", f"{session['status']}{', ' + session['outcome'] if session['outcome'] else ''}"),
            ("Began", page.when(session["created_at"])),
            ("Ended", page.when(session["status_changed_at"]) if session["status"] == "ended" else None),
            ("Mode", f"{session['mode']}, testing {session['testing_mode']}"),
            ("Workflow", f"version {workflow.get('id')} ({workflow.get('name')}), {workflow.get('hash')}"),
            ("Awaits", session["awaited_role"]),
            ("Groups", self._counted()),
        ))  # fmt: skip

    def _counted(self) -> str:
        by_status: dict[str, int] = {}
        for lane in self._groups():
            by_status[lane["status"]] = by_status.get(lane["status"], 0) + 1
        return ", ".join(f"{count} {status}" for status, count in by_status.items()) or "none"

    def _groups(self) -> Iterator[Answer]:
        return (lane for answer in self._turns for lane in answer["lanes"] if lane["group_id"] is not None)

    # Sections, each called as its id

    def _verdict(self) -> Iterator[str]:
        found = verdicts.newest(self._context, self._id)
        if found is None:
            yield '<p class="soft">No verdict was recorded.</p>\n'
            return
        mark = "good" if found["verdict"] == "ACCEPT" else "stop"
        yield f'<p><span class="{mark}">{page.text(found["verdict"])}</span>, {page.text(page.when(found["at"]))}</p>\n'
        fresh = "" if found["fresh"] else " Steps were recorded since that change what it rests on."
        yield f"<p>{page.text(self._hide(found['reason']))}{page.text(fresh)}</p>\n"
        rows = (self._row(*map(each.get, ("id", "level", "subject", "message"))) for each in found["checks"])
        yield from page.table("Checks", ("Check", "Level", "About", "What"), rows, "Every check passed.")

    def _board(self) -> Iterator[str]:
        found = board.board(self._context, session_id=self._id, limit=PAGE)
        pages = (found, *(
            board.board(self._context, session_id=self._id, limit=PAGE, page=number)
            for number in range(2, found["pages"] + 1)
        ))  # fmt: skip
        rows = (self._group(each) for answer in pages for each in answer["groups"])
        headers = ("Group", "Name", "Kind", "Status", "Awaits", "Sent back", "Open blockers", "Doubt")
        yield from page.table("Groups", headers, rows, "The session has no groups.")

    def _group(self, group: Answer) -> list[object]:
        awaited = group["awaited"] or {}
        blockers = "; ".join(f"{each['id']}: {each['reason']}" for each in group["blockers"])
        late = " (overdue)" if group["overdue"] else ""
        waits = f"{awaited['role']}, {awaited['action']}{late}" if awaited else None
        named = (group["id"], group["name"], group["kind"], group["status"])
        return self._row(*named, waits, group["rework"] or None, blockers or None, group["doubt"])

    def _lanes(self) -> Iterator[str]:
        # Up to the last step, not to now: the same record gives the same file.
        last = queries.row(self._context.reader, _LAST, session=self._id) or {}
        shown = lane_picture.window(self._turns[0]["start"], last["at"])
        yield page.legend(lane_picture.ROLES)
        yield from page.region("Turns of each group over time", self._lanes_drawn(shown))

    def _lanes_drawn(self, shown: lane_picture.Window) -> Iterator[str]:
        yield page.axis(lane_picture.moments(shown))
        yield '<ol class="turns">\n'
        without_steps = 0
        for answer in self._turns:
            for lane in answer["lanes"]:
                if lane["group_id"] and not (lane["bars"] or lane["pauses"] or lane["blocks"]):
                    without_steps += 1
                    continue
                drawn = lane_picture.svg(self._plain(lane), shown, _HERE)
                yield page.lane(str(self._shown(lane["group_id"] or "the session")), drawn)
        yield "</ol>\n"
        if without_steps:
            yield f'<p class="soft">{without_steps} group{"s" if without_steps > 1 else ""} without a step.</p>\n'

    def _plain(self, value: Any) -> Any:
        """A lane with every text in it masked, and spelt out where it is not to be seen."""
        if isinstance(value, str):
            return control_characters.on_a_page(self._hide(value))
        if isinstance(value, dict):
            return {name: self._plain(each) for name, each in value.items()}
        return [self._plain(each) for each in value] if isinstance(value, list) else value

    def _decisions(self) -> Iterator[str]:
        yield '<ol class="steps">\n'
        for answer in self._every(partial(audit_log.decisions, limit=PAGE)):
            rows = answer["decisions"]
            said = self._said(rows)
            for row in rows:
                yield self._decision(row, said.get(row["report_id"]))
        yield "</ol>\n"

    def _said(self, decisions: list[Row]) -> dict[str, Row]:
        if not decisions:
            return {}
        span = {"session": self._id, "first": decisions[0]["seq"], "last": decisions[-1]["seq"]}
        return {row["id"]: row for row in queries.rows(self._context.reader, _SAID, **span)}

    def _decision(self, row: Row, report: Row | None) -> str:
        on = f" on {row['group_id']}" if row["group_id"] else ""
        title = f"{row['id']}{on}, {page.when(row['timestamp'])}"
        why = f"Not after a report: {row['cause']}."
        if report is not None:
            summary = f": {report['summary']}" if report["summary"] else ""
            why = f"{report['agent_id']} reported {row['response_status']}{summary}"
        rules = [self._hide(f"{rule['name']}: {rule['reason']}") for rule in row["rules"]]
        given = "".join(
            page.link(_handoff_id(spawn["group_id"], row["seq"]), f"hand-off to {spawn['agent']}")
            for spawn in row["spawns"]
        )
        decided = page.text(self._hide(event_sentences.decided(row)))
        return page.step(_decision_id(row["id"]), title, self._hide(why), rules, f"Decision: {decided}{given}")

    def _blockers(self) -> Iterator[str]:
        rows = (
            self._row(each["id"], lane["group_id"], f"{each['class']} {each['type']}", each["reason"],
                      page.when(each["start"]), page.when(each["end"]) or "open")
            for answer in self._turns for lane in answer["lanes"] for each in lane["blocks"]
        )  # fmt: skip
        headers = ("Blocker", "Group", "Kind", "Reason", "Opened", "Resolved")
        yield from page.table("Blockers", headers, rows, "No blockers.")

    def _questions(self) -> Iterator[str]:
        rows = (
            self._row(each["id"], lane["group_id"], each["kind"], each["text"], page.when(each["start"]),
                      page.when(each["end"]) or "open")
            for answer in self._turns for lane in answer["lanes"] for each in lane["pauses"]
        )  # fmt: skip
        headers = ("Question", "Group", "Kind", "Text", "Asked", "Closed")
        yield from page.table("Questions to people", headers, rows, "No questions.")

    def _criteria(self) -> Iterator[str]:
        rows = (
            self._row(each["id"], each["text"], each["status"], each["aim"], each["actual"], each["set_by"],
                      each["reason"], each["evidence"])
            for each in queries.rows(self._context.reader, _CRITERIA, session=self._id)
        )  # fmt: skip
        headers = ("Criterion", "Text", "Status", "Target", "Actual", "Set by", "Reason", "Evidence")
        yield from page.table("Criteria", headers, rows, "No criteria.")

    def _evidence(self) -> Iterator[str]:
        rows = (
            self._row(each["id"], each["group_id"], each["kind"], each["subject"], each["outcome"], each["size"],
                      each["hash"], each["path"])
            for each in queries.rows(self._context.reader, _EVIDENCE, session=self._id)
        )  # fmt: skip
        headers = ("Evidence", "Group", "Kind", "About", "Outcome", "Bytes", "SHA-256", "File")
        yield from page.table("Evidence", headers, rows, "No evidence.")

    def _handoffs(self) -> Iterator[str]:
        room = TEXTS
        for row in queries.rows(self._context.reader, _HANDOFFS, session=self._id):
            group, turn = row["group_id"] or None, row["turn"]
            on = f" on {group}" if group else ""
            title = f"Turn {turn}{on}: {row['agent_id']}, SHA-256 {row['hash']}"
            content = str(suggest("handoff", group_id=group, session_id=self._id, turn=turn))
            if room > 0:
                found = handoffs.handoff(self._context, session_id=self._id, group_id=group, turn=turn)
                content = self._hide(found["markdown"])
                room -= len(content)
            else:
                content = f"Left out to keep this file small; print it with: {content}"
            yield page.folded(_handoff_id(group, turn), self._hide(title), content)
        if room == TEXTS:
            yield '<p class="soft">No hand-offs.</p>\n'

    def _timeline(self) -> Iterator[str]:
        rows = (
            self._row(event["seq"], event["at"], event["actor"], event["channel"], event["text"])
            for answer in self._every(partial(audit_log.timeline, limit=PAGE)) for event in answer["events"]
        )  # fmt: skip
        yield from page.table("Timeline", ("Step", "At", "By", "Through", "What happened"), rows, "No steps.")

    def _head(self) -> Iterator[str]:
        seq, hash_ = event_stream.heads(self._context.connection, self._id)[self._id]
        head = snapshot.head(seq, hash_)
        yield page.fields((("Head", head), ("Steps", seq)))
        command = suggest("audit verify", session_id=self._id, head=head)
        yield f"<p>To check the database against this file: <code>{page.text(command)}</code></p>\n"


def _decision_id(id_: str) -> str:
    """The id of the element of a decision: where its bar leads."""
    return lane_picture.address({"decision_id": id_}, None, _HERE).removeprefix(_HERE)


def _handoff_id(group: str | None, turn: int) -> str:
    return lane_picture.address({"decision_id": None, "turn": turn}, group, _HERE).removeprefix(_HERE)
