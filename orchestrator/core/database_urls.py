"""Addresses of PostgreSQL databases: which texts are one, and how one is shown and kept."""

from __future__ import annotations

import re

SCHEMES = ("postgresql", "postgres")
_SECRET = re.compile(r"(?<=://)([^/?#@:]*:).*(?=@)|([?&](?:ssl)?password=)[^&]*")


def is_postgresql(text: str) -> bool:
    """Whether a text is a URL of a PostgreSQL database."""
    scheme, separator, _ = text.partition("://")
    return bool(separator) and scheme.lower() in SCHEMES


def masked(text: str) -> str:
    """A URL without its passwords. A text that is none is given back as it is."""
    return _SECRET.sub(lambda found: f"{found[1] or found[2]}***", text) if is_postgresql(text) else text


def passwords(url: str) -> list[str]:
    """What `masked` hides, for whoever looks for it elsewhere."""
    return [url[found.end(found.lastindex or 0) : found.end()] for found in _SECRET.finditer(url)]
