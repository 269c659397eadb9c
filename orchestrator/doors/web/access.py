"""Who may do what through a server: the one-time link with the cookie that it gives, and the tokens of scripts.

What is secret has 256 random bits and is kept as a hash, so that one round of it is enough; all of it ends with the
process: a file of visits would be one that an agent with an editor could write itself into. A cookie proves the person
who opened the link that the server's terminal showed; it writes only with the token of a page of ours. A script's token
proves nobody.
"""

from __future__ import annotations

import hashlib
import hmac
import secrets
import threading
import time

from orchestrator.app.kernel import human
from orchestrator.app.people import person_proof
from orchestrator.app.running.web_run_service import SERVER_TOKEN, Caller
from orchestrator.core import caller_labels
from orchestrator.core.named_tuple import NamedTuple

COOKIE = "orchestrator_visit"
"""What the name of a server's cookie begins with. Browsers tell hosts apart, but not the ports of one."""
VISIT_S = 12 * 3600
"""Seconds for which a cookie is good."""
MIN_TOKEN = 16
"""Characters of the shortest token that a script may have."""


class Visit(NamedTuple):
    """A person's browser: whose it is, the token of its forms, when it ends, and what was proven when it began."""

    person: str
    csrf: str
    until: float
    proof: human.Credential | None = None

    @property
    def caller(self) -> Caller:
        """Who stands behind what comes from it."""
        return Caller(self.person, person_proof.page_of(self.proof), caller_labels.page_of(self.person))


class Access:
    """What a server lets in.

    Args:
        token: the scripts' token; nobody has one where it is None.
        reading: whether anybody may read; where not, whoever comes in by the link shows the token as well.
        links: whether the server has links of its own, as where it prints them at a terminal.
        port: where the server listens; several servers on one host are told apart by it.

    Attributes:
        reading: the same.
        own_links: whether it has links of its own.
        cookie: the name of its cookies.
    """

    def __init__(self, token: str | None, *, reading: bool = True, links: bool = True, port: int = 0) -> None:
        self.reading = reading
        self.cookie = f"{COOKIE}_{port}"
        self._token = _hashed(token) if token is not None else None
        self._lock = threading.Lock()
        self._link: str | None = None
        self._ended: set[str] = set()
        self.own_links = links
        self._visits: dict[str, Visit] = {}
        self._notices: dict[str, tuple[str, str]] = {}
        self._challenges: dict[str, str] = {}

    def new_link(self) -> str | None:
        """The code of the next link; the one before ends. None where the server has none of its own."""
        if not self.own_links:
            return None
        code = secrets.token_urlsafe(32)
        with self._lock:
            if self._link is not None:
                # Remembered, so that a replaced link is answered with 410 and one that was never given out with 404
                # (PAG-1).
                self._ended.add(self._link)
            self._link = _hashed(code)
        return code

    def is_link(self, code: str) -> bool:
        """Whether a link could be used now; looking uses nothing up."""
        with self._lock:
            return self._link is not None and hmac.compare_digest(self._link, _hashed(code))

    def was_link(self, code: str) -> bool:
        """Whether this was a link, which is used up or has made room for another."""
        with self._lock:
            return _hashed(code) in self._ended

    def challenge(self, code: str, text: str) -> str:
        """The text that a link's page shows to be signed: the same until it is tried, so that two tabs agree."""
        with self._lock:
            return self._challenges.setdefault(_hashed(code), text)

    def end_challenge(self, code: str) -> str | None:
        """Take the text that was shown with a link; it is good for one try."""
        with self._lock:
            return self._challenges.pop(_hashed(code), None)

    def admit(self, person: str, proof: human.Credential | None) -> tuple[str, Visit]:
        """Begin a visit of a person, and give the value of its cookie.

        Args:
            proof: what was proven when it began; None for the possession of the server's own link.
        """
        value = secrets.token_urlsafe(32)
        visit = Visit(person, secrets.token_urlsafe(32), time.monotonic() + VISIT_S, proof)
        with self._lock:
            self._visits[_hashed(value)] = visit
        return value, visit

    def use_link(self, code: str, person: str, proof: human.Credential | None = None) -> tuple[str, Visit] | None:
        """Use the server's own link up.

        Returns:
            The value of the cookie with its visit; None where the link was used, or is none.
        """
        with self._lock:
            if self._link is None or not hmac.compare_digest(self._link, _hashed(code)):
                return None
            self._ended.add(self._link)
            self._link = None
        return self.admit(person, proof)

    def visit(self, cookie: str | None) -> Visit | None:
        """The visit of a cookie, while it is good."""
        if not cookie:
            return None
        key = _hashed(cookie)
        with self._lock:
            found = self._visits.get(key)
            if found is not None and found.until <= time.monotonic():
                self._end(key)
                return None
            return found

    def notice(self, cookie: str | None, path: str, text: str) -> None:
        """Keep what an act of a visit did, for the page at a path; one that nobody has seen makes room.

        It is kept here rather than in an address, where anybody could write what a page says.
        """
        key = _hashed(cookie or "")
        with self._lock:
            if key in self._visits:
                self._notices[key] = (path, text)

    def take_notice(self, cookie: str | None, path: str) -> str | None:
        """What the page at a path says of the visit's last act, once; None where that is told elsewhere."""
        key = _hashed(cookie or "")
        with self._lock:
            place, text = self._notices.get(key, (None, None))
            if place != path:
                return None
            del self._notices[key]
            return text

    def leave(self, cookie: str | None) -> None:
        """End the visit of a cookie."""
        with self._lock:
            self._end(_hashed(cookie or ""))

    def _end(self, key: str) -> None:
        self._visits.pop(key, None)
        self._notices.pop(key, None)

    def is_token(self, token: str) -> bool:
        """Whether a token is the server's own."""
        return self._token is not None and hmac.compare_digest(self._token, _hashed(token))

    def script(self, token: str) -> Caller | None:
        """The script that calls with the server's own token; None with any other."""
        return Caller(way=SERVER_TOKEN) if self.is_token(token) else None


def credential(token: str) -> human.Credential | None:
    """What a token of a person's form would prove; whether it was given out is the store's to say."""
    return human.Credential(human.TOKEN, token) if token.startswith(human.TOKEN_MARK) else None


def is_form_token(visit: Visit, given: str | None) -> bool:
    """Whether a form or request carries the token of its visit."""
    return hmac.compare_digest(visit.csrf.encode(), (given or "").encode("utf-8", "surrogatepass"))


def new_token() -> str:
    """A token for scripts."""
    return secrets.token_urlsafe(32)


def _hashed(secret: str) -> str:
    return hashlib.sha256(secret.encode("utf-8", "surrogatepass")).hexdigest()
