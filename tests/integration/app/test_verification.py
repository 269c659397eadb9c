"""`audit verify` and `audit head`: the whole database, its guards and its evidence, and what to note outside."""

from __future__ import annotations

import pathlib
import shlex
import sqlite3
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator.doors.cli import text
from orchestrator.doors.python import Orchestrator
from orchestrator.errors import Refused, UsageError
from orchestrator.store import declared_schema, findings, maintenance
from orchestrator.store.table_metadata import STORED_AS
from tests import forging
from tests.integration.app import story

NOTHING = "0" * 64


@pytest.fixture
def path(tmp_path: pathlib.Path) -> pathlib.Path:
    return story.written(tmp_path)


@pytest.fixture
def opened(path: pathlib.Path) -> Iterator[Orchestrator]:
    with Orchestrator.open(path, read_only=True) as o:
        yield o


def verify(path: pathlib.Path, session: str | None = None, **more: Any) -> dict[str, Any]:
    with Orchestrator.open(path, read_only=True) as o:
        return o.audit_verify(session, **more)


def codes(answer: dict[str, Any]) -> set[tuple[str, str]]:
    return {(each["code"], each["subject"]) for each in answer["findings"]}


def head(path: pathlib.Path, session: str) -> str:
    with Orchestrator.open(path, read_only=True) as o:
        return str(o.audit_head(session)["heads"][0]["head"])


def test_nothing_is_wrong_with_a_story_that_nobody_touched(path: pathlib.Path) -> None:
    answer = verify(path)
    assert (answer["ok"], answer["findings"], answer["counts"], answer["total"], answer["exit_code"]) == (
        True, [], {}, 0, 0,
    )  # fmt: skip
    raw = sqlite3.connect(path)
    assert answer["events"] == raw.execute("SELECT count(*) FROM audit_events").fetchone()[0]
    assert answer["chains"] == raw.execute("SELECT 1 + count(*) FROM sessions").fetchone()[0]
    left_out = ("audit_events", "texts", *STORED_AS.values())
    tables = [
        *STORED_AS,
        *(name for kind, name in declared_schema.declared() if kind == "table" and name not in left_out),
    ]
    counts = [raw.execute(f"SELECT count(*) FROM {name}").fetchone()[0] for name in tables]
    assert answer["rows"] == sum(counts)
    raw.close()


def test_every_chain_alone_is_whole_and_names_its_head(opened: Orchestrator) -> None:
    heads = opened.audit_head()["heads"]
    assert [each["session_id"] for each in heads] == ["@store", "S1", "S2", "S3", "trip_0", "trip_1", "work"]
    for each in heads:
        answer = opened.audit_verify(each["session_id"], head=each["head"])
        assert (answer["ok"], answer["head"], answer["chains"]) == (True, each["head"], 1)
        assert each["head"] == f"{each['seq']}:{each['hash']}"


def test_people_call_the_chain_of_the_store_store(opened: Orchestrator) -> None:
    assert opened.audit_verify("store") == opened.audit_verify("@store")
    assert opened.audit_head("store")["heads"][0]["session_id"] == "@store"
    assert text.render("audit head", opened.audit_head("store")).splitlines()[1].startswith("store")


@pytest.mark.parametrize("words", ["audit_verify", "audit_head"])
def test_an_unknown_session_is_refused(opened: Orchestrator, words: str) -> None:
    with pytest.raises(Refused) as caught:
        getattr(opened, words)("S9")
    assert caught.value.code == "UNKNOWN_SESSION"


def test_a_session_whose_row_is_gone_is_verified_all_the_same(path: pathlib.Path) -> None:
    forging.tamper(path, "DELETE FROM sessions WHERE id = 'S2'")
    assert ("STATE_MISSING", "S2") in codes(verify(path, "S2"))


# Heads


@pytest.mark.parametrize("given", ["", "7", "x:y", "0:" + NOTHING, "3:" + NOTHING[1:], NOTHING + "0", "3:4:" + NOTHING])
def test_what_is_no_head_is_told_so(opened: Orchestrator, given: str) -> None:
    with pytest.raises(UsageError) as caught:
        opened.audit_verify("S1", head=given)
    assert (caught.value.code, caught.value.suggestion) == ("USAGE", "o.audit_head()")


@pytest.mark.parametrize("session", ["S3", None])
def test_a_record_that_was_written_anew_misses_the_noted_head(path: pathlib.Path, session: str | None) -> None:
    noted = head(path, "S3")
    assert all(verify(path, session, head=each)["ok"] for each in (noted, noted.partition(":")[2].upper()))
    with forging.unguarded(path) as raw:
        raw.execute("UPDATE agent_reports SET summary = 'all is well' WHERE session_id = 'S3' AND seq = 8")
        forging.recompute(raw, "S3")
    assert verify(path, session)["ok"]
    answer = verify(path, session, head=noted)
    assert (answer["ok"], answer["exit_code"]) == (False, 1)
    assert [(each["code"], each["seq"], each["table"]) for each in answer["findings"]] == [
        ("HEAD_MISSING", int(noted.partition(":")[0]), "audit_events")
    ]


def test_since_needs_a_session(opened: Orchestrator) -> None:
    with pytest.raises(UsageError, match="--since needs --session-id"):
        opened.audit_verify(since=3)


def test_only_what_came_after_a_step_is_looked_at(path: pathlib.Path) -> None:
    forging.tamper(path, "UPDATE agent_reports SET summary = 'forged' WHERE session_id = 'S3' AND seq = 8")
    assert [verify(path, "S3", since=since)["ok"] for since in (0, 7, 8, 12)] == [False, False, True, True]
    assert verify(path, "S3", since=12)["events"] == verify(path, "S3")["events"] - 12


# Guards


def test_every_guard_that_is_gone_is_named(path: pathlib.Path) -> None:
    raw = sqlite3.connect(path)
    guards = [key for key in declared_schema.declared() if key[0] in maintenance.REPAIRABLE]
    for kind, name in reversed(guards):
        raw.execute(f"DROP {kind} {name}")
    raw.close()
    assert codes(verify(path, limit=1000)) == {(f"{kind.upper()}_MISSING", name) for kind, name in guards}


CHANGED = {
    "a trigger that says another word": (
        "UPDATE sqlite_master SET sql = replace(sql, 'NEVER', 'SELDOM') WHERE name = 'agent_reports_are_never_changed'",
        ("TRIGGER_ALTERED", "agent_reports_are_never_changed"),
    ),
    "a view that says more": (
        "UPDATE sqlite_master SET sql = sql || ' LIMIT 1' WHERE name = 'completion_paths'",
        ("VIEW_ALTERED", "completion_paths"),
    ),
    "an index of other rows": (
        "UPDATE sqlite_master SET sql = replace(sql, 'IS NULL', 'IS NOT NULL') WHERE name = 'ix_blockers_open'",
        ("INDEX_ALTERED", "ix_blockers_open"),
    ),
    "a table without its check": (
        "UPDATE sqlite_master SET sql = replace(sql, 'complexity BETWEEN 1 AND 10', 'complexity > 0')"
        " WHERE name = 'task_groups'",
        ("TABLE_ALTERED", "task_groups"),
    ),
    "the migrations' table": (
        "UPDATE sqlite_master SET sql = replace(sql, ' NOT NULL', '') WHERE name = 'alembic_version'",
        ("TABLE_ALTERED", "alembic_version"),
    ),
    "a trigger of somebody's": (
        "CREATE TRIGGER helpful AFTER INSERT ON agent_reports BEGIN SELECT 1; END",
        ("SCHEMA_FOREIGN", "helpful"),
    ),
    "a trigger under a name that is not looked at": (
        "CREATE TRIGGER alembic_version AFTER INSERT ON agent_reports BEGIN SELECT 1; END",
        ("SCHEMA_FOREIGN", "alembic_version"),
    ),
    "a trigger under a name of SQLite's own": (
        "INSERT INTO sqlite_master (type, name, tbl_name, rootpage, sql) VALUES ('trigger', 'sqlite_helpful', 'agents',"
        " 0, 'CREATE TRIGGER sqlite_helpful AFTER INSERT ON agents BEGIN SELECT 1; END')",
        ("SCHEMA_FOREIGN", "sqlite_helpful"),
    ),
    "a view of somebody's": ("CREATE VIEW easy AS SELECT 1", ("SCHEMA_FOREIGN", "easy")),
    "an index of somebody's": ("CREATE INDEX easy ON agents (role)", ("SCHEMA_FOREIGN", "easy")),
    "a table of somebody's": ("CREATE TABLE notes (text)", ("SCHEMA_FOREIGN", "notes")),
}  # fmt: skip


@pytest.mark.parametrize(("statement", "expected"), CHANGED.values(), ids=CHANGED)
@pytest.mark.parametrize("session", [None, "S2"], ids=["everything", "one session"])
def test_the_schema_is_compared_text_by_text(
    path: pathlib.Path, session: str | None, statement: str, expected: tuple[str, str]
) -> None:
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute("PRAGMA writable_schema=ON")
    raw.execute(statement)
    raw.close()
    answer = verify(path, session)
    assert expected in codes(answer)
    assert all(each["suggestion"] for each in answer["findings"])


@pytest.mark.parametrize("statement", [
    'CREATE TRIGGER "a b\'s ""c""" AFTER INSERT ON texts BEGIN SELECT 1; END', "CREATE VIEW easy AS SELECT 1",
    "CREATE INDEX easy ON agents (role)", "CREATE TABLE notes (text)",
])  # fmt: skip
def test_what_is_none_of_this_programs_goes_by_the_command_that_is_named(path: pathlib.Path, statement: str) -> None:
    raw = sqlite3.connect(path, isolation_level=None)
    raw.execute(statement)
    (finding,) = verify(path)["findings"]
    program, file, sql = shlex.split(finding["suggestion"])
    assert (finding["code"], program, file) == ("SCHEMA_FOREIGN", "sqlite3", str(path))
    raw.execute(sql)
    raw.close()
    assert verify(path)["findings"] == []


def test_an_index_that_hides_a_row_is_found(path: pathlib.Path) -> None:
    """The row is written while its index is not in the schema, so that whoever asks the index does not see it."""
    with forging.unguarded(path) as raw:
        raw.execute("PRAGMA writable_schema=ON")
        kept = raw.execute("SELECT * FROM sqlite_master WHERE name = 'ix_agent_reports_group'").fetchone()
        raw.execute("DELETE FROM sqlite_master WHERE name = 'ix_agent_reports_group'")
    with forging.unguarded(path) as raw:
        raw.execute("UPDATE agent_reports SET effect = 'approve' WHERE session_id = 'S3' AND seq = 7")
        raw.execute("PRAGMA writable_schema=ON")
        raw.execute("INSERT INTO sqlite_master VALUES (?, ?, ?, ?, ?)", kept)
        raw.execute("PRAGMA writable_schema=RESET")
    with forging.unguarded(path) as raw:
        forging.recompute(raw, "S3")
    # No transition gives that report such an effect, either.
    assert {each["code"] for each in verify(path)["findings"]} == {"FILE_DAMAGED", "DECISION_WITHOUT_RULE"}


def test_what_shadows_the_database_on_this_connection_is_found(path: pathlib.Path) -> None:
    with Orchestrator.open(path) as o:
        o._context.connection.execute("CREATE TEMP VIEW sessions AS SELECT * FROM main.sessions WHERE id <> 'S2'")
        o._context.connection.execute("CREATE TEMP TRIGGER odd AFTER INSERT ON main.agents BEGIN SELECT 1; END")
        assert codes(o.audit_verify("S3")) >= {("TEMP_SHADOW", "sessions"), ("TEMP_SHADOW", "odd")}


def test_a_repair_is_mentioned_by_every_later_verification(path: pathlib.Path) -> None:
    raw = sqlite3.connect(path)
    raw.execute("DROP TRIGGER agent_reports_are_never_changed")
    raw.close()
    assert codes(verify(path)) == {("TRIGGER_MISSING", "agent_reports_are_never_changed")}
    assert maintenance.repair(path, story.AT, "system:router") == ["agent_reports_are_never_changed"]
    for session in (None, "S1", "store"):
        answer = verify(path, session)
        assert answer["ok"]
        assert [each["message"] for each in answer["notes"]] == [
            f"Step {answer['notes'][0]['seq']} of the store: triggers, views or indexes were recreated by system:router"
            f" at {story.AT}: trigger agent_reports_are_never_changed."
        ]
        assert "recreated" in text.render("audit verify", answer)


@pytest.mark.parametrize("input_", ["no JSON", "[1]", '{"found": 7}', "{}"])
def test_a_repair_whose_event_was_altered_is_mentioned_all_the_same(path: pathlib.Path, input_: str) -> None:
    with sqlite3.connect(path) as raw:
        raw.execute("DROP TRIGGER agent_reports_are_never_changed")
    raw.close()
    maintenance.repair(path, story.AT, "system:router")
    with forging.unguarded(path) as raw:
        raw.execute("UPDATE audit_events SET input = ? WHERE kind = 'repair'", (input_,))
    answer = verify(path)
    assert (answer["ok"], [each["message"].endswith(f"at {story.AT}.") for each in answer["notes"]]) == (False, [True])


def test_a_repair_of_much_is_told_in_few_words(path: pathlib.Path) -> None:
    with sqlite3.connect(path) as raw:
        names = [row[0] for row in raw.execute("SELECT name FROM sqlite_master WHERE type = 'trigger' ORDER BY name")]
        for name in names[:7]:
            raw.execute(f"DROP TRIGGER {name}")
    raw.close()
    maintenance.repair(path, story.AT, "system:router")
    (note,) = verify(path)["notes"]
    assert (note["message"].count("trigger "), note["message"].endswith(" and 2 more.")) == (5, True)


# Evidence and texts


def test_evidence_in_a_file_is_compared_with_its_hash(path: pathlib.Path, tmp_path: pathlib.Path) -> None:
    file = tmp_path / story.FILE
    file.write_bytes(b"another output")
    found = verify(path)["findings"]
    assert [(each["code"], each["session_id"], each["table"]) for each in found] == [
        ("EVIDENCE_FILE", "S3", "evidence")
    ]
    file.unlink()
    (found,) = verify(path, "S3")["findings"]
    assert "cannot be read" in found["message"]
    assert verify(path, "S1")["ok"]


def test_of_evidence_that_was_altered_the_file_is_to_be_restored(path: pathlib.Path) -> None:
    found = findings.Found(str(path), 10)
    found.at(findings.EVIDENCE_FILE, "S2", 2, "evidence", "S2:E2", "It is another one.")
    assert [each.suggestion for each in found.kept] == [
        "orchestrator audit timeline --session-id S2 --since 1 --until 2; then restore a backup of the file from before"
        " it was changed"
    ]


def test_evidence_and_texts_are_compared_with_their_hashes(path: pathlib.Path) -> None:
    forging.tamper(path, "UPDATE evidence SET content = 'forged' WHERE path IS NULL", "UPDATE texts SET content = 'x'")
    assert {"EVIDENCE_ALTERED", "ROWS_ALTERED", "TEXT_ALTERED"} <= set(verify(path)["counts"])


# What is shown


def test_findings_are_cut_and_counted(path: pathlib.Path) -> None:
    forging.tamper(path, "UPDATE status_changes SET reason = 'forged'", "UPDATE agent_reports SET summary = 'forged'")
    answer = verify(path, limit=2)
    assert (len(answer["findings"]), answer["has_more"], answer["total"]) == (2, True, sum(answer["counts"].values()))
    assert answer["findings"] == verify(path, limit=1000)["findings"][:2]
    lines = text.render("audit verify", answer).splitlines()
    assert f"2 of {answer['total']} listed: repeat with --limit {answer['total']}" in lines
    assert lines[0].startswith(f"{answer['total']} findings in ")


def test_the_text_says_what_was_looked_at_and_what_is_wrong(path: pathlib.Path) -> None:
    answer = verify(path, "S2")
    shown = f"{answer['events']} events and {answer['rows']} rows of session S2"
    assert text.render("audit verify", answer) == f"No problems found in {shown}.\nHead: {answer['head']}"
    forging.tamper(path, "UPDATE sessions SET goal = 'f\x1bged' WHERE id = 'S2'")
    assert text.render("audit verify", verify(path, "S2")).splitlines()[3:] == [
        "Findings",
        "  STATE_ALTERED session S2, step 2, sessions: Row S2 of sessions is not as step 2, the last that wrote it,"
        " left it.",
        "    try: o.audit_timeline(session_id='S2', since=1, until=2); then restore a backup of"
        f" {path} from before it was changed",
    ]


def test_verifying_reads_one_moment(path: pathlib.Path) -> None:
    with Orchestrator.open(path) as writer, Orchestrator.open(path, read_only=True) as reader:
        connection = reader._context.connection
        connection.execute("BEGIN")
        connection.execute("SELECT count(*) FROM sessions").fetchone()
        writer.session_create("S4")
        before = reader.audit_verify()
        connection.execute("ROLLBACK")
        after = reader.audit_verify()
    assert (before["ok"], after["ok"], after["chains"] - before["chains"]) == (True, True, 1)
