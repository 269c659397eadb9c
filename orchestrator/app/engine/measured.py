"""What was seen of that which a report claims, as evidence of the step: gates that failed, a merge that was proven.

Source: 80 section 5 (measured instead of claimed).
"""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.app.kernel.context import Work
from orchestrator.core import sha256, strict_json
from orchestrator.core.routing.facts import PROVEN_SINCE
from orchestrator.hints import Any

GATES, MERGE = "gates", "merge"
"""The parts of what was measured that become evidence, of the kinds `gate` and `merge`."""


USAGE = "usage"
"""The kind of the evidence of what an agent has used that hooks saw; its subject is the step of the start."""


def rows(work: Work, group_id: str | None) -> list[dict[str, Any]]:
    """The rows of evidence; a replay finds them in the step's input, as it finds what is measured."""
    seen = work.call.circumstances.measured or {}
    found = [
        _row(group_id, "gate", each["criterion"], each["why"], each["output"], each["size"])
        for each in seen.get(GATES, ())
    ]
    if seen.get(MERGE) and group_id is not None and work.context.rules_version >= PROVEN_SINCE:
        commit = str(seen.get("commit") or "")
        found.append(_row(group_id, "merge", group_id, seen[MERGE], commit, len(commit)))
    return found


def gates_in_words(seen: Mapping[str, Any]) -> list[str]:
    """What was seen of gates, a phrase for each that failed or was not run."""
    return [f"gate {each['criterion']} {'failed' if each['ran'] else 'did not run'}: {each['why']}"
            for each in seen.get(GATES, ())]


def keep(work: Work, group_id: str | None) -> None:
    """Write the rows of evidence."""
    for row in rows(work, group_id):
        work.step.insert("evidence", **row)


def keep_usage(work: Work, group_id: str | None, start: int | None) -> None:
    """Write what the agent of a start has used.

    Args:
        start: the step of the start.
    """
    used = work.call.circumstances.used
    if used is None or start is None:
        return
    outcome = f"{used.get('input_tokens', 0)} tokens in, {used.get('output_tokens', 0)} out"
    content = strict_json.canonical(dict(used))
    work.step.insert("evidence", **_row(group_id, USAGE, str(start), outcome, content, len(content)))


def _row(group_id: str | None, kind: str, subject: str, outcome: str, content: str, size: int) -> dict[str, Any]:
    digest = sha256.new(content.encode("utf-8", "surrogatepass")).hexdigest()
    return {
        "group_id": group_id, "kind": kind, "subject": subject, "outcome": outcome, "hash": digest, "size": size,
        "content": content,
    }  # fmt: skip
