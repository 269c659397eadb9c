"""Texts of calls that were turned down, cut to what the record keeps of them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

MAX_DETAIL = 4096
"""Characters of a refused text that are kept."""


def cut(value: object) -> str | None:
    """The beginning of a text."""
    return None if value is None else str(value)[:MAX_DETAIL]


def shortened(value: Any) -> Any:
    """A value with every text and name in it cut."""
    if isinstance(value, str):
        return value[:MAX_DETAIL]
    if isinstance(value, Mapping):
        return {name[:MAX_DETAIL]: shortened(each) for name, each in value.items()}
    return [shortened(each) for each in value] if isinstance(value, list | tuple) else value
