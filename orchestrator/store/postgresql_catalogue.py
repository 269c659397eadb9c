"""What a PostgreSQL database is made of, compared with what this program declares.

The server stores no text of a definition but writes one from what it keeps. So everything that is declared is created
once more, in a schema of its own in a transaction that is rolled back, and both are written by the same server.

Source: spec 50, section 2; spec 90, section 1.
"""

from __future__ import annotations

from collections.abc import Iterator

from orchestrator.hints import Any
from orchestrator.store import schema_script
from orchestrator.store.findings import Finding

BESIDE = "orchestrator_declared"
_OURS = "= $1::regnamespace"
# Each part as its kind, its name and its definition, of the schema that is searched first.
_PARTS = f"""
SELECT 'table', c.relname, concat_ws(' ', c.relrowsecurity, string_agg(concat_ws(' ', a.attname,
    format_type(a.atttypid, a.atttypmod), a.attnotnull, a.attidentity, a.attgenerated, a.attcollation::regcollation,
    pg_get_expr(d.adbin, d.adrelid)), ', ' ORDER BY a.attname))
  FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped
  LEFT JOIN pg_attrdef d ON d.adrelid = c.oid AND d.adnum = a.attnum
  WHERE c.relkind IN ('r', 'p', 'f') AND c.relnamespace {_OURS} GROUP BY c.oid
UNION ALL SELECT 'constraint', conrelid::regclass || ': ' || conname,
    concat_ws(' ', pg_get_constraintdef(oid), convalidated) FROM pg_constraint
  WHERE contype IN ('c', 'f', 'p', 'u', 'x') AND connamespace {_OURS}
UNION ALL SELECT 'index', c.relname, concat_ws(' ', pg_get_indexdef(c.oid, 0, true), i.indisvalid, i.indisready)
  FROM pg_class c JOIN pg_index i ON i.indexrelid = c.oid WHERE c.relnamespace {_OURS}
UNION ALL SELECT 'view', relname, pg_get_viewdef(oid) FROM pg_class WHERE relkind IN ('v', 'm') AND relnamespace {_OURS}
UNION ALL SELECT 'rule', c.relname || ': ' || r.rulename, pg_get_ruledef(r.oid) FROM pg_rewrite r
  JOIN pg_class c ON c.oid = r.ev_class WHERE c.relkind <> 'v' AND c.relnamespace {_OURS}
UNION ALL SELECT 'trigger', t.tgname, concat_ws(' ', pg_get_triggerdef(t.oid, true), t.tgenabled) FROM pg_trigger t
  JOIN pg_class c ON c.oid = t.tgrelid WHERE NOT t.tgisinternal AND c.relnamespace {_OURS}
UNION ALL SELECT 'trigger', 'of ' || c.relname, string_agg(DISTINCT t.tgenabled::text, ' ') FROM pg_trigger t
  JOIN pg_class c ON c.oid = t.tgrelid WHERE t.tgisinternal AND c.relnamespace {_OURS} GROUP BY c.oid
UNION ALL SELECT 'function', proname::text, concat_ws(' ', pg_get_function_identity_arguments(oid), prorettype::regtype,
    prosrc, proconfig::text, provolatile, prosecdef, prolang) FROM pg_proc WHERE pronamespace {_OURS}
"""

_ACTING = ("constraint", "index", "rule", "trigger")
"""Kinds of parts that act within our steps; what else is there beside ours does nothing to them."""
Parts = dict[tuple[str, str], str]


def problems(connection: Any) -> Iterator[Finding]:
    """Every part that is missing, altered or none of this program's, as findings.

    Args:
        connection: a `postgresql.Connection`.

    Raises:
        EnvironmentProblem: READ_ONLY, the role may not create a schema in the database; BUSY.
    """
    beside = connection.another(write=True)
    try:
        beside.run("BEGIN READ WRITE")
        found = parts(beside, "public")
        create_beside(beside)
        wanted = parts(beside, BESIDE)
        beside.run("ROLLBACK")
    finally:
        beside.close()
    yield from differences(found, wanted)


def create_beside(connection: Any) -> None:
    """Create everything that is declared in a schema of its own, which is then searched first, in a transaction."""
    connection.run(f"CREATE SCHEMA {BESIDE}")
    connection.run(f"SET LOCAL search_path = {BESIDE}, pg_temp")
    for statement in schema_script.postgresql():
        connection.run(statement)


def parts(connection: Any, schema: str) -> Parts:
    """What a schema is made of, which is the one that is searched first: the definition of each part by its kind and
    name.
    """
    rows = connection.run(_PARTS.replace("$1", f"'{schema}'")).fetchall()
    return {(kind, name): text for kind, name, text in rows}


def differences(found: Parts, wanted: Parts) -> Iterator[Finding]:
    """Every part that is missing, altered or foreign, as findings."""
    for what, keys, words in (
        ("MISSING", wanted.keys() - found.keys(), "is missing"),
        ("ALTERED", {key for key in wanted.keys() & found.keys() if found[key] != wanted[key]},
         "differs from the one this program creates"),
        ("FOREIGN", {key for key in found.keys() - wanted.keys() if key[0] in _ACTING}, "is foreign to this program"),
    ):  # fmt: skip
        for kind, name in sorted(keys):
            code = "SCHEMA_FOREIGN" if what == "FOREIGN" else f"{kind.upper()}_{what}"
            way = f"DROP {kind.upper()} {name}, as its owner" if what == "FOREIGN" else "restore a backup: pg_restore"
            yield Finding(code, None, None, None, name, f"The {kind} {name} {words}.", way)
