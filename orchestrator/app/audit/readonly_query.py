"""Any question in SQL, on a connection that can only read."""

from __future__ import annotations

from orchestrator.app.kernel import pagination
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import database_urls
from orchestrator.store import postgresql_query, readonly_sql


def query(context: Context, *, sql: str, limit: int = 1000, timeout: int = 30) -> Answer:
    """Run one reading statement: SELECT, WITH, VALUES, EXPLAIN, or on a file a PRAGMA that only tells.

    It sees what is committed. Nothing can be written, attached or set by it.

    Args:
        sql: one statement, without parameters.
        limit: rows at most; the answer also ends with the row that brings it above 32 Mi characters.
        timeout: seconds that it may take.

    Returns:
        `columns`, the names in order; `rows`, each a list of values in the same order, so that columns of one name
        lose nothing; `has_more`. Whole numbers, texts and null come as they are; bytes as hexadecimal digits; a
        fraction as a number, an infinite one as the text `Infinity` or `-Infinity`; not-a-number is null in SQLite; of
        a text that is no UTF-8 the odd bytes as `\\xNN`.

    Raises:
        Refused: NOT_PERMITTED, it would do something else than read.
        UsageError: USAGE, the limit; SQL_INVALID, with what is wrong and where; QUERY_TIMEOUT.
        EnvironmentProblem: BUSY, READ_ONLY, CORRUPT, NO_DATABASE.
    """
    pagination.check_limit(limit)
    if database_urls.is_postgresql(context.path):
        found = postgresql_query.ask(context.connection, sql, limit=limit, timeout_s=timeout)
    else:
        found = readonly_sql.ask(context.path, sql, limit=limit, timeout_s=timeout, deadline_s=context.deadline_s)
    return {"success": True, "columns": found.columns, "rows": found.rows, "has_more": found.has_more}
