"""What a client writes of an agent while it works: whose turn it has, and the tokens that it used.

A transcript is the client's own file in a form that it may change, so that whatever cannot be read says nothing.

Source: spec 80, sections 4 and 5.
"""

from __future__ import annotations

import os
import re
import stat

from orchestrator.core import strict_json
from orchestrator.hints import Any, BinaryIO

MOST = 16 * 1024 * 1024
"""Bytes of a transcript that are read; of a longer one no usage is told, since a part would look like the whole."""
TOKENS = ("input_tokens", "output_tokens", "cache_read_input_tokens", "cache_creation_input_tokens")
COST = "cost_microusd"
_FIRST_LINE = rb"\[orchestrator (\S+) (\S+) turn (\d{1,15}) (\S+) (\S+)\]"
_FIRST_BYTES = 256 * 1024
"""Bytes in which an agent's first message stands; a client may write its own instructions before it."""
_MOST_EACH = 2**40


def place(trace: str | None) -> tuple[str, str | None, int] | None:
    """The session, group and turn that a transcript begins with; None where it cannot be read or says none."""
    found = re.search(_FIRST_LINE, head(trace, _FIRST_BYTES) or b"")
    if found is None:
        return None
    session, group = (found[each].decode("utf-8", "replace") for each in (1, 2))
    return session, None if group == "-" else group, int(found[3])


def usage(trace: str | None) -> dict[str, int] | None:
    """The tokens that the answers in a transcript count, and their cost in millionths of a dollar where it says so;
    None where it cannot be read, is too long, or counts nothing.
    """
    data = head(trace, MOST + 1)
    if data is None or len(data) > MOST:
        return None
    answers: dict[object, dict[str, int]] = {}
    for number, line in enumerate(data.split(b"\n")):
        if b'"usage"' in line:
            said = _answer(line)
            if said is not None:
                # An answer of several blocks is written a block a line, each time with all that it counts so far.
                answers[said[0] or number] = said[1]
    names = (*TOKENS, COST)
    summed = {name: sum(each.get(name, 0) for each in answers.values()) for name in names}
    return {name: count for name, count in summed.items() if count} or None


def _answer(line: bytes) -> tuple[str | None, dict[str, int]] | None:
    """The id of an answer and what it counts; None of what is none."""
    try:
        entry = strict_json.lenient(line)
    except (ValueError, RecursionError):
        return None
    if isinstance(entry, dict) and entry.get("type") == "token_usage_record":
        return _of_codex(entry.get("payload"))
    message = entry.get("message") if isinstance(entry, dict) and entry.get("type") == "assistant" else None
    counted = message.get("usage") if isinstance(message, dict) else None
    if not isinstance(message, dict) or not isinstance(counted, dict):
        return None
    found = {name: counted[name] for name in TOKENS if _is_count(counted.get(name))}
    dollars: Any = entry.get("costUSD")
    if type(dollars) in (int, float) and 0 <= dollars < 10**6:
        found[COST] = round(dollars * 1_000_000)
    id = message.get("id")
    return id if isinstance(id, str) else None, found


def _of_codex(record: object) -> tuple[str | None, dict[str, int]] | None:
    """What Codex counts of an answer; its input has in it what was read from and written to the cache."""
    counted = record.get("usage") if isinstance(record, dict) else None
    if not isinstance(record, dict) or not isinstance(counted, dict):
        return None
    names = ("input_tokens", "output_tokens", "cached_input_tokens", "cache_write_input_tokens")
    whole, out, cached, written = (counted[name] if _is_count(counted.get(name)) else 0 for name in names)
    counts = (max(0, whole - cached - written), out, cached, written)
    id = record.get("response_id")
    return id if isinstance(id, str) else None, dict(zip(TOKENS, counts, strict=True))


def _is_count(value: object) -> bool:
    return type(value) is int and 0 <= value < _MOST_EACH


def head(trace: str | None, most: int) -> bytes | None:
    """The beginning of a file; None of what is no regular file, or cannot be read."""
    try:
        # Whoever opens a pipe would wait for its other end.
        with open(os.open(trace or "", os.O_RDONLY | os.O_NONBLOCK | os.O_CLOEXEC), "rb") as file:
            return _regular(file, most)
    except (OSError, ValueError):
        return None


def _regular(file: BinaryIO, most: int) -> bytes | None:
    return file.read(most) if stat.S_ISREG(os.fstat(file.fileno()).st_mode) else None
