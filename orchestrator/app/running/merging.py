"""The files of several executions of a run as those of one."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from orchestrator.runner import snapshot


def at_last(files: Iterable[dict[str, Any]]) -> list[dict[str, Any]]:
    """Each file once, as it is at last; what was new before and changed since is new.

    Args:
        files: rows with `path`, `change` and `present` at least, those of earlier executions first.
    """
    found: dict[str, dict[str, Any]] = {}
    for file in files:
        known = found.get(file["path"])
        if known is not None and file["change"] is None and file["present"]:
            continue
        new = known is not None and (known["change"], file["change"]) == (snapshot.NEW, snapshot.CHANGED)
        found[file["path"]] = {**file, "change": snapshot.NEW} if new else file
    return list(found.values())
