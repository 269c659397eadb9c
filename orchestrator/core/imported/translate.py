"""From a peer's tables to the sessions that are imported, and what is left out with the reason.

Source: seed 004, Implementation Details (backward compatibility: existing sessions)
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence

from orchestrator.core import strict_json
from orchestrator.core.imported import findings, logs, texts
from orchestrator.core.imported.findings import Found
from orchestrator.core.imported.logs import Line
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

Row = dict[str, Any]
TABLES = ("sessions", "task_groups", "success_criteria", "orchestration_logs")
STATUSES = {
    "pending": "pending",
    "in_progress": "in_progress",
    "approved_pending_merge": "in_progress",
    "merging": "in_progress",
    "completed": "completed",
    "blocked": "in_progress",
    "failed": "in_progress",
}
"""What a peer's group status becomes; any other one is imported as blocked work in progress."""
STOPPED = {"blocked": "was blocked there", "failed": "had failed there"}
ENDED = ("completed", "failed")
"""The session statuses that mean that nothing goes on."""
OTHER_SESSION = "of a session that was not asked for"
NO_SESSION = "of no session in the file"

_LOG_COLUMNS = ("id", "session_id", "group_id", "agent_type", "log_type", "timestamp", "content")
_BUILDERS = (("senior", "senior_software_engineer"), ("sse", "senior_software_engineer"), ("developer", "developer"))
_SENIOR = "senior_software_engineer"


class Imported(NamedTuple):
    """One session: its id here and there, its content as the record keeps it, and ids that had to be made."""

    id: str
    peer_id: str
    content: dict[str, Any]
    renamed: tuple[tuple[str, str, str], ...]


class Translated(NamedTuple):
    """What is imported, and by table how many rows are not, with the reason."""

    sessions: tuple[Imported, ...]
    left_out: dict[str, Counter[str]]


def translate(tables: Mapping[str, Sequence[Row]], only: str | None = None) -> Translated:
    """Make sessions of a peer's rows.

    Args:
        tables: the rows of each of `TABLES`, by column name, with values of any kind.
        only: the one session to take, by its id here or there.
    """
    clean = texts.Cleaner()
    left_out: dict[str, Counter[str]] = {table: Counter() for table in TABLES}
    listed = _sessions(tables.get("sessions", ()), clean, left_out["sessions"])
    made = dict(zip(listed, texts.ids("session", listed), strict=True))
    wanted = [peer_id for peer_id in listed if only in (None, peer_id, made[peer_id])]
    left_out["sessions"][OTHER_SESSION] += len(listed) - len(wanted)
    parts = {
        table: _by_session(tables.get(table, ()), clean, made, wanted, left_out[table]) for table in TABLES[1:]
    }
    found = tuple(
        _session(made[peer_id], listed[peer_id], [parts[table].get(peer_id, []) for table in TABLES[1:]])
        for peer_id in wanted
    )
    return Translated(found, {table: +counts for table, counts in left_out.items()})


def _sessions(rows: Sequence[Row], clean: texts.Cleaner, left_out: Counter[str]) -> dict[str, Row]:
    found: dict[str, Row] = {}
    for row in rows:
        peer_id = clean.text(row.get("session_id"))
        if not peer_id:
            left_out["without a session id"] += 1
        elif peer_id in found:
            left_out["with the id of a session before it"] += 1
        else:
            found[peer_id] = row
    return found


def _by_session(
    rows: Sequence[Row], clean: texts.Cleaner, known: Mapping[str, str], wanted: Sequence[str], left_out: Counter[str]
) -> dict[str, list[Row]]:
    found: dict[str, list[Row]] = {peer_id: [] for peer_id in wanted}
    for row in rows:
        peer_id = clean.text(row.get("session_id"))
        if peer_id in found:
            found[str(peer_id)].append(row)
        else:
            left_out[OTHER_SESSION if peer_id in known else NO_SESSION] += 1
    return found


def _session(id_: str, row: Row, parts: list[list[Row]]) -> Imported:
    clean = texts.Cleaner()
    peer_id = clean.text(row["session_id"]) or ""
    plain = clean.row(row)
    status = _word(plain.get("status"))
    ended = status in ENDED
    group_rows, criterion_rows, log_rows = ([clean.row(each) for each in rows] for rows in parts)
    peer_groups = [str(each.get("id") if each.get("id") is not None else "") for each in group_rows]
    group_ids = texts.ids("group", peer_groups)
    by_peer_id = dict(zip(reversed(peer_groups), reversed(group_ids), strict=True))
    lines, log_contents = _logs(log_rows, by_peer_id)
    of_group = logs.of_groups(lines, by_peer_id)
    groups = [
        _group(group_id, each, of_group.get(group_id, []))
        for group_id, each in zip(group_ids, group_rows, strict=True)
    ]
    criteria = _criteria(criterion_rows)
    renamed = _renamed(id_, peer_id, group_ids, peer_groups)
    found = [*_about_session(plain, status), *(_renaming(*each) for each in renamed)]
    found += findings.of_session(groups, lines)
    for group, each in zip(groups, group_rows, strict=True):
        found += _about_values(group, each)
        found += findings.of_group(group, each, of_group.get(group["id"], []), ended=ended)
    found += [Found(None, "criterion_open", each["reason"]) for each in criteria if each["reason"]]
    if clean.changed:
        found.append(Found(None, "texts_changed", f"{clean.changed} texts held characters that stand as escapes now"))
    content = {
        "session": _head(plain, ended),
        "groups": groups,
        "criteria": criteria,
        "logs": log_contents,
        "findings": [list(each) for each in found],
    }
    return Imported(id_, peer_id, content, tuple(renamed))


def _head(plain: Row, ended: bool) -> Row:
    mode = _word(plain.get("mode"))
    return {
        "mode": mode if mode in ("simple", "parallel") else "parallel",
        "goal": _text(plain.get("original_requirements")),
        "ended": ended,
        "peer_id": _text(plain.get("session_id")),
        "peer_status": None if plain.get("status") is None else str(plain["status"]),
        "row": plain,
    }


def _about_session(plain: Row, status: str) -> Iterator[Found]:
    if status not in ("active", *ENDED):
        text = f"its status there was {texts.excerpt(_text(plain.get('status')))}, so it is taken for active"
        yield Found(None, "unknown_status", text)
    if _word(plain.get("mode")) not in ("simple", "parallel"):
        mode = texts.excerpt(_text(plain.get("mode")))
        yield Found(None, "unknown_mode", f"its mode there was {mode}; here: parallel")


def _renamed(id_: str, peer_id: str, ids: Sequence[str], peer_ids: Sequence[str]) -> list[tuple[str, str, str]]:
    found = [("session", peer_id, id_)] if id_ != peer_id else []
    pairs = zip(peer_ids, ids, strict=True)
    return found + [("group", old, new) for old, new in pairs if old != new]


def _renaming(kind: str, old: str, new: str) -> Found:
    group = new if kind == "group" else None
    return Found(group, "renamed", f"its id there was {texts.excerpt(old)}, which cannot be its id here")


def _group(id_: str, row: Row, lines: list[Line]) -> Row:
    peer_status = None if row.get("status") is None else str(row["status"])
    word = _word(peer_status)
    blocked = _why_blocked(word, peer_status, lines)
    builder = _builder(row)
    return {
        "id": id_,
        "peer_id": _text(row.get("id")),
        "name": _text(row.get("name")).strip() or id_,
        "status": "in_progress" if blocked else STATUSES[word],
        "peer_status": peer_status,
        "completed_at": None if row.get("updated_at") is None else str(row["updated_at"]),
        "blocked": blocked,
        # What is no plain "no" is a "yes": the flag only makes work stricter.
        "security_sensitive": int(_word(row.get("security_sensitive")) not in ("", "0", "0.0", "false", "no")),
        "complexity": texts.number(row.get("complexity"), 1, 10) or 3,
        "qa_attempts": texts.number(row.get("qa_attempts"), 0, 10**6) or 0,
        "tl_review_attempts": texts.number(row.get("tl_review_attempts"), 0, 10**6) or 0,
        "senior": int(builder == _SENIOR),
        "builder_role": builder,
        "row": row,
    }


def _why_blocked(word: str, peer_status: str | None, lines: list[Line]) -> str | None:
    if word == "completed":
        return None
    place = logs.last_block(lines)
    said = f" (its last such line, as text: {lines[place].quoted})" if place is not None else ""
    if word in STOPPED:
        return f"{STOPPED[word]}{said}"
    if word not in STATUSES:
        return f"its status there was {texts.excerpt(peer_status)}, which means nothing here{said}"
    return f"was blocked there, by its log{said}" if place is not None else None


def _builder(row: Row) -> str | None:
    assigned = _word(row.get("assigned_to"))
    if _word(row.get("initial_tier")).startswith("senior"):
        return _SENIOR
    return next((role for start, role in _BUILDERS if assigned.startswith(start)), None)


def _about_values(group: Row, row: Row) -> Iterator[Found]:
    for name, least, most in (("complexity", 1, 10), ("qa_attempts", 0, 10**6), ("tl_review_attempts", 0, 10**6)):
        if row.get(name) is not None and texts.number(row[name], least, most) is None:
            text = f"its {name} there was {texts.excerpt(str(row[name]))}; here: {group[name]}"
            yield Found(group["id"], "value_replaced", text)


def _criteria(rows: list[Row]) -> list[Row]:
    ids = texts.ids("criterion", (f"C{_text(row.get('id')) or place}" for place, row in enumerate(rows, 1)))
    return [
        {"id": id_, "text": _text(row.get("criterion")).strip() or "(no text there)", "reason": _was(row), "row": row}
        for id_, row in zip(ids, rows, strict=True)
    ]


def _was(row: Row) -> str | None:
    """What the peer recorded of a criterion; here it is open until somebody shows evidence."""
    said = [f"was {_text(row.get('status'))} there"] if _word(row.get("status")) not in ("", "pending") else []
    for name in ("actual", "evidence"):
        if _text(row.get(name)):
            said.append(f"{name} there: {texts.excerpt(_text(row[name]))}")
    if _word(row.get("required_for_completion")) in ("0", "false"):
        said.append("was not required there")
    if not said:
        return None
    return f"{texts.excerpt(_text(row.get('criterion')))}: {', '.join(said)}; that proves nothing, so it is open here"


def _logs(rows: list[Row], groups: Mapping[str, str]) -> tuple[list[Line], list[Row]]:
    lines, contents = [], []
    for place, row in enumerate(rows, 1):
        content = _text(row.get("content"))
        group_id = groups.get(_text(row.get("group_id")))
        more = {name: value for name, value in row.items() if name not in _LOG_COLUMNS and value is not None}
        if group_id is None and row.get("group_id") is not None:
            more["group_id"] = row["group_id"]
        number = str(place if row.get("id") is None else row["id"])
        lines.append(
            Line(number, _word(row.get("agent_type")) or "nobody", group_id, content, logs.statuses(content))
        )
        contents.append(
            {
                "group_id": group_id,
                "peer_id": None if row.get("id") is None else str(row["id"]),
                "agent": None if row.get("agent_type") is None else str(row["agent_type"]),
                "kind": None if row.get("log_type") is None else str(row["log_type"]),
                "logged_at": None if row.get("timestamp") is None else str(row["timestamp"]),
                "content": content,
                "more": strict_json.canonical(more) if more else None,
            }
        )
    return lines, contents


def _text(value: Any) -> str:
    return "" if value is None else str(value)


def _word(value: Any) -> str:
    return _text(value).strip().lower()
