"""Statements of the store in the SQL of PostgreSQL.

Every statement has one source, in SQLite's SQL. What differs is rendered here, idiom by idiom; an idiom or function
that is not known is refused, so that no statement runs in another sense than it was written in. What PostgreSQL lacks
and means the same is a function of the schema (`emitter.PostgreSQL`).

Source: spec 90, section 1.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator, Sequence

from orchestrator.core.named_tuple import NamedTuple

_TOKEN = re.compile(
    r"""(?P<space>(?:\s|--[^\n]*(?:\n|$))+)
    |(?P<blob>[xX]'[0-9a-fA-F]*')
    |(?P<text>'(?:[^']|'')*'|"(?:[^"]|"")*")
    |(?P<parameter>:[A-Za-z_]\w*|\?\d*)
    |(?P<word>[A-Za-z_]\w*)
    |(?P<number>\d+)
    |(?P<sign><>|<=|>=|\|\||!=|[-+*/%=<>(),.])""",
    re.VERBOSE,
)
_KEYWORDS = frozenset(
    "ALL AND AS ASC BETWEEN BY CASE CAST COLLATE CONFLICT CROSS DELETE DESC DISTINCT DO ELSE END ESCAPE EXCEPT EXISTS"
    " FILTER FROM FULL GROUP HAVING IN INDEXED INNER INSERT INTERSECT INTO IS JOIN LEFT LIKE LIMIT NOT NOTHING NULL"
    " OFFSET ON OR ORDER OUTER OVER PARTITION RECURSIVE SELECT SET THEN UNION UPDATE USING VALUES WHEN WHERE"
    " WITH".split()
)
_REFUSED = frozenset("GLOB MATCH PRAGMA REGEXP REPLACE ROLLBACK ATTACH VACUUM RETURNING sqlite_master".upper().split())
"""Words of SQLite that mean nothing, or something else, in PostgreSQL."""
_FUNCTIONS = {
    **dict.fromkeys(("abs", "coalesce", "count", "length", "lower", "nullif", "replace", "substr", "sum", "trim",
                     "upper", "round", "row_number", "lag", "lead", "first_value"), ""),
    "ifnull": "coalesce",
    "json_array": "json_build_array",
    "json_array_length": "orchestrator_json_length",
    "json_each": "orchestrator_json_each",
    "json_extract": "orchestrator_json_extract",
    "json_type": "orchestrator_json_type",
    "json_valid": "orchestrator_json_valid",
    "instr": "strpos",
    "typeof": "orchestrator_typeof",
}  # fmt: skip
"""Functions by name, with their names in PostgreSQL where these differ."""
_OF_SEVERAL = {"max": "greatest", "min": "least"}
"""Aggregates that SQLite takes for another function where they are given several values."""
NULLABLE = frozenset(
    (
        "actor actual added_by agent alias answer approval approved_by approved_seq assignee awaited_action "
        "awaited_agent_id awaited_role awaited_since blocked_reason bound_at bound_seq builder_agent_id "
        "builder_role call_id change channel claim_beat_at claim_holder claim_token claim_until claimed_session "
        "client closed_at closed_by closed_seq command completed_at content created_by decision description due_at "
        "ended_at ended_seq ends error_code error_reason evidence executor_status external_by external_dependency "
        "external_seq fallback_agent former_status from_status group_id handoff handoff_agent handoff_group "
        "handoff_group_hash handoff_hash handoff_path held held_part held_seq include_context isolation kind "
        "limit_name logged_at max_parallel metadata metric model model_override more next_agent note opened_by "
        "opened_role operator outcome "
        "outcome_reason output owner parent_id path peer_id peer_status peer_version phases_completed phases_total "
        "question_id raw_hash reason released_at released_seq removed_by removed_reason removed_seq report_id "
        "reports_to resolution resolution_note resolved_at resolved_by resolved_seq rests_on retry_of role set_at "
        "set_by set_seq source stage started_at status status_changed_by status_changed_by_agent_id target task_id "
        "then_action timeout_ms trace turn usage verifier worker"
    ).split()
)
_END_OF_TERM = frozenset(("LIMIT", "OFFSET", "UNION", "EXCEPT", "INTERSECT"))
_BEFORE_VALUE = frozenset("AND BY CASE ELSE FROM HAVING IN LIKE LIMIT NOT ON OR SELECT SET THEN WHEN WHERE".split())
_CONDITIONS = frozenset(("AND", "NOT", "ON", "OR", "WHERE"))


class Token(NamedTuple):
    """A piece of a statement: space, text, blob, parameter, word, number or sign."""

    kind: str
    text: str


class Untranslatable(Exception):
    """A statement holds an idiom for which PostgreSQL is not known to have one that means the same."""


class Rendered(NamedTuple):
    """A statement as PostgreSQL takes it.

    sql: with numbered placeholders; names: whose value each of them takes, nothing where they are not named; hides:
    whether `*` may give the hidden key, which SQLite leaves out.
    """

    sql: str
    names: tuple[str, ...]
    hides: bool


@functools.lru_cache(maxsize=1024)
def rendered(sql: str) -> Rendered:
    """A statement of the store for PostgreSQL.

    Raises:
        Untranslatable: it holds an idiom that is not known here.
    """
    tokens = _Statement(_in_walking_order(_tokens(sql))).rendered()
    names = [each.text[1:] for each in tokens if each.kind == "parameter"]
    numbers = iter(range(1, len(names) + 1))
    text = "".join(_written(each, numbers) for each in tokens).strip()
    return Rendered(text, tuple(filter(None, names)), any(_is_star(tokens, each) for each in range(len(tokens))))


def _tokens(sql: str) -> list[Token]:
    """The pieces of a statement, of spaces one between two others."""
    found, place = [], 0
    while place < len(sql):
        match = _TOKEN.match(sql, place)
        if match is None:
            raise Untranslatable(f"{sql[place:place + 20]!r} in: {sql}")
        place = match.end()
        found.append(Token(str(match.lastgroup), " " if match.lastgroup == "space" else match[0]))
    return found


_WALK = re.compile(r"(SELECT .*? FROM )(\w+) (\w+)\b(.*)")
_AGGREGATES = re.compile(r"\b(count|group_concat|json_group_array|max|min|sum)\(")


def _in_walking_order(tokens: list[Token]) -> list[Token]:
    """A statement whose rows come in the order in which its recursive query found them.

    SQLite reads the rows of a walk one after another, the nearest first, and statements go by it; a server joins them
    in any order. So they are numbered as they are found.
    """
    words = [each.text.upper() for each in tokens if each.kind != "space"]
    if words[:2] != ["WITH", "RECURSIVE"]:
        return tokens
    start = _end_of_walk(tokens)
    found = _WALK.fullmatch("".join(each.text for each in tokens[start:]).strip())
    walk = next(each.text for each in tokens[3:] if each.kind == "word")
    if found is None or found[2] != walk or _AGGREGATES.search(found[1]) or re.search(r" (ORDER|GROUP) BY ", found[4]):
        return tokens
    head, name, alias, rest = found.groups()
    rest, limit, most = rest.partition(" LIMIT ")
    numbered = f"(SELECT *, row_number() OVER () AS place FROM {name}) {alias}"
    return tokens[:start] + _tokens(f" {head}{numbered}{rest} ORDER BY {alias}.place{limit}{most}")


def _end_of_walk(tokens: list[Token]) -> int:
    """The place after the bracket that closes the first query of WITH."""
    depth, is_body = 0, False
    for place, each in enumerate(tokens):
        is_body = is_body or (each.text.upper() == "AS" and not depth)
        depth += {"(": 1, ")": -1}.get(each.text, 0)
        if is_body and each.text == ")" and not depth:
            return place + 1
    return len(tokens)


def _written(token: Token, numbers: Iterator[int]) -> str:
    # Each place has a number of its own, since the server gives each number one type.
    if token.kind == "parameter":
        return f"${next(numbers)}"
    return f"'\\x{token.text[2:-1]}'::bytea" if token.kind == "blob" else token.text


def _is_star(tokens: Sequence[Token], place: int) -> bool:
    """Whether a `*` stands for all columns."""
    if tokens[place].text != "*":
        return False
    before = next((each.text.upper() for each in reversed(tokens[:place]) if each.kind != "space"), "")
    return before in ("SELECT", "DISTINCT", ",", ".")


class _Statement:
    """A statement that is rewritten piece by piece."""

    def __init__(self, tokens: list[Token]) -> None:
        self._tokens = tokens
        self._made: list[Token] = []
        self._sources = 0

    def rendered(self) -> list[Token]:
        place = 0
        while place < len(self._tokens):
            place = self._next(place)
        return self._made

    def _next(self, place: int) -> int:
        """Render the piece at a place; the place after it."""
        token = self._tokens[place]
        upper = token.text.upper()
        if token.kind == "word":
            if upper in _REFUSED:
                raise Untranslatable(f"{token.text} in: {self}")
            rule = _RULES.get(upper)
            if rule is not None:
                return rule(self, place)
            after = self._after(place)
            if upper not in _KEYWORDS and self._text(after) == "(" and not self._is_name(place):
                return self._function(place)
            if upper in _CONDITIONS:
                return self._condition(place)
        if token.text == "+" and self._is_before_value(place):
            return place + 1
        if token.kind == "parameter" and self._is_typeless(place):
            self._made += [Token("word", "CAST("), token, Token("word", ' AS text) COLLATE "C"')]
            return place + 1
        if token.text == "(" and self._text(self._after(place)) in ("SELECT", "VALUES", "WITH"):
            return self._subquery(place)
        self._made.append(token)
        return place + 1

    def __str__(self) -> str:
        return "".join(each.text for each in self._tokens)

    def _after(self, place: int) -> int:
        """The place of the next piece that is no space."""
        place += 1
        while place < len(self._tokens) and self._tokens[place].kind == "space":
            place += 1
        return place

    def _text(self, place: int) -> str:
        """A piece in capital letters, empty at the end."""
        return self._tokens[place].text.upper() if place < len(self._tokens) else ""

    def _before(self, place: int) -> Token:
        """The piece before, spaces aside."""
        return next((each for each in reversed(self._tokens[:place]) if each.kind != "space"), Token("sign", "("))

    def _is_before_value(self, place: int) -> bool:
        before = self._before(place)
        return before.text.upper() in _BEFORE_VALUE or before.text in ("(", ",", "=", "<", ">", "<=", ">=", "<>")

    def _is_typeless(self, place: int) -> bool:
        """Whether nothing beside a parameter tells the server its type."""
        at = self._after(place)
        is_asked = self._text(at) == "IS" and self._text(self._after(at)) in ("NULL", "NOT")
        return is_asked or (self._before(place).text.upper() == "SELECT" and self._text(at) in ("", "UNION", ")"))

    def _is_name(self, place: int) -> bool:
        """Whether brackets after a word list columns: of a table that is written, or of a recursive query."""
        return self._before(place).text.upper() in ("INTO", "WITH", "RECURSIVE", "AS") or (
            self._before(place).text == "," and self._is_head(place)
        )

    def _is_head(self, place: int) -> bool:
        """Whether what follows the brackets is AS and another bracket: a further recursive query."""
        close = self._close(self._after(place))
        behind = self._after(close)
        return self._text(behind) == "AS" and self._text(self._after(behind)) == "("

    def _close(self, place: int) -> int:
        """The place of the bracket that closes the one at a place."""
        depth = 0
        for each in range(place, len(self._tokens)):
            depth += {"(": 1, ")": -1}.get(self._tokens[each].text, 0)
            if depth == 0:
                return each
        raise Untranslatable(f"a bracket is not closed in: {self}")

    def _inside(self, start: int, end: int) -> list[Token]:
        """The pieces between two places, rendered."""
        return _Statement(self._tokens[start:end]).rendered()

    def _put(self, text: str, kind: str = "word") -> None:
        self._made.append(Token(kind, text))

    def _function(self, place: int) -> int:
        name, opened = self._tokens[place].text.lower(), self._after(place)
        close = self._close(opened)
        given = self._split(opened + 1, close)
        inner = self._inside(opened + 1, close)
        if name in _OF_SEVERAL:
            self._put(_OF_SEVERAL[name] if len(given) > 1 else name)
        elif name == "group_concat" and len(given) == 1:
            self._made += [Token("word", "string_agg(CAST("), *inner, Token("word", " AS text), ',')")]
            return close + 1
        elif name == "json_group_array":
            self._made += [Token("word", "coalesce(CAST(json_agg("), *inner, Token("word", ") AS text), '[]')")]
            return close + 1
        elif name == "julianday":
            self._made += [Token("word", "(extract(epoch FROM CAST("), *inner]
            self._put(" AS timestamptz)) / 86400 + 2440587.5)")
            return close + 1
        elif name in _FUNCTIONS:
            self._put(_FUNCTIONS[name] or name)
        else:
            raise Untranslatable(f"{name}() in: {self}")
        self._made += [Token("sign", "("), *inner, Token("sign", ")")]
        return close + 1

    def _split(self, start: int, end: int) -> list[int]:
        """Where the values between two places begin that commas part."""
        found, depth = [start] if start < end else [], 0
        for each in range(start, end):
            depth += {"(": 1, ")": -1}.get(self._tokens[each].text, 0)
            if self._tokens[each].text == "," and not depth:
                found.append(each + 1)
        return found

    def _condition(self, place: int) -> int:
        """A number that stands for a whole condition."""
        self._made.append(self._tokens[place])
        at = self._after(place)
        number, behind = self._text(at), self._text(self._after(at))
        if number not in ("0", "1") or (behind and behind not in (")", "AND", "OR", "THEN", "ORDER", "GROUP", "LIMIT")):
            return place + 1
        self._put(f" {'true' if number == '1' else 'false'}")
        return at + 1

    def _subquery(self, place: int) -> int:
        """A query in brackets; in FROM it needs a name."""
        close = self._close(place)
        self._made += [Token("sign", "("), *self._inside(place + 1, close), Token("sign", ")")]
        before, at = self._before(place).text.upper(), self._after(close)
        follows = self._text(at)
        is_named = follows == "AS" or (
            at < len(self._tokens) and self._tokens[at].kind == "word" and follows not in _KEYWORDS
        )
        if before in ("FROM", "JOIN") and not is_named:
            self._sources += 1
            self._put(f" source_{self._sources}")
        return close + 1

    def _indexed(self, place: int) -> int:
        """INDEXED BY: PostgreSQL chooses the index itself."""
        return self._after(self._after(place)) + 1

    def _is(self, place: int) -> int:
        """IS compares two values of which either may be null."""
        at = self._after(place)
        word = self._text(at)
        if word == "NULL" or (word == "NOT" and self._text(self._after(at)) == "NULL"):
            self._put("IS")
            return place + 1
        if word == "NOT":
            self._put("IS DISTINCT FROM")
            return at + 1
        self._put("IS NOT DISTINCT FROM")
        return place + 1

    def _like(self, place: int) -> int:
        """LIKE: without regard to case, and with no escape unless one is named."""
        self._put("ILIKE")
        at = self._after(place)
        if self._tokens[at].kind in ("text", "parameter"):
            self._put(" ")
            self._made.append(self._tokens[at])
            if self._text(self._after(at)) != "ESCAPE":
                self._put(" ESCAPE ''")
            return at + 1
        return place + 1

    def _cross(self, place: int) -> int:
        """CROSS JOIN with a condition only names an order for SQLite."""
        depth = 0
        for each in range(self._after(place) + 1, len(self._tokens)):
            depth += {"(": 1, ")": -1}.get(self._tokens[each].text, 0)
            word = self._text(each) if not depth else ""
            if word == "ON":
                return self._after(place)
            if depth < 0 or word in ("WHERE", "JOIN", "LEFT", "CROSS", "ORDER", "GROUP", "LIMIT", "UNION"):
                break
        self._made.append(self._tokens[place])
        return place + 1

    def _cast(self, place: int) -> int:
        opened = self._after(place)
        close = self._close(opened)
        type_ = next(each for each in range(close - 1, 0, -1) if self._tokens[each].kind == "word")
        if self._text(type_) == "BLOB":
            return self._bytes(opened, close)
        if self._text(type_) not in ("INTEGER", "TEXT"):
            raise Untranslatable(f"CAST AS {self._text(type_)} in: {self}")
        name = "bigint" if self._text(type_) == "INTEGER" else "text"
        self._made += [Token("word", "CAST("), *self._inside(opened + 1, type_), Token("word", f"{name})")]
        return close + 1

    def _bytes(self, opened: int, close: int) -> int:
        """CAST AS BLOB: the bytes of a text; of an array without the spaces that the server would put into it."""
        first = self._after(opened)
        self._put("convert_to(")
        if self._text(first) == "JSON_ARRAY":
            start = self._after(first)
            end = self._close(start)
            given = self._split(start + 1, end)
            self._put("'[' || concat_ws(','")
            for value, next_ in zip(given, [*[each - 1 for each in given[1:]], end], strict=True):
                self._made += [Token("word", ", coalesce(CAST(to_json("), *self._inside(value, next_)]
                self._put(") AS text), 'null')")
            self._put(") || ']'")
        else:
            as_ = max(each for each in range(opened, close) if self._text(each) == "AS")
            self._made += [Token("word", "CAST("), *self._inside(opened + 1, as_), Token("word", " AS text)")]
        self._put(", 'UTF8')")
        return close + 1

    def _order(self, place: int) -> int:
        """ORDER BY: a null comes before all values, as SQLite has it."""
        self._put("ORDER BY")
        start = self._after(place) + 1
        end, depth = len(self._tokens), 0
        for each in range(start, end):
            depth += {"(": 1, ")": -1}.get(self._tokens[each].text, 0)
            if depth < 0 or (not depth and self._text(each) in _END_OF_TERM):
                end = each
                break
        terms = self._split(start, end)
        for term, next_ in zip(terms, [*[each - 1 for each in terms[1:]], end], strict=True):
            made = self._inside(term, next_)
            while made and made[-1].kind == "space":
                made.pop()
            self._made += made
            words = [each.text for each in made if each.kind == "word"]
            descending = bool(words) and words[-1].upper() == "DESC"
            if not NULLABLE.isdisjoint(words):
                self._put(f" NULLS {'LAST' if descending else 'FIRST'}")
            if next_ != end:
                self._put(",", "sign")
        self._put(" ", "space")
        return end

    def _limit(self, place: int) -> int:
        """LIMIT -1 is none."""
        self._put("LIMIT")
        at = self._after(place)
        if self._text(at) == "-":
            self._put(" ALL")
            return self._after(at) + 1
        if self._tokens[at].kind != "parameter":
            return place + 1
        self._made += [Token("word", " nullif(CAST("), self._tokens[at], Token("word", " AS bigint), -1)")]
        return at + 1


_RULES = {
    "LIMIT": _Statement._limit,
    "INDEXED": _Statement._indexed,
    "IS": _Statement._is,
    "LIKE": _Statement._like,
    "CROSS": _Statement._cross,
    "CAST": _Statement._cast,
    "ORDER": _Statement._order,
}
