"""What a server's lists are told by: each statement is bounded by an index, however long a chat is."""

from __future__ import annotations

import re

import pytest

from orchestrator.store import event_reader, memory, run_board

PLANS = {
    "board _COUNT": (run_board._COUNT, ["ix_runs_created", "sqlite_autoindex_runs_"]),
    "board _PAGE": (run_board._PAGE, ["ix_runs_created", "sqlite_autoindex_runs_"]),
    "board _STATES": (run_board._STATES, [r"ix_runs_created \(session_id=\?\)"]),
    "board _EXECUTORS": (run_board._EXECUTORS, [r"ix_runs_created \(session_id=\?\)"]),
    "board _QUEUED": (
        run_board._QUEUED, [r"ix_runs_open \(state=\? AND id>\?\)", r"e USING .*session_id=\? AND seq=\?"]
    ),
    "events _AFTER": (event_reader._AFTER, [r"SEARCH audit_events USING INTEGER PRIMARY KEY \(rowid>\?\)"]),
    "events _DECISIONS": (event_reader._DECISIONS, [r"SEARCH router_decisions .*\(session_id=\? AND seq=\?\)"]),
    "events _CHANGES": (
        event_reader._CHANGES,
        [r"SEARCH c USING PRIMARY KEY \(session_id=\? AND seq=\?\)", r"SEARCH t USING .*\(session_id=\? AND id=\?\)",
         r"SEARCH r USING .*\(session_id=\? AND id=\?\)"],
    ),
    "events _LAST": (event_reader._LAST, ["SEARCH audit_events"]),
}


@pytest.mark.parametrize("name", PLANS)
def test_a_statement_finds_its_rows_by_an_index(name: str) -> None:
    sql, wanted = PLANS[name]
    connection = memory.connect()
    names = dict.fromkeys(re.findall(r":(\w+)", sql), "1")
    plan = "\n".join(row[3] for row in connection.execute(f"EXPLAIN QUERY PLAN {sql}", names))
    for pattern in wanted:
        assert re.search(pattern, plan), plan
    # Sessions are gone through by a page, runs and events never.
    assert not re.search(r"SCAN (r|n|f|c|t|runs|e|audit_events|router_decisions)\b", plan), plan
