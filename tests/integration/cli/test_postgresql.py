"""The installed command on a PostgreSQL database: the same answers as on a file, and plain errors.

Source: spec 90, sections 1 and 4.
"""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import re
import shlex
import subprocess
import sys
from typing import Any

import pytest

from orchestrator import Orchestrator, store
from orchestrator.app.kernel import operations
from orchestrator.errors import EnvironmentProblem
from tests import postgresql
from tests.cases import every
from tests.integration.cli.conftest import Ask, Run, jsonl

STORY = """
init
session create S1 --goal 'Ship the patient portal'
group create reports --name 'Monthly reports'
group create e2e --name 'End-to-end tests' --depends-on reports
session create S1 --goal again
route project_manager PLANNING_COMPLETE
status
next
route qa_expert PASS -g reports
group set-status reports completed --by project_manager --reason 'looks done'
route developer READY_FOR_QA -g reports --summary 'done, 12 tests' --request-id R1
route developer READY_FOR_QA -g reports --summary 'done, 12 tests' --request-id R1
route developer READY_FOR_QA -g reports --summary 'something else' --request-id R1
why reports
task create T1 --title one -g reports
task list
task show T1
route qa_expert BLOCKED -g reports --summary 'the environment is down'
route tech_lead UNBLOCKING_GUIDANCE -g reports --details '{"external": true, "external_dependency": "environment"}'
route project_manager DEFER_EXTERNAL -g reports --summary 'runs when it is back'
status
handoff reports --turn 6
group show reports
group list
inbox
session list
session show S1
audit gaps
audit timeline
audit decisions
audit refusals
route project_manager RESUME_BLOCKED -g reports --summary 'it is back'
route qa_expert PASS -g reports
route tech_lead APPROVED -g reports
route developer MERGE_SUCCESS -g reports
validate
route project_manager BAZINGA --acknowledge reports='it came back'
validate --record
group set-status e2e completed --by project_manager --reason 'looks done'
audit head
audit verify
audit verify S1
"""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_SECONDS = re.compile(r'seconds": \d+')
_HASH = re.compile(r'\b[0-9a-f]{64}\b|[A-Za-z0-9+/]{43,}=?|"[0-9a-f]{4}"')


def told(answer: dict[str, Any], *places: str) -> str:
    """An answer without what differs from one database and moment to another."""
    text = json.dumps(answer, sort_keys=True)
    for place in places:
        text = text.replace(place, "DB")
    return _SECONDS.sub("SECONDS", _HASH.sub("HASH", _MOMENT.sub("MOMENT", text)))


def test_every_answer_is_that_of_a_file(
    ask: Ask, pg_folder: pathlib.Path, pg_template: str, tmp_path: pathlib.Path
) -> None:
    owner = postgresql.Connection(pg_folder)
    owner.run("CREATE DATABASE empty OWNER team;")
    file, url = str(tmp_path / "file.db"), postgresql.address(pg_folder, "empty")
    for line in STORY.strip().splitlines():
        one, other = (ask(*shlex.split(line), ORCHESTRATOR_DB=each) for each in (file, url))
        assert told(other, url) == told(one, file), line
    owner.run("DROP DATABASE empty;")
    owner.close()


BATCH: list[tuple[str, dict[str, Any]]] = [
    ("agent register", {"id": "dev-1", "role": "developer", "parent": "developer"}),
    ("agent register", {"id": "dev-2", "role": "developer", "parent": "developer"}),
    ("agent deactivate", {"id": "dev-2", "by": "project_manager", "reason": "gone"}),
    ("agent list", {}),
    ("agent show", {"id": "dev-1"}),
    ("agent tree", {}),
    ("session create", {"id": "S1", "goal": "ship"}),
    ("session create", {"id": "S2", "goal": "other"}),
    ("group create", {"id": "A", "session_id": "S1", "name": "a"}),
    ("group create", {"id": "B", "session_id": "S1", "name": "b"}),
    ("group depend", {"id": "B", "on": "A", "session_id": "S1", "by": "project_manager", "reason": "first"}),
    ("group undepend", {"id": "B", "on": "A", "session_id": "S1", "by": "project_manager", "reason": "no"}),
    ("criterion add", {"id": "C1", "text": "tests pass", "session_id": "S1", "by": "project_manager"}),
    ("criterion add", {"id": "C2", "text": "runs", "command": ["true"], "session_id": "S1", "by": "project_manager"}),
    ("criterion add", {"id": "C3", "text": "goes", "session_id": "S1", "by": "project_manager"}),
    ("criterion remove", {"id": "C3", "session_id": "S1", "by": "project_manager", "reason": "out of scope"}),
    ("route", {"current_agent": "project_manager", "status": "PLANNING_COMPLETE", "session_id": "S1"}),
    ("criterion set", {"id": "C1", "status": "met", "session_id": "S1", "by": "qa_expert", "evidence": "ran them"}),
    ("criterion approve", {"id": "C2", "session_id": "S1"}),
    ("criterion list", {"session_id": "S1"}),
    ("task create", {"id": "T1", "title": "one", "session_id": "S1", "group_id": "A", "assignee": "dev-1"}),
    ("task create", {"id": "T2", "title": "two", "session_id": "S1", "group_id": "A", "depends_on": ["T1"]}),
    ("task create", {"id": "T3", "title": "three", "session_id": "S1", "group_id": "A"}),
    ("task depend", {"id": "T3", "on": "T2", "session_id": "S1", "by": "project_manager"}),
    ("task undepend", {"id": "T3", "on": "T2", "session_id": "S1", "by": "project_manager"}),
    ("task claim", {"id": "T1", "agent_id": "dev-1", "session_id": "S1", "token": "t1"}),
    ("task heartbeat", {"id": "T1", "agent_id": "dev-1", "session_id": "S1", "token": "t1"}),
    ("task release", {"id": "T1", "agent_id": "dev-1", "session_id": "S1", "token": "t1"}),
    ("task set-status", {"id": "T1", "status": "in_progress", "session_id": "S1", "by": "dev-1"}),
    ("task status", {"id": "T1", "status": "blocked", "session_id": "S1", "by": "dev-1", "reason": "no key"}),
    ("task list", {"session_id": "S1", "limit": 2}),
    ("task show", {"id": "T1", "session_id": "S1"}),
    ("blocker list", {"session_id": "S1", "status": "open"}),
    ("blocker show", {"id": "S1:B19", "session_id": "S1"}),
    ("blocker resolve", {"id": "S1:B19", "session_id": "S1", "by": "dev-1", "resolution": "fixed", "reason": "key"}),
    ("next", {"session_id": "S1", "agent_id": "dev-1"}),
    ("workflow show", {}),
    ("workflow versions", {}),
    ("workflow graph", {}),
    ("workflow diff", {"one": "1", "other": "1"}),
    ("workflow what-if", {"file": "nothing.json", "session": "S1"}),
    ("workflow load", {"file": "nothing.json", "by": "project_manager"}),
    ("route", {"current_agent": "developer", "status": "READY_FOR_QA", "session_id": "S1", "group_id": "A"}),
    ("route", {"current_agent": "qa_expert", "status": "BLOCKED", "session_id": "S1", "group_id": "A",
               "summary": "the environment is down"}),
    ("redispatch", {"group_id": "A", "session_id": "S1", "reason": "again"}),
    ("handoff", {"group_id": "A", "session_id": "S1"}),
    ("inbox", {}),
    ("answer", {"id": "S1:Q1", "decision": "continue", "note": "go on"}),
    ("session testing-mode", {"mode": "minimal", "session_id": "S2", "by": "project_manager", "reason": "prototype"}),
    ("session upgrade-workflow", {"id": "S2", "by": "project_manager", "reason": "newer"}),
    ("session pause", {"id": "S2", "by": "project_manager", "reason": "holiday"}),
    ("session resume", {"id": "S2", "by": "project_manager", "reason": "back"}),
    ("session end", {"id": "S2", "by": "user"}),
    ("session list", {}),
    ("session show", {"id": "S2"}),
    ("group set-status", {"id": "B", "status": "cancelled", "session_id": "S1", "by": "project_manager",
                          "reason": "out"}),
    ("group list", {"session_id": "S1"}),
    ("group show", {"id": "A", "session_id": "S1"}),
    ("human list", {}),
    ("human enrol", {"kind": "token"}),
    ("human link", {}),
    ("human remove", {"kind": "token"}),
    ("human reset", {}),
    ("status", {"session_id": "S1"}),
    ("status", {"session_id": "S1", "at": 12}),
    ("why", {"id": "A", "session_id": "S1"}),
    ("why", {"id": "T1", "session_id": "S1"}),
    ("validate", {"session_id": "S1", "record": True}),
    ("certificate make", {"session_id": "S1"}),
    ("audit decisions", {"session_id": "S1", "agent": "developer"}),
    ("audit timeline", {"session_id": "S1", "lanes": True}),
    ("audit refusals", {"session_id": "S1", "limit": 2, "order": "desc"}),
    ("audit blockers", {"session_id": "S1", "status": "resolved"}),
    ("audit gaps", {"session_id": "S1"}),
    ("audit stats", {"session_id": "S1"}),
    ("audit export", {"session_id": "S1"}),
    ("audit head", {}),
    ("audit verify", {}),
    ("audit replay", {"every": True}),
    ("import peer", {"file": "nothing.db"}),
]
"""A call of every operation that works on a server; what is refused is refused on both."""


def test_every_operation_answers_as_on_a_file(run: Run, pg_url: str, tmp_path: pathlib.Path) -> None:
    assert {words for words, _ in BATCH} == operations.every().keys() - APART - INSTALLS
    file = str(tmp_path / "file.db")
    assert run("init", ORCHESTRATOR_DB=file).returncode == 0
    every_answer = [
        run("batch", *flags, stdin=jsonl(BATCH), ORCHESTRATOR_DB=each).stdout.decode().splitlines()
        for each, flags in ((file, ()), (pg_url, ("--commit-every", "10")))
    ]
    for line, *answers in zip(BATCH, *every_answer, strict=True):
        one, other = (json.loads(answer) for answer in answers)
        assert told(other, pg_url) == told(one, file), line


CALLS = [
    (("install", "codex", "--project", "project"), "", 0, "created .codex/hooks.json"),
    (("install", "codex", "--project", "project", "--db", "postgresql://team@/other"), "", 64, "ORCHESTRATOR_DB"),
    (("hook",), '{"hook_event_name": "UserPromptSubmit", "session_id": "c", "prompt": "/orchestrate go"}', 0,
     "Due now:"),
    (("run", "create notes.md", "--project", "project", "--executor", "scripted:steps.json"), "", 0, "COMPLETE"),
    (("repl", "--project", "project", "--executor", "scripted:steps.json"), "/status\ncreate more.md\n", 0, "COMPLETE"),
    (("gate", "--repo", "project", "--base", "HEAD"), "", 0, "No commits"),
    (("audit", "verify"), "", 0, "No problems found"),
]


def test_what_people_and_clients_run_works_on_a_server(run: Run, pg_url: str, tmp_path: pathlib.Path) -> None:
    project = tmp_path / "project"
    project.mkdir()
    git = ["git", "-C", str(project), "-c", "user.name=a", "-c", "user.email=a@example.org"]
    for words in (["init", "-q"], ["commit", "-q", "--allow-empty", "-m", "first"]):
        subprocess.run([*git, *words], check=True)
    steps = [{"status": "COMPLETE", "when": name, "writes": {name: "x"}} for name in ("notes.md", "more.md")]
    (tmp_path / "steps.json").write_text(json.dumps(steps))
    for words in (["init", "--project", "project"], ["session", "create", "S1", "--goal", "one change"]):
        assert run(*words, ORCHESTRATOR_DB=pg_url).returncode == 0
    for words, stdin, code, said in CALLS:
        done = run(*words, stdin=stdin.encode(), ORCHESTRATOR_DB=pg_url)
        assert (done.returncode, said in (done.stdout + done.stderr).decode()) == (code, True), done


def test_the_python_interface_takes_a_url(pg_url: str) -> None:
    with Orchestrator.create(pg_url) as opened:
        opened.session_create(id="S1", goal="one change")
        assert opened.path == pg_url
    with Orchestrator.open(pg_url, read_only=True) as opened:
        assert opened.status()["session"]["id"] == "S1"
        assert opened.audit_query("SELECT 1")["rows"] == [[1]]


def test_the_schema_is_created_once_and_its_version_told(ask: Ask, pg_url: str) -> None:
    current = ask("db", "current", ORCHESTRATOR_DB=pg_url)
    assert (current["database_version"], current["db"]) == (current["program_version"], pg_url)
    again = ask("db", "upgrade", ORCHESTRATOR_DB=pg_url)
    assert (again["before"], again["after"]) == (current["program_version"],) * 2


SECRET = "s3cret-word"  # noqa: S105
UNREACHABLE = [
    (f"postgresql://team:{SECRET}@127.0.0.1:1/x", "NO_DATABASE", "start the server"),
    (f"postgresql://team:{SECRET}@/missing?host=FOLDER", "NO_DATABASE", "createdb"),
    (f"postgresql://nobody:{SECRET}@/postgres?host=FOLDER", "NO_DATABASE", "create"),
    (f"postgresql://team@/x?host=FOLDER&password={SECRET}&nonsense=1", "NO_DATABASE", "postgresql://USER@HOST"),
    (f"postgresql://team:{SECRET}/with@signs@127.0.0.1:1/x", "NO_DATABASE", "start the server"),
    (f"postgresql://orchestrator:{SECRET}@/postgres?host=FOLDER", "READ_ONLY", "--allow-superuser"),
    (f"postgresql://locked:{SECRET}@/filled?host=FOLDER", "NO_DATABASE", "give the right password"),
    ("postgresql://locked@/filled?host=FOLDER", "NO_DATABASE", "give the password"),
]


@every(("url", "code", "way"), UNREACHABLE)
def test_what_cannot_be_opened_says_why_and_shows_no_password(
    run: Run, pg_folder: pathlib.Path, pg_template: str, url: str, code: str, way: str
) -> None:
    words = ("init",) if "nonsense" in url else ("--debug", "session", "create", "S9")
    done = run(*words, "--json", ORCHESTRATOR_DB=url.replace("FOLDER", str(pg_folder)))
    answer = json.loads(done.stdout)
    assert (done.returncode, answer["code"]) == (5, code), answer
    assert way in answer["suggestion"]
    assert SECRET.encode() not in done.stdout + done.stderr


INSTALLS = {"install claude-code", "install codex"}
APART = {"audit query", "drive"}
"""Operations that have tests of their own: `test_postgresql_query.py` and `test_drive_on_server.py`."""
ELSEWHERE = ["db backup x", "db restore x", "db check --repair", "db downgrade base"]


@every("words", ELSEWHERE)
def test_what_works_on_files_alone_is_refused(run: Run, pg_url: str, words: str, tmp_path: pathlib.Path) -> None:
    done = run(*shlex.split(words), ORCHESTRATOR_DB=pg_url)
    assert (done.returncode, b"DATABASE_UNSUPPORTED" in done.stderr + done.stdout) == (5, True), done
    assert not list(tmp_path.glob("postgresql*"))


RIGHTS = [
    ("ALTER ROLE team SET default_transaction_read_only = on", "READ_ONLY", "default_transaction_read_only"),
    ("ALTER ROLE team SET statement_timeout = '1ms'", "BUSY", "statement_timeout"),
    ("REVOKE INSERT ON ALL TABLES IN SCHEMA public FROM team", "READ_ONLY", "grant"),
    ("UPDATE alembic_version SET version_num = '0001'", "SCHEMA_TOO_OLD", "empty database"),
    ("UPDATE alembic_version SET version_num = '9999'", "SCHEMA_TOO_NEW", "newer"),
]


@pytest.mark.parametrize(("statement", "code", "way"), RIGHTS)
def test_what_the_server_does_not_allow_writes_nothing(
    ask: Ask, pg_folder: pathlib.Path, pg_url: str, statement: str, code: str, way: str
) -> None:
    name = re.findall(r"/(test\d+)\?", pg_url)[0]
    owner = postgresql.Connection(pg_folder, name)
    owner.run(f"BEGIN; {postgresql.MAY_WRITE}; {statement}; COMMIT;")
    try:
        answer = ask("session", "create", "S9", ORCHESTRATOR_DB=pg_url)
        assert (answer["_exit"], answer["code"]) == (5, code), answer
        assert way in answer["suggestion"]
        trial = ask("validate", "S9", ORCHESTRATOR_DB=pg_url)
        assert trial["code"] == code or "REVOKE" in statement
        assert owner.execute("SELECT count(*) AS n FROM sessions").fetchall()[0]["n"] == 0
    finally:
        owner.run("ALTER ROLE team RESET ALL;")
        owner.close()


DOCTOR = [
    ("", "team", 0, {}),
    ("", "orchestrator", 0, {"SUPERUSER": "warning"}),
    ("", "client", 0, {"RIGHTS": "info", "SCHEMA_UNCHECKED": "info"}),
    ("ALTER ROLE team SET default_transaction_read_only = on", "team", 0, {"READ_ONLY": "warning"}),
    ("UPDATE alembic_version SET version_num = '0001'", "team", 1, {"SCHEMA_TOO_OLD": "error"}),
    ("UPDATE alembic_version SET version_num = '9999'", "team", 1, {"SCHEMA_TOO_NEW": "error"}),
    ("DROP TRIGGER agent_reports_are_never_deleted ON agent_reports", "team", 1, {"TRIGGER_MISSING": "error"}),
    ("ALTER TABLE task_groups DISABLE TRIGGER task_groups_completed_needs_path", "team", 1,
     {"TRIGGER_ALTERED": "error"}),
    ("ALTER TABLE audit_events DISABLE TRIGGER USER; UPDATE audit_events SET at = '2999-01-01T00:00:00.000000Z'"
     " WHERE seq = 1; UPDATE audit_events SET at = '' WHERE seq = 2; ALTER TABLE audit_events ENABLE TRIGGER USER",
     "team", 0, {}),
    ("ALTER TABLE audit_events DISABLE TRIGGER USER; UPDATE audit_events SET at = '2999-01-01T00:00:00.000000Z';"
     " ALTER TABLE audit_events ENABLE TRIGGER USER", "team", 0, {"CLOCK_JUMP": "warning"}),
]


@pytest.mark.parametrize(("statement", "user", "code", "findings"), DOCTOR)
def test_doctor_looks_at_the_server(
    ask: Ask, pg_folder: pathlib.Path, pg_url: str, statement: str, user: str, code: int, findings: dict[str, str]
) -> None:
    name = re.findall(r"/(test\d+)\?", pg_url)[0]
    owner = postgresql.Connection(pg_folder, name)
    owner.run("DO $$ BEGIN CREATE ROLE client LOGIN; EXCEPTION WHEN duplicate_object THEN END $$;"
              " GRANT SELECT ON ALL TABLES IN SCHEMA public TO client;")  # fmt: skip
    owner.run(f"BEGIN; {postgresql.MAY_WRITE}; {statement or 'SELECT 1'}; COMMIT;")
    try:
        answer = ask("doctor", ORCHESTRATOR_DB=postgresql.address(pg_folder, name, user))
        found = {each["id"]: each["severity"] for each in answer["findings"] if each["id"] not in OF_THE_SYSTEM}
        assert (answer["_exit"], found) == (code, findings)
        assert (answer["facts"]["user"], answer["facts"]["encoding"]) == (user, "UTF8")
        if user == "team" and code == 0 and not statement:
            assert ask("db", "check", ORCHESTRATOR_DB=pg_url)["problems"] == []
    finally:
        owner.run("ALTER ROLE team RESET ALL;")
        owner.close()


OF_THE_SYSTEM = ("PROCESSES_UNKNOWN", "ORPHANS_UNKNOWN")


def test_a_missing_driver_says_what_to_install(
    pg_url: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(sys.modules, "psycopg", None)
    monkeypatch.delitem(sys.modules, "orchestrator.store.postgresql")
    monkeypatch.delattr(store, "postgresql")
    with pytest.raises(EnvironmentProblem) as caught:
        Orchestrator.open(pg_url)
    assert (caught.value.code, caught.value.exit_code) == ("DATABASE_UNSUPPORTED", 5)
    assert "guarded-orchestrator[postgres]" in caught.value.suggestion


def test_a_server_without_room_writes_nothing(
    ask: Ask, pg_folder: pathlib.Path, pg_template: str, tmp_path: pathlib.Path
) -> None:
    place, owner = tmp_path / "small", postgresql.Connection(pg_folder)
    place.mkdir()
    mount = ["mount", "-t", "tmpfs", "-o", "size=32m", "tmpfs", place]
    mounted = subprocess.run(mount, capture_output=True, check=False)
    if mounted.returncode:
        pytest.skip("no small disk can be mounted here")
    try:
        for above in (tmp_path, *tmp_path.parents[:3]):
            above.chmod(above.stat().st_mode | 0o055)
        os.chown(place, postgresql.NOBODY, postgresql.NOBODY)
        owner.run(f"CREATE TABLESPACE small LOCATION '{place}';")
        owner.run("CREATE DATABASE cramped TEMPLATE filled OWNER team TABLESPACE small;")
        url = postgresql.address(pg_folder, "cramped")
        assert ask("session", "create", "S1", ORCHESTRATOR_DB=url)["success"]
        with contextlib.suppress(OSError), (place / "filling").open("wb", buffering=0) as file:
            while True:
                file.write(bytes(8192))
        refused = [ask("session", "create", f"S{each}", "--goal", "g" * 200_000 + str(each), ORCHESTRATOR_DB=url)
                   for each in range(2, 5)]  # fmt: skip
        full = [each for each in refused if not each["success"]]
        assert {(each["code"], each["_exit"]) for each in full} == {("DISK_FULL", 5)}, refused
        (place / "filling").unlink()
        assert ask("session", "create", "S9", ORCHESTRATOR_DB=url)["success"]
        assert ask("audit", "verify", ORCHESTRATOR_DB=url)["findings"] == []
    finally:
        owner.run("DROP DATABASE IF EXISTS cramped WITH (FORCE);")
        owner.run("DROP TABLESPACE IF EXISTS small;")
        owner.close()
        subprocess.run(["umount", place], check=True)
