"""Coming in by a one-time link, and leaving. Looking at the link uses nothing up; the button on its page does.

There are the server's own links, which it prints at a terminal, and those of `orchestrator human link`, which stand in
the database. Where a passphrase or SSH key is enrolled the page asks for it, unless the link was made by one.
"""

from __future__ import annotations

import contextlib
from typing import Any

from fastapi import APIRouter, Request
from starlette.responses import RedirectResponse, Response

from orchestrator.app.kernel import credentials, human
from orchestrator.app.kernel.context import Context
from orchestrator.app.kernel.human import Credential
from orchestrator.app.people import enrolment, person_proof
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.doors.web import authentication, rendering
from orchestrator.doors.web.access import VISIT_S
from orchestrator.doors.web.authentication import Fields, Serving, Writing
from orchestrator.doors.web.failures import Denied

router = APIRouter(include_in_schema=False)

WRONG_TOKEN = "This is not the server's token. You are not signed in; the link still works."  # noqa: S105 - a sentence
UNPROVEN = "You are not signed in: {why}. The link still works."


class Door(NamedTuple):
    """A link that is good now: whom it lets in (None: whoever is chosen), and what of them it asks to be proven.

    made: a link of `human link`. asked: the passphrases and keys of which one has to be shown; None where nothing is.
    """

    person: str | None
    made: credentials.Link | None
    asked: list[credentials.Strong] | None


def _door(request: Request, context: Context, code: str) -> Door:
    """What a link opens.

    Raises:
        Denied: 404, it is none; 410, it was used up or has ended.
    """
    access = authentication.access(request)
    strong = credentials.strong(context)
    if access.is_link(code):
        return Door(None, None, strong or None)
    made = credentials.link(context, code)
    if made is None and not access.was_link(code):
        what = "This link does not belong to this running server; create one: orchestrator human link"
        raise Denied(404, "LINK_UNKNOWN", what)
    if made is None or not made.is_good:
        raise Denied(410, "LINK_USED", "This link has been used or has expired; create another: orchestrator human"
            " link")
    rests = made.rests_on is not None and any(each.id == made.rests_on for each in strong)
    return Door(made.agent, made, None if rests or not strong else strong)


@router.get("/open/{code}")
def show(request: Request, code: str, serving: Serving) -> Response:
    """What the link would do."""
    with serving.pool.lent() as context:
        return _page(request, context, code, _door(request, context, code))


def _page(request: Request, context: Context, code: str, door: Door, status: int = 200, **more: Any) -> Response:
    """The page of the link; `more` may hold a `problem`."""
    access = authentication.access(request)
    people = human.people(context)
    kinds = {each.kind for each in door.asked or ()}
    text = None
    if human.SSH_KEY in kinds:
        text = access.challenge(code, person_proof.challenge("open a page of the server"))
    known = {
        "title": "Come in", "people": [each for each in people if door.person in (None, each)],
        "asks": not access.reading, "passphrase": human.PASSPHRASE in kinds, "challenge": text,
        "namespace": person_proof.NAMESPACE,
    }
    return rendering.render(request, "open.html", status, **known, **more)


@router.post("/open/{code}")
def enter(request: Request, code: str, fields: Fields, serving: Serving) -> Response:
    """Use the link up; from then on the browser is that person's. Beyond loopback that takes the token as well."""
    authentication.require_own_page(request)
    person, access = fields.get("person", ""), authentication.access(request)
    with serving.pool.lent(write=True) as context:
        if person not in human.people(context):
            raise Denied(400, "UNKNOWN_AGENT", "Choose who you are: one of the registered people.")
        door = _door(request, context, code)
        if door.person not in (None, person):
            raise Denied(403, "NOT_PERMITTED", "This link is for another person.")
        if not (access.reading or access.is_token(fields.get("token", "").strip())):
            return _refused(request, context, code, door, WRONG_TOKEN)
        proof = None if door.asked is None else _proven(request, context, code, person, door.asked, fields)
        if proof is not None and proof.fault is not None:
            return _refused(request, context, code, door, UNPROVEN.format(why=human.why(proof.fault)))
        # Used up only after every other check, so that a mistake costs nobody the link.
        used = _used(access, context, code, person, door, proof)
    if used is None:
        raise Denied(410, "LINK_USED", "This link has been used; create another: orchestrator human link")
    return _let_in(request, used)


def _refused(request: Request, context: Context, code: str, door: Door, message: str) -> Response:
    problem = {"status": 401, "code": "UNAUTHENTICATED", "message": message}
    return _page(request, context, code, door, 401, problem=problem)


def _proven(
    request: Request, context: Context, code: str, person: str, asked: list[credentials.Strong], fields: Any
) -> Credential:
    """What the passphrase or the signature of a form proves of a person."""
    known = [each for each in asked if each.agent == person]
    if not known:
        return Credential(human.PASSPHRASE, fault="not_enrolled")
    if fields.get("signature", "").strip():
        text = authentication.access(request).end_challenge(code)
        if text is None:
            return Credential(human.SSH_KEY, fault="signature")
        return person_proof.signature(context, text, fields["signature"], known)
    return person_proof.passphrase(context, fields.get("passphrase", ""), known)


def _used(access: Any, context: Context, code: str, person: str, door: Door, proof: Credential | None) -> Any:
    """The visit that a link begins; None where somebody was faster."""
    if door.made is None:
        return access.use_link(code, person, proof)
    found = enrolment.use_link(context, code)
    return None if found is None else access.admit(person, proof or found)


def _let_in(request: Request, used: Any) -> Response:
    access = authentication.access(request)
    # The new cookie replaces that of the visit before, which nobody could end any more.
    access.leave(authentication.cookie(request))
    with contextlib.suppress(OSError):
        request.app.state.link_used()
    answer = RedirectResponse("/", 303)
    answer.set_cookie(
        access.cookie, used[0], max_age=VISIT_S, path="/", httponly=True, samesite="strict",
        secure=request.url.scheme == "https",
    )  # fmt: skip
    return answer


@router.get("/leave")
def show_inbox() -> Response:
    """The inbox, where a browser opens the address again to which its form was sent."""
    return RedirectResponse("/", 303)


@router.post("/leave")
def leave(request: Request, fields: Fields, caller: Writing) -> Response:
    """End the visit."""
    access = authentication.access(request)
    access.leave(authentication.cookie(request))
    answer = RedirectResponse("/", 303)
    answer.delete_cookie(access.cookie, path="/", httponly=True, samesite="strict")
    return answer
