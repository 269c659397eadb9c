"""What is rendered when the product is built: the schema, and the conditions that statements share with guards.

Tables and indexes are rendered by SQLAlchemy, all else by the emitter.
"""

from __future__ import annotations

import textwrap
from collections.abc import Iterator, Mapping

import sqlalchemy as sa

from orchestrator.hints import Any
from orchestrator.store import (
    completion_views,
    emitter,
    guards_groups,
    guards_handoffs,
    guards_imported,
    guards_rows,
    guards_running,
    guards_tables,
    guards_tasks,
    schema,
    schema_script,
    tables_record,
    task_rules,
)
from orchestrator.store.emitter import Guard

GUARDS: tuple[Guard, ...] = (
    *guards_tables.GUARDS,
    *guards_rows.GUARDS,
    *guards_handoffs.GUARDS,
    *guards_groups.GUARDS,
    *guards_tasks.GUARDS,
    *guards_imported.GUARDS,
    *guards_running.GUARDS,
)
"""What no client may do, as each is declared."""


def sqlite() -> str:
    """The script that creates everything in SQLite."""
    return schema_script.joined(list(statements(emitter.SQLite())))


def postgresql() -> str:
    """The script that creates everything in PostgreSQL."""
    return schema_script.joined(list(statements(emitter.PostgreSQL())))


def statements(database: emitter.SQLite | emitter.PostgreSQL) -> Iterator[str]:
    """The statements that create everything in a database, in their order."""
    yield from database.beginning()
    for table in schema.metadata.sorted_tables:
        yield from database.table(table)
    yield from map(database.view, (guards_handoffs.VIEW, *completion_views.VIEWS))
    for guard in GUARDS:
        yield from database.guard(guard)
    yield guards_tables.VERSION_TABLE
    for guard in guards_tables.VERSION_GUARDS:
        yield from database.guard(guard)


def task_conditions() -> str:
    """The module that holds the conditions on tasks for whoever reads them by statements."""
    session, task, group, row = map(_written, (":session", ":task", ":group", "t.id"))
    questions = emitter.SQLite().expression(task_rules.questions_before(session, group, task))
    return _module(
        "When a task may begin and when it may be done, as SQL for statements.",
        "task_rules",
        {
            "WAITS": task_rules.waits(session, task, group),
            "LINE_WAITS": task_rules.line_waits(session, task),
            "BEGUN_BELOW": task_rules.begun_below(session, task),
            "NONE_DONE": task_rules.none_done(session, task),
            "QUESTIONS_BEFORE": questions.removeprefix("SELECT 1 FROM "),
            "ROW_WAITS_ON_TASKS": task_rules.waits_on_tasks(session, row),
            "ROW_AND_ABOVE": sa.select(sa.literal_column("id")).select_from(task_rules.line(session, row)),
        },
    )


def _written(name: str) -> emitter.Expression:
    return sa.literal_column(name)


def path_statements() -> str:
    """The module that holds what the completion views are made of for whoever asks about the past."""
    report = emitter.Row("r", tables_record.agent_reports)
    return _module(
        "What the completion views conclude, as SQL that takes the marks of a group as parameters.",
        "completion_views",
        {"JUDGED": completion_views.judged(), "PROOF": completion_views.proof(report)},
    )


def _module(summary: str, source: str, named: Mapping[str, Any]) -> str:
    sql = emitter.SQLite()
    texts = {name: each if isinstance(each, str) else sql.expression(each) for name, each in named.items()}
    head = f'"""{summary}\n\nRendered from `{source}` by `./task generate`.\n"""\n'
    return head + "".join(f"\n{name} = (\n{_wrapped(text)})\n" for name, text in texts.items())


def _wrapped(text: str) -> str:
    lines = textwrap.wrap(text, 110, break_long_words=False, break_on_hyphens=False)
    return "".join(f'    "{line}{end}"\n' for line, end in zip(lines, [" "] * (len(lines) - 1) + [""], strict=True))
