"""Who calls, found out for each request: what may read, what may write, and as whom."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Annotated, Any
from urllib.parse import parse_qs, urlsplit

from fastapi import Depends, Header, Request
from starlette.concurrency import run_in_threadpool

from orchestrator.app.kernel import arguments
from orchestrator.app.running.requests import MAX_TEXT
from orchestrator.app.running.web_run_service import Caller, Service
from orchestrator.core import caller_labels, names
from orchestrator.doors.web.access import Access, Visit, credential, is_form_token
from orchestrator.doors.web.failures import Denied
from orchestrator.doors.web.request_reader import refuse_kind

CSRF_HEADER = "X-CSRF-Token"
CSRF_FIELD = "csrf"
KEY_HEADER = "Idempotency-Key"


def service(request: Request) -> Service:
    """The service of the application."""
    found: Service = request.app.state.service
    return found


async def serving(request: Request) -> Service:
    """The same for endpoints, which wait for no other thread to be told of it."""
    return service(request)


def access(request: Request) -> Access:
    """What the application lets in."""
    found: Access = request.app.state.access
    return found


def visit(request: Request) -> Visit | None:
    """The visit that the request's cookie names, while it is good."""
    return access(request).visit(cookie(request))


def cookie(request: Request) -> str | None:
    """What a browser keeps of a visit to this server, also of one that has ended."""
    return request.cookies.get(access(request).cookie)


async def bearer(request: Request) -> Caller | None:
    """Who the request's token stands for, the server's own or a person's; None where it has none.

    Raises:
        Denied: 401, a token that is none, or not in force.
    """
    given = request.headers.get("Authorization")
    if given is None:
        return None
    scheme, _, token = given.partition(" ")
    found = await _known(request, token.strip()) if scheme.lower() == "bearer" else None
    if found is None:
        raise Denied(401, "UNAUTHENTICATED", "This server does not know the token.")
    return found


async def _known(request: Request, token: str) -> Caller | None:
    proof = credential(token)
    if proof is None:
        return access(request).script(token)
    # A person's token is looked up in the store.
    person = await run_in_threadpool(service(request).person, proof)
    return None if person is None else Caller(person, proof, caller_labels.token_of(person))


async def reader(request: Request) -> Caller:
    """Who reads.

    Raises:
        Denied: 401, where not everybody may; 400, the query names something twice.
    """
    _check_query(request)
    found = await bearer(request)
    if found is not None:
        return found
    known = visit(request)
    if known is None and not access(request).reading:
        raise Denied(401, "UNAUTHENTICATED", f"{_ended(request)}This server requires its token for reading as well.")
    return known.caller if known is not None else Caller()


def _check_query(request: Request) -> None:
    """Refuse a query that names something twice, or, of the programs' interface, something that is not asked for there.

    Raises:
        Denied: 400, with the nearest name.
    """
    names_ = [name for name, _ in request.query_params.multi_items()]
    twice = next((name for name in names_ if names_.count(name) > 1), None)
    if twice is not None:
        raise Denied(400, "BAD_REQUEST", f"The query names {names.shown(twice[:40])} more than once.")
    if not request.url.path.startswith("/api/"):
        return
    for name in names_:
        known = list(dict.fromkeys(_parameters(request.scope["route"].dependant)))
        if name not in known:
            near = names.nearest(name, known)
            listed = f"it takes {', '.join(known)}" if known else "it takes none"
            hint = f"did you mean {near}?" if near else f"{listed}."
            raise Denied(400, "BAD_REQUEST", f"This address has no parameter {names.shown(name[:40])}; {hint}")


def _parameters(dependant: Any) -> Iterator[str]:
    """The query parameters of an endpoint and of what it depends on, as the framework has read their signatures."""
    yield from (str(each.alias) for each in dependant.query_params)
    for each in dependant.dependencies:
        yield from _parameters(each)


async def writer(request: Request) -> Caller:
    """Who writes: a script by its token, a person by a page of this server.

    Raises:
        Denied: 401, nobody is known; 403, the request comes from another place, or without its form's token.
    """
    _check_query(request)
    # Browsers never send this header by themselves, so a token needs no protection against foreign forms.
    found = await bearer(request)
    if found is not None:
        return found
    known = visit(request)
    if known is None:
        what = "Writing needs the server's one-time link or its token as a bearer token."
        raise Denied(401, "UNAUTHENTICATED", f"{_ended(request)}{what}")
    require_own_page(request)
    given = request.headers.get(CSRF_HEADER) or (await fields(request)).get(CSRF_FIELD)
    if not is_form_token(known, given):
        raise Denied(403, "CSRF_MISMATCH", "The form is outdated or not from this server; nothing changed.")
    return known.caller


def _ended(request: Request) -> str:
    """The sentence for a browser whose visit is over."""
    return "Your sign-in has expired; nothing was changed. " if cookie(request) else ""


def require_own_page(request: Request) -> None:
    """Refuse what another site's page sends.

    Raises:
        Denied: 403.
    """
    origin = request.headers.get("Origin")
    # The application's edge has compared Host with the server's names before, so it is safe to compare with.
    if origin is not None and _place(origin) != request.headers.get("Host"):
        raise Denied(403, "ORIGIN_MISMATCH", "The request comes from another site; nothing changed.")
    if request.headers.get("Sec-Fetch-Site", "same-origin") not in ("same-origin", "none"):
        raise Denied(403, "ORIGIN_MISMATCH", "The request comes from another site; nothing changed.")


def _place(origin: str) -> str | None:
    try:
        return urlsplit(origin).netloc
    except ValueError:
        return None


async def document(request: Request) -> dict[str, Any]:
    """The object that a body is; where nothing was sent, an empty one.

    Raises:
        Denied: 400, it is something else, or no acceptable JSON.
    """
    if not await request.body():
        return {}
    refuse_kind(request)
    found = await request.json()
    if not isinstance(found, dict):
        raise Denied(400, "BAD_REQUEST", "The body is not a JSON object.")
    return found


async def fields(request: Request) -> dict[str, str]:
    """The fields of a form that was sent; none where it is no form.

    They are kept with the request, also those that are refused, so that a page that tells of a failure can give back
    what was typed.

    Raises:
        Denied: 400, more fields than any form has, one of them twice, or a text that cannot be taken.
    """
    kept: dict[str, str] | None = getattr(request.state, "typed", None)
    if kept is None:
        kept = request.state.typed = await _read_fields(request)
    return {name: _fitting(name, text) for name, text in kept.items()}


async def _read_fields(request: Request) -> dict[str, str]:
    kind = request.headers.get("Content-Type", "").partition(";")[0].strip().lower()
    if kind != "application/x-www-form-urlencoded":
        return {}
    text = (await request.body()).decode("utf-8", "replace")
    try:
        found = parse_qs(text, keep_blank_values=True, max_num_fields=50)
    except ValueError:
        raise Denied(400, "BAD_REQUEST", "The form has too many fields.") from None
    twice = next((name for name, values in found.items() if len(values) > 1), None)
    if twice is not None:
        raise Denied(400, "BAD_REQUEST", f"The form names {names.shown(twice[:40])} more than once.")
    # Browsers send the lines of a text with both ends.
    return {name: values[-1].replace("\r\n", "\n") for name, values in found.items()}


def _fitting(name: str, text: str) -> str:
    if len(text) > MAX_TEXT:
        what = f"The text of {name[:40]} has {len(text)} characters; at most {MAX_TEXT} are allowed."
        raise Denied(400, "BAD_REQUEST", what)
    problem = names.text_problem(text)
    if problem:
        raise Denied(400, "INVALID_TEXT", f"The text of {name[:40]} {problem}.")
    return text


async def idempotency_key(
    request: Request,
    key: Annotated[
        str | None,
        Header(alias=KEY_HEADER, description="Idempotency key: repeating the call with the same key returns the same"
            " result."),
    ] = None,
) -> str | None:
    """The request id of a call that writes.

    Raises:
        Denied: 400, the request names several. UsageError: USAGE, it is blank or too long.
    """
    if len(request.headers.getlist(KEY_HEADER)) > 1:
        raise Denied(400, "BAD_REQUEST", f"The request has more than one {KEY_HEADER}.")
    if key is not None:
        arguments.check_request_id(KEY_HEADER, key)
    return key


Serving = Annotated[Service, Depends(serving)]
Reading = Annotated[Caller, Depends(reader)]
Writing = Annotated[Caller, Depends(writer)]
Fields = Annotated[dict[str, str], Depends(fields)]
Key = Annotated[str | None, Depends(idempotency_key)]
Document = Annotated[dict[str, Any], Depends(document)]
