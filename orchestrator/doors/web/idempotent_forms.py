"""Forms that begin something: one that is sent twice begins it once, and both lead to what was begun.

A page draws each such form with a mark of its own. What was sent with it is remembered as long as its visit can last,
in memory as the visit itself.
"""

from __future__ import annotations

import hashlib
import json
import secrets
import threading
from collections.abc import Callable, Mapping

from orchestrator.core.named_tuple import NamedTuple

FIELD = "once"
"""The form's field that holds its mark."""
MOST = 1000
"""Forms that are remembered; the oldest make room."""


class Done(NamedTuple):
    """What a form did: where its browser goes on, and what happened, in a sentence for the page that stands there."""

    place: str
    said: str


class _Sent:
    """One form: whoever sends it again waits until it is done."""

    def __init__(self) -> None:
        self.lock = threading.Lock()
        self.done: Done | None = None


class Once:
    """What was sent through the pages of a server."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._forms: dict[str, _Sent] = {}

    def do(self, path: str, fields: Mapping[str, str], act: Callable[[], Done]) -> Done:
        """Do what a form asks for, or lead to where the same form has led already.

        Args:
            path: to which it was sent.
            fields: all that it holds; one with another text is another one, also where a browser went back to it.
            act: does it; where it raises, nothing was done, and it may be tried again.
        """
        if not fields.get(FIELD):
            return act()
        key = hashlib.sha256(json.dumps([path, sorted(fields.items())]).encode()).hexdigest()
        with self._lock:
            sent = self._forms.pop(key, None) or _Sent()
            # Put in anew, so that the form that was sent longest ago stands first and makes room first.
            self._forms[key] = sent
            while len(self._forms) > MOST:
                del self._forms[next(iter(self._forms))]
        # Outside of the common lock: a slow form holds up only those who send the same one.
        with sent.lock:
            if sent.done is None:
                sent.done = act()
            return sent.done


def mark() -> str:
    """The mark of a form that is drawn."""
    return secrets.token_urlsafe(12)
