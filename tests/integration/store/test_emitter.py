"""Expressions are rendered as plain SQL, with brackets where they are asked for."""

from __future__ import annotations

import sqlite3

import pytest
import sqlalchemy as sa

from orchestrator.store import declared_schema, emitter, schema_script
from orchestrator.store.emitter import Guard, Refusal, Row, View
from tests.cases import every

SQL = emitter.SQLite()
ROOMS = sa.Table("rooms", sa.MetaData(), *(sa.Column(name, sa.Integer) for name in ("id", "floor", "seats")))
NEW, OLD = Row("NEW", ROOMS), Row("OLD", ROOMS)
R, S = ROOMS.alias("r"), ROOMS.alias("s")
BELOW = emitter.walk("below", sa.select(emitter.named("id", NEW.id)))
BELOW = BELOW.union(emitter.read(emitter.ordered(BELOW, R, R.c.floor == BELOW.c.id), value=R.c.id))


@every(
    ("expression", "expected"),
    [
        pytest.param(emitter.differs(NEW.id, OLD.id), "NEW.id IS NOT OLD.id", id="another value"),
        pytest.param(NEW.id.is_not_distinct_from(1), "NEW.id IS 1", id="the same value"),
        pytest.param(NEW.seats != "it's", "NEW.seats <> 'it''s'", id="a text"),
        pytest.param(NEW.id.not_in(("a", "b")), "NEW.id NOT IN ('a', 'b')", id="none of some"),
        pytest.param(
            sa.and_(NEW.id == 1, sa.or_(NEW.id == 2, sa.and_(NEW.id == 3, NEW.id == 4))),
            "NEW.id = 1 AND (NEW.id = 2 OR NEW.id = 3 AND NEW.id = 4)",
            id="an OR within an AND",
        ),
        pytest.param(
            emitter.negated(emitter.bracketed(sa.and_(NEW.id == 1, NEW.id == 2))),
            "NOT (NEW.id = 1 AND NEW.id = 2)",
            id="a NOT",
        ),
        pytest.param((NEW.id > OLD.id).is_not(sa.true()), "(NEW.id > OLD.id) IS NOT 1", id="false or unknown"),
        pytest.param(
            sa.and_(emitter.flag(NEW.id == 1), NEW.id.concat("x") == "1x"),
            "CASE WHEN NEW.id = 1 THEN 1 ELSE 0 END AND NEW.id || 'x' = '1x'",
            id="a flag as a condition",
        ),
        pytest.param(
            emitter.case(("a", NEW.id), (2, Refusal("NO: two")), value=NEW.floor, otherwise=emitter.bracketed(NEW.id)),
            "CASE NEW.floor WHEN 'a' THEN NEW.id WHEN 2 THEN RAISE(ABORT, 'NO: two') ELSE (NEW.id) END",
            id="a refusal",
        ),
        pytest.param(
            emitter.negated(emitter.exists(R, R.c.id == NEW.id, emitter.exists(S, S.c.id == R.c.id), index="i")),
            "NOT EXISTS (SELECT 1 FROM rooms r INDEXED BY i WHERE r.id = NEW.id"
            " AND EXISTS (SELECT 1 FROM rooms s WHERE s.id = r.id))",
            id="a query in a query",
        ),
        pytest.param(
            emitter.newest(R.c.id, R, by=(R.c.seats, R.c.id)),
            "(SELECT r.id FROM rooms r ORDER BY r.seats DESC, r.id DESC LIMIT 1)",
            id="the newest row",
        ),
        pytest.param(
            emitter.exists(emitter.ordered(R, S), R.c.id == S.c.id),
            "EXISTS (SELECT 1 FROM rooms r CROSS JOIN rooms s WHERE r.id = s.id)",
            id="tables in an order",
        ),
        pytest.param(
            sa.or_(*[emitter.exists(BELOW, BELOW.c.id == number) for number in (1, 2)]),
            " OR ".join(
                "EXISTS (WITH RECURSIVE below(id) AS (SELECT NEW.id UNION SELECT r.id FROM below CROSS JOIN rooms r"
                f" ON r.floor = below.id) SELECT 1 FROM below WHERE below.id = {number})"
                for number in (1, 2)
            ),
            id="a walk, twice",
        ),
    ],
)
def test_an_expression_is_rendered_as_it_is_written(expression: emitter.Expression, expected: str) -> None:
    assert SQL.expression(expression) == expected


def test_a_guard_becomes_a_trigger_and_a_view_a_view() -> None:
    answer = emitter.case((NEW.id == 1, Refusal("NO: one")), (NEW.id == 2, Refusal("NO: two")))
    guard = Guard("rooms_stay", "UPDATE", "rooms", answer, NEW.floor > 0, ("id", "floor"))
    view = View("big", {"id": sa.literal_column("r.id"), "twice": sa.literal_column("r.seats * 2")}, R)
    raw = sqlite3.connect(":memory:")
    raw.execute("CREATE TABLE rooms (id INTEGER, floor INTEGER, seats INTEGER)")
    for name, statement in (("rooms_stay", *SQL.guard(guard)), ("big", SQL.view(view))):
        raw.execute(statement)
        assert raw.execute("SELECT sql FROM sqlite_master WHERE name = ?", [name]).fetchone() == (statement,)
    raw.execute("INSERT INTO rooms VALUES (0, 1, 7)")
    assert raw.execute("SELECT * FROM big").fetchall() == [(0, 14)]
    with pytest.raises(sqlite3.IntegrityError, match="NO: two"):
        raw.execute("UPDATE rooms SET id = 2")
    raw.execute("UPDATE rooms SET seats = 2")
    raw.close()


def test_a_row_has_no_other_columns_than_its_table() -> None:
    with pytest.raises(KeyError):
        NEW["windows"]


def test_the_script_makes_what_is_declared_and_what_it_says_is_what_sqlite_keeps() -> None:
    raw = sqlite3.connect(":memory:")
    raw.executescript(schema_script.FILE.read_text("utf-8"))
    assert declared_schema.stored(raw) == declared_schema.declared()
    raw.close()
