"""Mutants of SQL texts: a trigger that never speaks, a view with one term of a condition taken away."""

from __future__ import annotations

import re
from typing import NamedTuple

_TOKEN = re.compile(r"'[^']*'|\w+|[^\w\s]")
_OPENS = {"(": ")", "CASE": "END"}
_STARTS = ("WHEN", "WHERE", "SELECT")
_ENDS = ("THEN", "FROM", "ORDER", "LIMIT", "UNION", "GROUP")
_JOINS = ("AND", "OR")


class Term(NamedTuple):
    """A part of a condition: where it stands in the text, and what is put in its place to take it away."""

    start: int
    end: int
    instead: str


class _Token(NamedTuple):
    text: str
    start: int
    end: int


def silent(statement: str, name: str) -> str:
    """The statement without the effect of the trigger: it stays there by name and never speaks.

    Args:
        statement: any statement; only the one that makes the trigger is changed.
        name: the trigger.
    """
    head = re.match(rf"CREATE TRIGGER {re.escape(name)}\s+(.*?\sON\s+\w+)\b", statement, re.DOTALL)
    if head is None:
        return statement
    return f"CREATE TRIGGER {name} {' '.join(head[1].split())}\nWHEN 0\nBEGIN\n  SELECT 1;\nEND"


def refusals(statement: str) -> list[Term]:
    """The condition of every case that a trigger refuses, from left to right; each becomes 0.

    Of a `CASE x WHEN word` the refusal after ELSE is a case as well: it is for every other word.
    """
    tokens = [_Token(found[0], found.start(), found.end()) for found in _TOKEN.finditer(statement)]
    found: list[Term] = []
    for place, token in enumerate(tokens):
        inside = _until(tokens, place + 1) if token.text == "WHEN" else []
        if inside and [each.text for each in tokens[place + len(inside) + 1 :][:2]] == ["THEN", "RAISE"]:
            found.append(_term(inside, "0"))
        if [each.text for each in tokens[place : place + 2]] == ["ELSE", "RAISE"] and _of_simple_case(tokens, place):
            found.append(_term(_until(tokens, place + 1), "0"))
    return found


def without(statement: str, term: Term) -> str:
    """The statement with a term taken away."""
    return statement[: term.start] + term.instead + statement[term.end :]


def terms(statement: str) -> list[Term]:
    """Every term of every condition after WHEN, WHERE and SELECT, from left to right.

    A term of an AND becomes 1, one of an OR 0, and a condition of one term 0. The words of a `CASE x WHEN word` are
    no conditions, and a SELECT counts only where it gives an AND.
    """
    tokens = [_Token(found[0], found.start(), found.end()) for found in _TOKEN.finditer(statement)]
    found: list[Term] = []
    for place, token in enumerate(tokens):
        if token.text in _STARTS:
            found += _condition(tokens, place)
    return sorted(dict.fromkeys(found))


def _condition(tokens: list[_Token], place: int) -> list[Term]:
    word, inside = tokens[place].text, _until(tokens, place + 1)
    if word == "WHEN" and _of_simple_case(tokens, place):
        return []
    if word == "SELECT":
        return _joined(inside) if _split(inside, "AND")[1:] and not _split(inside, ",")[1:] else []
    # What always or never holds has nothing to take away.
    return [] if [token.text for token in inside] in (["1"], ["0"]) else _joined(inside) or [_term(inside, "0")]


def _joined(tokens: list[_Token]) -> list[Term]:
    """The terms of a condition that joins several; those within brackets as well."""
    for join, instead in (("OR", "0"), ("AND", "1")):
        parts = _split(tokens, join)
        if len(parts) > 1:
            return [term for part in parts for term in (_joined(_unwrapped(part)) or _taken(part, instead))]
    return []


def _taken(part: list[_Token], instead: str) -> list[Term]:
    is_shield = [token.text for token in part] == ["(", "SELECT", "1", ")"]
    return [] if is_shield else [_term(part, instead)]


def _term(tokens: list[_Token], instead: str) -> Term:
    return Term(tokens[0].start, tokens[-1].end, instead)


def _unwrapped(tokens: list[_Token]) -> list[_Token]:
    wrapped = tokens[0].text == "(" and len(_until(tokens, 1)) == len(tokens) - 2 and tokens[1].text != "SELECT"
    return tokens[1:-1] if wrapped else tokens


def _until(tokens: list[_Token], start: int) -> list[_Token]:
    """The tokens of a condition: up to the word that ends it, or the bracket that it stands in."""
    closing: list[str] = []
    for place in range(start, len(tokens)):
        text = tokens[place].text
        if text in _OPENS:
            closing.append(_OPENS[text])
        elif closing and text == closing[-1]:
            closing.pop()
        elif not closing and (text in _ENDS or text in _OPENS.values()):
            return tokens[start:place]
    return tokens[start:]


def _split(tokens: list[_Token], join: str) -> list[list[_Token]]:
    """The tokens between the words that join them, brackets kept whole."""
    parts: list[list[_Token]] = [[]]
    closing: list[str] = []
    for token in tokens:
        if token.text in _OPENS:
            closing.append(_OPENS[token.text])
        elif closing and token.text == closing[-1]:
            closing.pop()
        if token.text == join and not closing:
            parts.append([])
        else:
            parts[-1].append(token)
    return parts


def _of_simple_case(tokens: list[_Token], place: int) -> bool:
    """Whether the CASE of a WHEN compares one value with words."""
    depth = 0
    for back in range(place - 1, -1, -1):
        text = tokens[back].text
        depth += (text in _OPENS.values()) - (text in _OPENS)
        if depth < 0:
            return text == "CASE" and tokens[back + 1].text != "WHEN"
    return False
