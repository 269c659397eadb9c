"""The tables, declared once. Migrations are compared with this; triggers and the completion view stand in `guards`.

Fat append-only tables keep SQLite's rowid (a row of a WITHOUT ROWID table travels in the inner nodes of its tree);
the small keyed ones do without, so that no REPLACE can reach a row by a number that no trigger sees.
`id` columns of the append-only tables are derived from session and step, never stored and never random.
"""

from __future__ import annotations

from orchestrator.store import columns, tables_record, tables_running, tables_work

metadata = columns.metadata
"""All tables: of the work, which change; of the record, which never change; of runs."""
TABLES = (tables_work, tables_record, tables_running)
"""The modules that declare them."""
