"""Guards and views, declared as SQLAlchemy Core expressions, rendered as the SQL of a database.

A guard says at which writes to a table it is asked, on which rows it speaks, and what it answers: a value, or a
`Refusal` with the message that the client gets. What a trigger is made of differs from database to database; the
expressions do not. Rendering is part of building the product: what runs reads the rendered text.

The text is plain: no quotes around names, no `AS` before an alias, brackets where the expressions have them.
"""

from __future__ import annotations

import re

import sqlalchemy as sa
from sqlalchemy.dialects.postgresql.base import (
    PGCompiler,
    PGDDLCompiler,
    PGDialect,
    PGIdentifierPreparer,
    PGTypeCompiler,
)
from sqlalchemy.dialects.sqlite.base import SQLiteCompiler, SQLiteIdentifierPreparer
from sqlalchemy.dialects.sqlite.pysqlite import SQLiteDialect_pysqlite
from sqlalchemy.sql import compiler, elements, operators, visitors
from sqlalchemy.sql.selectable import FromClause

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any
from orchestrator.store import schema_script

Expression = sa.ColumnElement[Any]

ALWAYS = "1"
"""What always holds, in SQLite."""
UNNAMED = "source"
"""The alias of a subquery in FROM that no expression names; SQLite needs none."""

LEASES = (
    'CREATE TABLE leases (\n\towner TEXT COLLATE "C" NOT NULL,\n\tsession_id TEXT COLLATE "C" NOT NULL,\n'
    "\tmode TEXT NOT NULL,\n\tuntil TIMESTAMPTZ NOT NULL,\n\tPRIMARY KEY (owner, session_id)\n)"
)
"""Which processes are at work, and until when they are taken for that. It is no part of the record, and on a file the
system tells."""


class Refusal(sa.ColumnElement[int]):
    """In the place of a value: the statement that fires the guard is refused with this message."""

    __visit_name__ = "refusal"
    inherit_cache = False
    type = sa.Integer()

    def __init__(self, message: str) -> None:
        self.message = message


class SameHiddenKey(sa.ColumnElement[Any]):
    """Whether a row `t` has the new one's key that no column holds; only SQLite has such."""

    __visit_name__ = "same_hidden_key"
    inherit_cache = False
    type = sa.types.NULLTYPE


class _Own(sa.ColumnElement[Any]):
    """An expression in which brackets stand only where they are asked for."""

    inherit_cache = False
    type = sa.types.NULLTYPE

    def __init__(self, element: Expression) -> None:
        self.element = element

    def self_group(self, against: Any = None) -> Any:
        """The same: what is to be in brackets is bracketed."""
        return self

    def get_children(self, **kw: Any) -> tuple[Expression, ...]:
        """What it is made of."""
        return (self.element,)


class _Not(_Own):
    __visit_name__ = "not_own"


class _Brackets(_Own):
    __visit_name__ = "brackets"


class _Named(elements.Label[Any]):
    """A column whose name is said elsewhere: in the head of a recursive query."""

    __visit_name__ = "named_elsewhere"
    inherit_cache = False


class _AsText(_Own):
    __visit_name__ = "as_text"


class Row:
    """A row that expressions name without reading it: `NEW`, `OLD`, or one of an enclosing query.

    name: as it is written before its columns; empty where these stand alone.
    """

    def __init__(self, name: str, columns: sa.Table | tuple[str, ...]) -> None:
        self._name = name
        self._types: dict[str, Any] = dict.fromkeys(columns) if isinstance(columns, tuple) else {}
        if isinstance(columns, sa.Table):
            self._types = {each.name: each.type for each in columns.columns}

    def __getitem__(self, column: str) -> Expression:
        """A column of the row.

        Raises:
            KeyError: it has none of this name.
        """
        text = f"{self._name}.{column}" if self._name else column
        return sa.literal_column(text, self._types[column])

    def __getattr__(self, column: str) -> Expression:
        return self[column]


def negated(condition: Expression) -> Expression:
    """`NOT` before a condition."""
    return _Not(condition)


def bracketed(expression: Expression) -> Expression:
    """An expression in brackets."""
    return _Brackets(expression)


def as_text(value: Expression) -> Expression:
    """A value as it is compared with a text; SQLite makes a text of a number by itself."""
    return _AsText(value) if isinstance(value.type, sa.Integer) else value


def differs(value: Expression, other: Any) -> Expression:
    """Whether two values differ; null is a value like others, and the answer never null."""
    return value.is_distinct_from(other)


def case(*whens: tuple[Any, Any], value: Expression | None = None, otherwise: Any = None) -> Expression:
    """A CASE; its conditions, or the words that its value is compared with, in this order."""
    given = [(sa.literal(when) if isinstance(when, str) else when, _value(then)) for when, then in whens]
    otherwise = None if otherwise is None else _value(otherwise)
    if value is None:
        return sa.case(*given, else_=otherwise)
    return sa.case(dict(given), value=value, else_=otherwise)


def flag(condition: Expression) -> Expression:
    """True or false, where a condition is true or not."""
    return case((condition, True), otherwise=False)


def _value(value: Any) -> Any:
    if isinstance(value, bool):
        return sa.true() if value else sa.false()
    return sa.literal(value) if isinstance(value, str | int) else value


def read(source: FromClause, *where: Expression, value: Any = 1, index: str = "") -> sa.Select[Any]:
    """One column of the rows that conditions find.

    Args:
        source: an alias of a table, or a join of such.
        where: all of them hold.
        value: what is read.
        index: the index by which SQLite finds the rows, where the statement names it.
    """
    column = sa.literal_column(str(value)) if isinstance(value, int) else value
    selected = sa.select(column).select_from(source).where(*where)
    return indexed(selected, source, index) if index else selected


def indexed(selected: sa.Select[Any], source: FromClause, index: str) -> sa.Select[Any]:
    """A query that names the index of a table for SQLite, so that a dropped index is an error, never a slow answer."""
    return selected.with_hint(source, f"INDEXED BY {index}", "sqlite")


def exists(source: FromClause, *where: Expression, index: str = "") -> Expression:
    """Whether there is a row that conditions find; as `read`."""
    return read(source, *where, index=index).exists()


def newest(value: Any, source: FromClause, *where: Expression, by: Any, index: str = "") -> Expression:
    """A value of the newest row that conditions find, null where there is none; as `read`."""
    columns = by if isinstance(by, tuple) else (by,)
    found = read(source, *where, value=value, index=index).order_by(*(each.desc() for each in columns))
    return found.limit(1).scalar_subquery()


def named(name: str, expression: Expression) -> Expression:
    """The one column of the first query of a walk; its name stands in the head of the walk."""
    return _Named(name, expression)


def walk(name: str, first: sa.Select[Any]) -> sa.CTE:
    """A recursive query, to which `union` adds what follows from each of its rows.

    UNION leaves out what was found before, so that a ring ends it.
    """
    return first.cte(name, recursive=True, nesting=True)


def ordered(first: FromClause, second: FromClause, on: Expression | None = None) -> FromClause:
    """Two tables joined, the first read first."""
    return first.join(second, sa.true() if on is None else on)


def names(expression: Expression) -> set[str]:
    """The columns that an expression names without a row before them."""
    return {each.name for each in visitors.iterate(expression) if isinstance(each, sa.ColumnClause)}


class Guard(NamedTuple):
    """What refuses a write.

    name: the trigger's name; event: INSERT, UPDATE or DELETE; table: where; columns: of an UPDATE, those of which one
    is set, or none for all; when: the condition on the row; answer: what is refused, or a CASE of it.
    """

    name: str
    event: str
    table: str
    answer: Expression
    when: Expression | None = None
    columns: tuple[str, ...] = ()


class View(NamedTuple):
    """A query by a name. columns: the expression of each, by its name; none where the source is a union."""

    name: str
    columns: dict[str, Expression]
    source: FromClause | sa.CompoundSelect[Any]
    distinct: bool = False


class _Unquoted(SQLiteIdentifierPreparer):
    """Names as they are: none of ours needs quotes."""

    def _requires_quotes(self, value: str) -> bool:
        return False


class _UnquotedPostgreSQL(PGIdentifierPreparer):
    """The same."""

    def _requires_quotes(self, value: str) -> bool:
        return False


class _Rendering(compiler.SQLCompiler):
    """What both databases have in common."""

    def get_render_as_alias_suffix(self, alias_name_text: str) -> str:
        return f" {alias_name_text}"

    def visit_ne_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._generate_generic_binary(binary, " <> ", **kw)

    def visit_not_in_op_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._generate_generic_binary(binary, " NOT IN ", **kw)

    def visit_is_true_unary_operator(self, element: Any, operator: Any, **kw: Any) -> str:
        return self.process(element.element, **kw)

    def visit_label(self, label: Any, *args: Any, **kw: Any) -> str:
        """A label is written where it gives another name than the column has."""
        text, name = self.process(label.element, **kw), label.name
        is_needless = isinstance(name, elements._truncated_label) or name == getattr(label.element, "name", "")
        return text if is_needless else f"{text} AS {name}"

    def visit_not_own(self, element: _Not, **kw: Any) -> str:
        return f"NOT {self.process(element.element, **kw)}"

    def visit_brackets(self, element: _Brackets, **kw: Any) -> str:
        return f"({self.process(element.element, **kw)})"

    def visit_named_elsewhere(self, element: _Named, **kw: Any) -> str:
        return self.process(element.element, **kw)

    def visit_grouping(self, grouping: Any, asfrom: bool = False, **kw: Any) -> str:
        inner = grouping.element
        text = self.process(inner, **kw)
        # SQLAlchemy's own precedences put brackets around these as well.
        return text if _is_exists(inner) or getattr(inner, "operator", None) is operators.concat_op else f"({text})"

    def visit_case(self, clause: Any, **kw: Any) -> str:
        head = "CASE" if clause.value is None else f"CASE {self.process(clause.value, **kw)}"
        whens = (f"WHEN {self._bare(when, **kw)} THEN {self.process(then, **kw)}" for when, then in clause.whens)
        otherwise = [] if clause.else_ is None else [f"ELSE {self.process(clause.else_, **kw)}"]
        return " ".join([head, *whens, *otherwise, "END"])

    def _bare(self, condition: Any, **kw: Any) -> str:
        """A condition after WHEN, without the brackets that SQLAlchemy puts around each."""
        return self.process(condition.element if isinstance(condition, elements.Grouping) else condition, **kw)

    def limit_clause(self, select: Any, **kw: Any) -> str:
        return f" LIMIT {self.process(select._limit_clause, **kw)}"


def _is_exists(element: Any) -> bool:
    return isinstance(element, elements.UnaryExpression) and element.operator is operators.exists


class _SQLite(_Rendering, SQLiteCompiler):
    def visit_refusal(self, refusal: Refusal, **kw: Any) -> str:
        return f"RAISE(ABORT, '{refusal.message}')"

    def visit_same_hidden_key(self, element: SameHiddenKey, **kw: Any) -> str:
        return "t.rowid = NEW.rowid"

    def visit_as_text(self, element: _AsText, **kw: Any) -> str:
        return self.process(element.element, **kw)

    def get_from_hint_text(self, table: Any, text: str | None) -> str | None:
        return text

    def get_render_as_alias_suffix(self, alias_name_text: str) -> str:
        return "" if alias_name_text == UNNAMED else f" {alias_name_text}"

    def visit_is_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._generate_generic_binary(binary, " IS NOT ", **kw)

    def visit_is_not_distinct_from_binary(self, binary: Any, operator: Any, **kw: Any) -> str:
        return self._generate_generic_binary(binary, " IS ", **kw)

    def visit_join(self, join: Any, asfrom: bool = False, from_linter: Any = None, **kw: Any) -> str:
        """SQLite reads the tables of a CROSS JOIN in their order."""
        first, second = (self.process(side, asfrom=True, **kw) for side in (join.left, join.right))
        on = self.process(join.onclause, **kw)
        on = "" if on == ALWAYS else f" ON {on}"
        return f"{first} CROSS JOIN {second}{on}"


class _SQLiteDialect(SQLiteDialect_pysqlite):
    statement_compiler = _SQLite
    preparer = _Unquoted
    supports_statement_cache = False


class _Database:
    """What both databases have in common."""

    def __init__(self, dialect: Any) -> None:
        self._dialect = dialect

    def expression(self, expression: Expression | sa.SelectBase) -> str:
        """An expression or query in one line, every value written out."""
        # Only within a query does SQLAlchemy keep the recursive queries of one part of an expression out of another.
        query = expression if isinstance(expression, sa.SelectBase) else sa.select(expression)
        text = str(query.compile(dialect=self._dialect, compile_kwargs={"literal_binds": True}))
        text = re.sub(r"\s+", " ", text)
        return text if query is expression else text.removeprefix("SELECT ")

    def table(self, table: sa.Table) -> list[str]:
        """A table and its indexes."""
        indexes = sorted(table.indexes, key=lambda each: str(each.name))
        made: list[Any] = [sa.schema.CreateTable(table), *map(sa.schema.CreateIndex, indexes)]
        return [str(each.compile(dialect=self._dialect)) for each in made]

    def view(self, view: View) -> str:
        """A view."""
        if isinstance(view.source, sa.CompoundSelect):
            queries = "\nUNION ALL\n".join(map(self.expression, view.source.selects))
            return f"CREATE VIEW {view.name} AS\n{queries}"
        columns = ",\n    ".join(f"{self.expression(each)} AS {name}" for name, each in view.columns.items())
        distinct = " DISTINCT" if view.distinct else ""
        source = self.expression(sa.select(sa.literal_column("*")).select_from(view.source)).removeprefix("SELECT * ")
        return f"CREATE VIEW {view.name} AS\nSELECT{distinct}\n    {columns}\n{source}"

    def _answer(self, guard: Guard) -> str:
        # A case a line: that is how a person reads which of several refusals speaks.
        return self.expression(guard.answer).replace(") WHEN ", ")\n    WHEN ")

    def _head(self, guard: Guard) -> str:
        columns = f" OF {', '.join(guard.columns)}" if guard.columns else ""
        return f"CREATE TRIGGER {guard.name} BEFORE {guard.event}{columns} ON {guard.table}"


class SQLite(_Database):
    """The SQL of SQLite: a guard is a trigger with its condition and one SELECT."""

    def __init__(self) -> None:
        super().__init__(_SQLiteDialect())

    def beginning(self) -> list[str]:
        """Nothing: each connection that may write has the write function."""
        return []

    def guard(self, guard: Guard) -> list[str]:
        """The trigger of a guard."""
        when = "" if guard.when is None else f"\nWHEN {self.expression(guard.when)}"
        return [f"{self._head(guard)}{when}\nBEGIN\n  SELECT {self._answer(guard)};\nEND"]


class _PostgreSQL(_Rendering, PGCompiler):
    def visit_refusal(self, refusal: Refusal, **kw: Any) -> str:
        return f"orchestrator_refuse('{refusal.message}')"

    def visit_same_hidden_key(self, element: SameHiddenKey, **kw: Any) -> str:
        return "false"

    def visit_as_text(self, element: _AsText, **kw: Any) -> str:
        return f"CAST({self.process(element.element, **kw)} AS text)"

    def visit_join(self, join: Any, asfrom: bool = False, from_linter: Any = None, **kw: Any) -> str:
        first, second = (self.process(side, asfrom=True, **kw) for side in (join.left, join.right))
        return f"{first} JOIN {second} ON {self.process(join.onclause, **kw)}"


class _PostgreSQLTables(PGDDLCompiler):
    def visit_create_index(self, create: Any, *args: Any, **kw: Any) -> str:
        """The condition of an index is the same as in SQLite."""
        text = str(super().visit_create_index(create, *args, **kw))  # type: ignore[no-untyped-call]
        where = create.element.dialect_options["sqlite"]["where"]
        return text if where is None else f"{text} WHERE {where}"

    def visit_computed_column(self, generated: Any, **kw: Any) -> str:
        """A number has to be made a text before it is joined to one: what is stored may not depend on settings."""
        text = re.sub(r"\|\| (seq|part)\b", r"|| CAST(\1 AS text)", str(generated.sqltext))
        return f"GENERATED ALWAYS AS ({text}) STORED"


    def visit_check_constraint(self, constraint: Any, **kw: Any) -> str:
        """A text is compared with IS in SQLite, where it may be null."""
        text = str(super().visit_check_constraint(constraint, **kw))  # type: ignore[no-untyped-call]
        return text.replace(" IS NOT '", " IS DISTINCT FROM '").replace(" IS '", " IS NOT DISTINCT FROM '")


class _PostgreSQLTypes(PGTypeCompiler):
    """Numbers have 64 bits, and texts are compared byte by byte, as in SQLite."""

    def visit_INTEGER(self, type_: Any, **kw: Any) -> str:
        return "BIGINT"

    def visit_TEXT(self, type_: Any, **kw: Any) -> str:
        return 'TEXT COLLATE "C"'


class _PostgreSQLDialect(PGDialect):
    statement_compiler = _PostgreSQL
    ddl_compiler = _PostgreSQLTables
    type_compiler_cls = _PostgreSQLTypes
    preparer = _UnquotedPostgreSQL
    supports_statement_cache = False


class PostgreSQL(_Database):
    """The SQL of PostgreSQL, from version 14: a guard is a trigger and the function that it calls.

    What a client puts into the schema of its temporary tables shadows nothing: that schema is searched last. TRUNCATE
    fires no trigger for rows, so that whatever refuses every DELETE refuses it as well.
    """

    def __init__(self) -> None:
        super().__init__(_PostgreSQLDialect(paramstyle="named"))  # type: ignore[no-untyped-call]

    def beginning(self) -> list[str]:
        """The functions that guards call, those of SQLite that statements call and PostgreSQL lacks, and leases."""
        return [*schema_script.functions(), LEASES]

    def table(self, table: sa.Table) -> list[str]:
        """A table and its indexes; the hidden key that statements order by is a column of its own, the last one."""
        created, *indexes = super().table(table)
        if table.dialect_options["sqlite"]["with_rowid"] is not False:
            head, end = created.rstrip().rsplit("\n)", 1)
            created = f"{head},\n\trowid BIGINT GENERATED ALWAYS AS IDENTITY\n){end}"
        return [created, *indexes]

    def guard(self, guard: Guard) -> list[str]:
        """The function of a guard and its trigger."""
        row = "OLD" if guard.event == "DELETE" else "NEW"
        asked = f"PERFORM {self._answer(guard)};"
        if guard.when is not None:
            asked = f"IF {self.expression(guard.when)} THEN\n    {asked}\n  END IF;"
        function = (
            f"CREATE FUNCTION {guard.name}() RETURNS trigger LANGUAGE plpgsql SET search_path = public, pg_temp AS $$\n"
            f"BEGIN\n  {asked}\n  RETURN {row};\nEND $$"
        )
        calls = f"EXECUTE FUNCTION {guard.name}()"
        made = [function, f"{self._head(guard)} FOR EACH ROW {calls}"]
        if guard.event == "DELETE" and guard.when is None:
            name = f"{guard.name}_by_truncate"
            made.append(f"CREATE TRIGGER {name} BEFORE TRUNCATE ON {guard.table} FOR EACH STATEMENT {calls}")
        return made
