"""What an import found out about the work that it brings. Read from texts, so it warns and proves nothing."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.core.imported import logs
from orchestrator.core.imported.logs import Line
from orchestrator.core.imported.texts import excerpt
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any


class Found(NamedTuple):
    """One finding: its group (None: the session), a stable code, and a sentence without its end."""

    group_id: str | None
    code: str
    text: str


def of_group(group: dict[str, Any], row: Mapping[str, Any], lines: Sequence[Line], *, ended: bool) -> Iterator[Found]:
    """What is remarkable about one group.

    Args:
        group: the group as it is imported.
        row: the peer's row.
        lines: the log lines of the group, in their order.
        ended: whether its session had ended there.
    """
    if group["status"] == "completed":
        yield from _completed(group["id"], row, lines)
        return
    if group["blocked"]:
        yield Found(group["id"], "blocked_there", group["blocked"])
    if ended:
        yield Found(group["id"], "left_unfinished", f"its session ended there while it was {group['peer_status']}")
    elif group["status"] == "in_progress" and not group["blocked"]:
        yield Found(group["id"], "in_progress_there", _where_it_stood(group, row, lines))


def _completed(id_: str, row: Mapping[str, Any], lines: Sequence[Line]) -> Iterator[Found]:
    place = logs.last_block(lines)
    if place is not None:
        after = [line.quoted for line in lines[place + 1 : place + 3]]
        then = f"; then {'; '.join(after)}" if after else "; nothing was logged after it"
        text = f"was completed right after a BLOCKED line ({lines[place].quoted}{then})"
        yield Found(id_, "completed_after_blocked", text)
    if not lines:
        yield Found(id_, "completed_without_trace", "was completed there, and no log line tells how")
        return
    approved = any(line.agent == "tech_lead" and line.statuses.intersection(logs.APPROVED) for line in lines)
    if not approved:
        text = "was completed there, and no log line of a tech_lead approves it"
        yield Found(id_, "completed_without_approval", text)
    if row.get("merge_status") != "merged" and not any(logs.MERGED in line.statuses for line in lines):
        yield Found(id_, "completed_without_merge", "was completed there, and nothing tells of its merge")


def _where_it_stood(group: dict[str, Any], row: Mapping[str, Any], lines: Sequence[Line]) -> str:
    parts = [f"was {group['peer_status']} there"]
    if row.get("assigned_to"):
        parts.append(f"assigned to {excerpt(str(row['assigned_to']))}")
    if row.get("last_review_status"):
        parts.append(f"last review {row['last_review_status']}, which counts for nothing here")
    if lines:
        parts.append(f"last line {lines[-1].quoted}")
    return ", ".join(parts)


def of_session(groups: Sequence[dict[str, Any]], lines: Sequence[Line]) -> Iterator[Found]:
    """What concerns no single group: completion that was claimed while work was open."""
    unfinished = [group["id"] for group in groups if group["status"] != "completed"]
    for line in lines:
        claims = logs.CONFIRMED in line.statuses and line.agent == "project_manager"
        if unfinished and (claims or "pm_bazinga" in line.content):
            names = ", ".join(unfinished[:10]) + (f" and {len(unfinished) - 10} more" if unfinished[10:] else "")
            text = f"completion was claimed there ({line.quoted}) while not completed: {names}"
            yield Found(None, "completion_claimed", text)
            return
