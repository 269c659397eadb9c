"""Pages made of templates: everything is escaped, every secret masked, and what is missing is an error.

A page names the newest event that it shows, so that its script hears of all that happens later.
"""

from __future__ import annotations

import contextlib
import hashlib
import pathlib
import re
from collections.abc import Iterator
from datetime import datetime
from http import HTTPStatus
from typing import Any
from urllib.parse import quote, urlencode

import jinja2
from fastapi import Request
from markupsafe import Markup, escape
from starlette.responses import HTMLResponse, Response

from orchestrator.app.audit import event_feed
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.app.questions import inbox
from orchestrator.app.running import run_list_views
from orchestrator.app.running.requests import MAX_TEXT
from orchestrator.core import completion_wording, control_characters, masking, questions
from orchestrator.core.routing.facts import PERSON
from orchestrator.core.suggestions import elsewhere
from orchestrator.doors.web import assets, authentication, idempotent_forms
from orchestrator.doors.web.access import VISIT_S
from orchestrator.doors.web.api_reads import answer
from orchestrator.doors.web.shared_refresh import KNOWN

MOST_WAITING = 99
"""Open questions that the navigation counts."""

_AS_GIVEN = frozenset(("typed", "projects"))
"""What a page shows with its places: what somebody typed into it, and which folders are registered."""
_FOLDER = pathlib.Path(__file__).resolve().parent / "templates"
_MOMENT = re.compile(r"\b\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z")
_KANA = re.compile("[\u3040-\u30ff]")
_TONES = {
    "good": "completed complete accept accepted met approved merged yes ok",
    "work": "running active in_progress reserved driving limited resting elsewhere",
    "here": "person_awaited awaiting_response paused review clarification budget reply confirmation continuation",
    "bad": "incomplete overdue warning soft reject rejected aborted stopping",
    "stop": "stalled error failed lost hard blocked unmet refusal",
}
_TONE_OF = {word: tone for tone, words in _TONES.items() for word in words.split()}


def when(text: str | None) -> Markup:
    """A time as people read it, in an element that says it exactly; a text that is no time as it is."""
    try:
        moment = datetime.fromisoformat(text or "")
    except ValueError:
        return escape(control_characters.on_a_page(text or ""))
    return Markup('<time datetime="{}">{}</time>').format(text, _day_and_time(moment))


def _day_and_time(moment: datetime) -> str:
    return f"{moment.day} {moment:%b %Y, %H:%M} UTC"


def moments(text: str) -> str:
    """A sentence with its times as people read them."""
    return _MOMENT.sub(lambda found: _day_and_time(datetime.fromisoformat(found.group())), text)


def scale(texts: list[str]) -> list[str]:
    """The moments of an axis: with seconds where two hours hold them, with the day and year where these differ."""
    found = [datetime.fromisoformat(each) for each in texts]
    first, last = found[0], found[-1]
    clock = "%H:%M:%S UTC" if (last - first).total_seconds() < _SECONDS_TOLD_S else "%H:%M UTC"
    day = "" if first.date() == last.date() else "%b, " if first.year == last.year else "%b %Y, "
    return [f"{each.day} {each.strftime(day + clock)}" if day else each.strftime(clock) for each in found]


_SECONDS_TOLD_S = 2 * 3600


def tone(word: str) -> str:
    """The colour that goes with a state, status, level or kind."""
    return _TONE_OF.get(word.lower(), "plain")


def short(text: str) -> str:
    """A text as the title of a window: on one line, 80 characters at most."""
    said = " ".join(text.split())
    return said if len(said) <= _TITLE else f"{said[: _TITLE - 1]}…"


def is_long(text: str) -> bool:
    """Whether a text as the title of its page would be cut, so that it is shown whole below."""
    return len(text) > _HEADING or "\n" in text.strip()


_TITLE, _HEADING = 80, 160


def words(name: str) -> str:
    """A name of the record as words."""
    return name.replace("_", " ")


def doubt(name: str) -> str:
    """Why a completed group is not proven, as words."""
    return completion_wording.DOUBTS[name]


def role(name: str) -> str:
    """A role as words; that of people is nobody's in particular."""
    return "a person" if name == PERSON else words(name)


def fate(file: dict[str, Any]) -> str:
    """What became of a file of a task, in words; nothing where it is there and did not change."""
    change: str = file["change"] or ""
    if file["exists"] or change == "deleted":
        return change
    return f"{change}, gone since" if change else "not found"


def tongue(text: str) -> Markup:
    """The attribute that tells of Japanese text, whose letters other languages draw in other ways."""
    return Markup(' lang="ja"') if _KANA.search(text) else Markup()


def segment(text: str) -> str:
    """A text as one part of a path."""
    return quote(text, safe=":@")


def by_button(question: dict[str, Any]) -> bool:
    """Whether yes and no answer a question."""
    return questions.YES in questions.decisions(question["kind"], question["text"])


def asis(text: str) -> Markup:
    """A text of a form as it was typed: there, what is spelt out would be sent so."""
    return escape(text)


def _visible(value: Any) -> Any:
    """What a page shows of a value; a part of a page has been through this.

    Raises:
        TypeError: the value is a macro, whose name has hidden that of what was meant.
    """
    if isinstance(value, jinja2.runtime.Macro):
        raise TypeError(f"{value.name} is a macro")
    return control_characters.on_a_page(value) if isinstance(value, str) and not isinstance(value, Markup) else value


_MARKS = re.compile(r'name="once" value="[^"]*"')


def region(id: str, body: Markup, tag: str = "div", more: str = "") -> Markup:
    """A part of a page that changes while it is open, with a mark of what it holds; `shared_refresh` finds it again.

    Args:
        more: further attributes.
    """
    # Each form that begins something has another mark each time it is drawn; that changes nothing.
    mark = hashlib.sha256(_MARKS.sub("", body).encode()).hexdigest()[:16]
    head = Markup('<{} id="{}"{} data-live="{}">').format(Markup(tag), id, Markup(more), mark)  # noqa: S704 - our templates'
    return head + body + Markup("</{}><!--{}-->").format(Markup(tag), id)  # noqa: S704 - our templates'


def _environment() -> jinja2.Environment:
    made = jinja2.Environment(
        loader=jinja2.FileSystemLoader(_FOLDER), autoescape=True, undefined=jinja2.StrictUndefined,
        trim_blocks=True, lstrip_blocks=True, auto_reload=False, finalize=_visible,
    )  # fmt: skip
    filters = (when, moments, scale, short, is_long, asis, tone, words, doubt, role, fate, tongue, segment, by_button)
    made.filters |= {each.__name__: each for each in filters}
    made.globals |= {"asset": assets.address, "form_mark": idempotent_forms.mark, "region": region}
    made.globals |= {"max_text": MAX_TEXT, "limit": f"{MAX_TEXT:,}"}
    return made


_TEMPLATES = _environment()


class Look:
    """What a page is made from: the database at one moment, and who looks.

    Args:
        session: the page changes with events of this session alone.
    """

    def __init__(self, request: Request, context: Context, session: str | None = None) -> None:
        self._request = request
        self._session = session
        self.context = context
        # Before anything else is read: what happens meanwhile is told again.
        self._number = event_feed.last(context)

    def ask(self, operation: str, **given: Any) -> Answer:
        """What an operation answers; `page` masks the secrets in it, together with all else that it shows."""
        return answer(self.context, operation, **given)

    def page(self, template: str, status: int = 200, **data: Any) -> Response:
        """The page of a template, without the places of what it shows."""
        found = inbox.inbox(self.context, limit=MOST_WAITING)
        asked = {"after": self._number, **({"session_id": self._session} if self._session else {})}
        data["waiting"] = f"{len(found['questions'])}{'+' if found['has_more'] else ''}"
        # A page that gives back what was typed stays as it is: drawn anew it would have lost that.
        events = f"/api/events?{urlencode(asked)}" if status == HTTPStatus.OK else None
        told = {name: data[name] for name in data.keys() - _AS_GIVEN}
        shown = run_list_views.with_places(self.context, self._session, told)
        return render(self._request, template, status, events=events, **{**data, **shown})


@contextlib.contextmanager
def looking(request: Request, session: str | None = None) -> Iterator[Look]:
    """A look at the database."""
    with authentication.service(request).pool.lent() as context:
        yield Look(request, context, session)


def _notice(request: Request, status: int) -> str:
    """What the act that led to a page did; an open page that asks again takes it from nobody."""
    if request.method != "GET" or status != HTTPStatus.OK or KNOWN in request.headers:
        return ""
    found = authentication.access(request).take_notice(authentication.cookie(request), request.scope["path"])
    return found or ""


def render(request: Request, template: str, status: int = 200, **data: Any) -> Response:
    """Render a template.

    Args:
        data: JSON-like values, which are masked; a picture as `Markup` is taken as it is.
    """
    visit = authentication.visit(request)
    pictures = {name: value for name, value in data.items() if isinstance(value, Markup)}
    told = {name: value for name, value in data.items() if name not in pictures}
    known = {
        "events": None, "waiting": "0", "problem": None, "typed": {}, **masking.mask_value(elsewhere(told)), **pictures,
        "person": masking.mask(visit.person) if visit else None,
        "csrf": visit.csrf if visit else "",
        "base": f"{request.url.scheme}://{request.url.netloc}",
        "ended": visit is None and bool(authentication.cookie(request)),
        "closed": not authentication.access(request).reading,
        "hours": VISIT_S // 3600,
        "did": masking.mask(elsewhere(_notice(request, status))),
        "path": request.url.path,
        "query": request.url.query,
    }  # fmt: skip
    return HTMLResponse(_TEMPLATES.get_template(template).render(known), status)
