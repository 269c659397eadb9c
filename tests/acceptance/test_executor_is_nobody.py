"""Whatever terminal an executor opens: what it types is said by no person."""

from __future__ import annotations

import pathlib
import sqlite3
import sys
import time

import pytest

from orchestrator.runner import surroundings
from tests.acceptance.replhouse import House
from tests.conftest import long_form

TYPES = """
import json, os, pathlib, pty, re, select, subprocess, sys, time
def answer(argv, variables):
    child, terminal = pty.fork()
    if not child:
        os.execve(argv[0], argv, variables)
    text, until = "", time.monotonic() + 30
    while time.monotonic() < until:
        if select.select([terminal], [], [], 0.1)[0]:
            try:
                data = os.read(terminal, 4096)
            except OSError:
                break
            if not data:
                break
            text += data.decode("utf-8", "replace")
            code = re.search(r"Type (\\w+) to confirm", text)
            if code:
                os.write(terminal, code[1].encode() + b"\\n")
                text = text.replace(code[0], "typed")
    return os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]), text
"""
BARE = "{'PATH': os.environ['PATH'], 'ORCHESTRATOR_DB': %(db)r, 'HOME': %(home)r}"
WAYS = {
    "as it was started": "found = answer(%(argv)r, {**os.environ, 'ORCHESTRATOR_DB': %(db)r})",
    "without any variable": f"found = answer(%(argv)r, {BARE})",
    "from a child without any variable": f"""
source, sink = os.pipe()
if not os.fork():
    os.setsid()
    if not os.fork():
        argv = [sys.executable, '-c', pathlib.Path(__file__).read_text() + ANSWERS]
        os.dup2(sink, 9, inheritable=True)
        time.sleep(0.5)
        os.execve(argv[0], argv, {BARE})
    os._exit(0)
os.close(sink)
found = json.loads(os.fdopen(source).read())
""",
}

ANSWER = ("answer", "{question}", "--decision", "yes")
ENROL = ("human", "enrol", "--agent", "user")


@pytest.fixture
def house(installed_house: House) -> House:
    return installed_house


@pytest.mark.parametrize(
    ("words", "way"),
    [
        pytest.param(words, way, id=f"{words[0]}, {way}", marks=() if words is kept else long_form)
        for way, kept in zip(WAYS, (ANSWER, ENROL, ENROL), strict=True)
        for words in (ANSWER, ENROL)
    ],
)
def test_an_executor_at_a_terminal_of_its_own_is_no_person(
    house: House, script: pathlib.Path, way: str, words: tuple[str, ...]
) -> None:
    house.run("delete all files", command="run", executor="fake-success")
    database = house.base / "orchestrator.db"
    ((question,),) = rows(database, "SELECT id FROM questions WHERE kind = 'confirmation' AND closed_at IS NULL")
    argv = [sys.executable, str(script), *(word.format(question=question) for word in words)]
    given = {"argv": argv, "db": str(database), "home": str(house.base)}
    answers = f"\nimport json, os\nos.write(9, json.dumps(answer({argv!r}, dict(os.environ))).encode())\n"
    text = WAYS[way].replace("pathlib.Path(__file__).read_text() + ANSWERS", repr(TYPES + answers)) % given
    program = house.base / "typist.py"
    program.write_text(f"#!{sys.executable}\n{TYPES}\n{text}\nprint('said', found)\n")
    program.chmod(0o755)
    done = house.run("explain it", command="run", executor=f"command:{program}")
    ((output,),) = rows(database, "SELECT output FROM runs ORDER BY id DESC LIMIT 1")
    assert "HUMAN_REQUIRED" in str(output), (output, done.out, done.err)
    assert "executor" in str(output)
    assert rows(database, "SELECT closed_at FROM questions WHERE id = ?", question) == [(None,)]
    assert rows(database, "SELECT count(*) FROM human_tokens") == [(0,)]


DETACHED = """
import os, sys, time
open('notes.md', 'w').write('as told')
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        null = os.open(os.devnull, os.O_RDWR)
        for number in (0, 1, 2):
            os.dup2(null, number)
        text = "import time; time.sleep(1); open('notes.md', 'w').write('otherwise'); open('late.md', 'w').close()"
        os.execve(sys.executable, [sys.executable, '-Sc', text], {})
    os._exit(0)
print('done')
"""


def test_what_an_executor_detaches_wholly_is_told_and_ended_and_the_run_is_incomplete(house: House) -> None:
    program = house.base / "detaches.py"
    program.write_text(f"#!{sys.executable}\n{DETACHED}")
    program.chmod(0o755)
    done = house.run("write notes.md", command="run", executor=f"command:{program}")
    ((state,),) = rows(house.base / "orchestrator.db", "SELECT state FROM runs")
    assert (state, "left work unfinished in the background" in str(done.out)) == ("incomplete", True), done.out
    time.sleep(1.5)
    (notes,) = house.base.rglob("notes.md")
    assert (notes.read_text(), list(house.base.rglob("late.md"))) == ("as told", [])


def rows(database: pathlib.Path, sql: str, *values: object) -> list[tuple[object, ...]]:
    connection = sqlite3.connect(f"file:{database}?mode=ro", uri=True)
    try:
        return connection.execute(sql, values).fetchall()
    finally:
        connection.close()


def test_whoever_was_started_by_no_executor_is_not_within_one() -> None:
    assert not surroundings.a_run()
    assert not surroundings.a_run(["host:1:1"])
