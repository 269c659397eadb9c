"""The files that a task orders to be made, changed or deleted by name, and those of them that were not.

A file is a target only where the grammar of its sentence leaves no doubt: it is the object of an imperative ("create
docs/x.md", "update a.py and b.py", "x.mdを作成して"), or where something is to be put ("append a line to notes.txt",
"x.mdに手順を追記"). Every other named file is context, and says nothing about a run.

Source: seed 001, Properties 8, 26 and 31.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Iterator

from orchestrator.core.running import grammar, named
from orchestrator.core.running.grammar import CHANGED, DELETED, MADE
from orchestrator.core.tuples import NamedTuple

__all__ = ["CHANGED", "DELETED", "MADE", "Target", "names", "takes_back", "unmet", "wanted"]


class Target(NamedTuple):
    """A file that a task names as its object, and what is to become of it: made, changed or deleted."""

    path: str
    kind: str


def wanted(text: str) -> tuple[Target, ...]:
    """The files that a text orders to be made, changed or deleted, in order, each once.

    Args:
        text: the task as it was said.
    """
    plain = grammar.FENCED.sub("\n", re.sub(grammar.MARK, " ", text[: grammar.READ]))
    if takes_back(plain):
        return ()
    known, marked = _marked(plain)
    found: dict[str, Target] = {}
    for sentence, lead in _sentences(marked):
        if grammar.DOUBTFUL.search(sentence) or grammar.WITHIN.search(lead):
            continue
        for mark, kind in _orders(sentence):
            path = known[ord(mark) - grammar.FIRST]
            found.setdefault(path, Target(path, kind))
    return tuple(found.values())


def takes_back(text: str) -> bool:
    """Whether a text puts something else in the place of what was ordered."""
    return grammar.TAKEN_BACK.search(text) is not None


def unmet(
    orders: Iterable[Target], present: Collection[str], touched: Collection[str]
) -> tuple[str, ...]:
    """Those targets of a task with which nothing happened of what was ordered.

    Args:
        orders: the targets.
        present: the project's files now, as relative paths.
        touched: those that are new, changed or gone since the task was begun.

    Source: seed 001, Properties 8 and 31.
    """
    return tuple(each.path for each in orders if not _met(each, present, touched))


def _met(target: Target, present: Collection[str], touched: Collection[str]) -> bool:
    if target.kind == CHANGED:
        return any(names(target.path, path) for path in touched)
    if target.kind == MADE:
        return any(names(target.path, path) for path in present)
    return target.path not in present


def names(target: str, path: str) -> bool:
    """Whether a target names a path: case does not count, and folders before the name may be left out.

    So may be the kind of a file that is named without one, such as README.
    """
    name, whole = target.casefold(), path.casefold()
    if "." not in name.rpartition("/")[2] and "." in whole.rpartition("/")[2]:
        whole = whole.rpartition(".")[0]
    before = whole[: -len(name)][-1:]
    return whole.endswith(name) and (before in ("", "/", " ") or not before.isascii())


def _marked(text: str) -> tuple[list[str], str]:
    """The files that may be targets, and the text with one private character in the place of each."""
    known: list[str] = []
    pieces, at = [], 0
    for start, end, path in named.places(text):
        if len(known) < grammar.MOST and _is_target(text, start, end):
            pieces += [text[at:start], chr(grammar.FIRST + len(known))]
            known.append(path)
            at = end
    return known, "".join((*pieces, text[at:]))


def _is_target(text: str, start: int, end: int) -> bool:
    raw, before, after = text[start:end], text[start - 1 : start], text[end : end + 1]
    inside = after == "." and text[end + 1 : end + 2].strip()
    if before in grammar.PLACEHOLDERS or after in grammar.PLACEHOLDERS - {"?"} or inside:
        # A pattern, a placeholder, or a part of something else.
        return False
    name = raw.rpartition("/")[2]
    if name.startswith("."):
        return grammar.DOT.fullmatch(name) is not None and not (before.isalnum() or before in (")", "]"))
    if name in grammar.BARE:
        return True
    kind = name[name.rfind(".") :].lower() if "." in name else ""
    return kind in grammar.KINDS and grammar.PRODUCTS.fullmatch(raw) is None


def _sentences(text: str) -> Iterator[tuple[str, str]]:
    """Each sentence, with the line that leads to it where it is an item of a list."""
    lead = ""
    for line in text.split("\n"):
        item = grammar.ITEM.match(line) is not None
        if line.strip() and not item:
            lead = ""
        for part in grammar.SENTENCE_END.split(" ".join(line.split())):
            if part:
                yield part, lead
        if grammar.LEAD_IN.search(line) and not item:
            lead = line


def _orders(sentence: str) -> Iterator[tuple[str, str]]:
    """The marks of files in a sentence that an order is about, with what is ordered."""
    denied, within = grammar.NOT.search(sentence), grammar.WITHIN.search(sentence)
    english = sentence[: denied.start()] if denied else sentence
    for clause in grammar.CLAUSE.finditer(english):
        if clause.start() and within and within.start() < clause.start():
            # What follows may be what something else is to do: "a tool to read a.csv and write b.csv".
            break
        yield from _english(english, clause.end())
    for order, kind in (*grammar.ORDERS_JA, (grammar.PUT_JA, CHANGED), (grammar.STORED_JA, CHANGED)):
        for match in order.finditer(sentence):
            yield from _each(match, kind)


def _english(sentence: str, at: int) -> Iterator[tuple[str, str]]:
    for order, kind in grammar.ORDERS:
        match = order.match(sentence, at)
        if match and not (kind == MADE and grammar.ADDED_TO.match(sentence, match.end("lead"))):
            yield from _each(match, kind)
    for must in grammar.MUST_BE:
        stated = must.match(sentence, at)
        if stated:
            yield from _each(stated, MADE)
    told = grammar.TOLD_IN.match(sentence, at)
    if told and not grammar.PUT_ELSEWHERE.search(told["what"]):
        yield from _each(told, CHANGED if re.search(grammar.MARK, told["what"]) else MADE)
    put = grammar.PUT.match(sentence, at)
    if put and not grammar.PUT_ELSEWHERE.search(put["what"]):
        yield from _each(put, CHANGED)


def _each(match: re.Match[str], kind: str) -> Iterator[tuple[str, str]]:
    yield from ((mark, kind) for mark in match["files"] if grammar.FIRST <= ord(mark) < grammar.FIRST + grammar.MOST)
