"""The installed command on a PostgreSQL database: the same answers as on a file, and plain errors.

Source: spec 90, sections 1 and 4.
"""

from __future__ import annotations

import json
import pathlib
import re
import shlex
from typing import Any

import pytest

from tests import postgresql
from tests.cases import every
from tests.integration.cli.conftest import Ask, Run

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
"""
_MOMENT = re.compile(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{6}Z")
_HASH = re.compile(r"\b[0-9a-f]{64}\b")


def _told(answer: dict[str, Any], *places: str) -> str:
    """An answer without what differs from one database and moment to another."""
    text = json.dumps(answer, sort_keys=True)
    for place in places:
        text = text.replace(place, "DB")
    return _HASH.sub("HASH", _MOMENT.sub("MOMENT", text))


def test_every_answer_is_that_of_a_file(
    ask: Ask, pg_folder: pathlib.Path, pg_template: str, tmp_path: pathlib.Path
) -> None:
    owner = postgresql.Connection(pg_folder)
    owner.run("CREATE DATABASE empty OWNER team;")
    file, url = str(tmp_path / "file.db"), postgresql.address(pg_folder, "empty")
    for line in STORY.strip().splitlines():
        one, other = (ask(*shlex.split(line), ORCHESTRATOR_DB=each) for each in (file, url))
        assert _told(other, url) == _told(one, file), line
    owner.run("DROP DATABASE empty;")
    owner.close()


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


ELSEWHERE = ["db backup x", "db restore x", "db check", "db downgrade base", "audit verify", "audit query 'SELECT 1'",
             "batch", "serve --port 0", "drive"]  # fmt: skip


@every("words", ELSEWHERE)
def test_what_works_on_files_alone_is_refused(run: Run, pg_url: str, words: str, tmp_path: pathlib.Path) -> None:
    done = run(*shlex.split(words), ORCHESTRATOR_DB=pg_url)
    assert (done.returncode, b"DATABASE_UNSUPPORTED" in done.stderr + done.stdout) == (5, True), done
    assert not list(tmp_path.glob("postgresql*"))


RIGHTS = [
    ("ALTER ROLE team SET default_transaction_read_only = on", "READ_ONLY", "default_transaction_read_only"),
    ("ALTER ROLE team SET statement_timeout = '1ms'", "BUSY", "statement_timeout"),
    ("REVOKE INSERT ON ALL TABLES IN SCHEMA public FROM team", "READ_ONLY", "grant"),
    ("UPDATE alembic_version SET version_num = '0001'", "SCHEMA_TOO_OLD", "db upgrade"),
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
        assert owner.execute("SELECT count(*) AS n FROM sessions").fetchall()[0]["n"] == 0
    finally:
        owner.run("ALTER ROLE team RESET ALL;")
        owner.close()
