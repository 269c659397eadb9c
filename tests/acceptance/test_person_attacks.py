"""What an agent with a shell may try in order to pass for a person: each way really gone, by the installed command.

What only that person knows or holds stands in the way of all of them. A code at a terminal stops those of which the
system tells that an agent's program stands behind them; of the others the record says that their proof is weak.
"""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import sqlite3
import subprocess
import sys
from typing import Any

import pytest

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.app.people import person_proof
from orchestrator.runner.surroundings import Surroundings
from tests import persons
from tests.acceptance.test_executor_is_nobody import TYPES
from tests.conftest import long_form

PAUSE = ("session", "pause", "S1", "--by", "user", "--reason", "r", "--json")
AGENT = {"CLAUDECODE": "1"}
SECRET = "correct horse battery"  # noqa: S105 - a passphrase of the test

pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="only Linux tells of the processes above")


class Desk:
    """A database with a session, and an agent's program that calls the command on it."""

    def __init__(self, base: pathlib.Path, script: pathlib.Path) -> None:
        self.base, self._script = base, script
        self.database = base / "orchestrator.db"

    @property
    def clean(self) -> dict[str, str]:
        """Variables without a sign of any agent."""
        kept = {name: os.environ[name] for name in ("PATH", "HOME", "LANG") if name in os.environ}
        return {**kept, "ORCHESTRATOR_DB": str(self.database), "TERM": "xterm"}

    def argv(self, *words: str) -> list[str]:
        return [sys.executable, str(self._script), *words]

    def plain(self, *words: str, **variables: str) -> dict[str, Any]:
        """Call the command without a terminal."""
        done = subprocess.run(
            self.argv(*words, "--json"), env=self.clean | variables, cwd=self.base, capture_output=True, timeout=60,
            check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    def agent(self, program: str, types: str | None = None, **variables: str) -> str:
        """Run a program of an agent, which has the agent's variables; what it prints.

        Args:
            types: what it types where a passphrase is asked for, in place of the code.
        """
        file = self.base / "agent.py"
        text = f"{TYPES}\nCLEAN = {self.clean!r}\nARGV = {self.argv(*PAUSE)!r}\n{program}\n"
        if types is not None:
            text = re.sub(r"Type \(.w\+\) to confirm", "(Passphrase:)", text).replace("code[1]", repr(types))
        file.write_text(text)
        done = subprocess.run(
            [sys.executable, str(file)], env={**self.clean, **(variables or AGENT)}, cwd=self.base,
            capture_output=True, text=True, timeout=90, check=False, stdin=subprocess.DEVNULL,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return done.stdout

    def paused(self) -> bool:
        """Whether anybody got through."""
        return bool(self.rows("SELECT status FROM sessions") == [("paused",)])

    def rows(self, sql: str) -> list[tuple[Any, ...]]:
        connection = sqlite3.connect(f"file:{self.database}?mode=ro", uri=True)
        try:
            return connection.execute(sql).fetchall()
        finally:
            connection.close()

    def enrol(self, **kind: Any) -> dict[str, Any]:
        """Enrol the person, as they do it at a terminal of their own."""
        context = bootstrap.open_context(str(self.database), write=True, door="cli", environment={})
        try:
            with persons.seated(context, secrets=[SECRET, SECRET]):
                return operations.call(context, "human enrol", **kind)
        finally:
            context.connection.close()


@pytest.fixture(scope="module")
def begun(tmp_path_factory: pytest.TempPathFactory, script: pathlib.Path) -> pathlib.Path:
    """A database with a session, which each test gets a copy of."""
    made = Desk(tmp_path_factory.mktemp("begun"), script)
    for words in (["init"], ["session", "create", "S1"]):
        made.plain(*words)
    return made.database


@pytest.fixture
def desk(tmp_path: pathlib.Path, script: pathlib.Path, begun: pathlib.Path) -> Desk:
    made = Desk(tmp_path, script)
    shutil.copy(begun, made.database)
    return made


PTY = "print(answer(ARGV, CLEAN))"
SCRIPT = """
print(answer([shutil.which('script'), '-qec', shlex.join(ARGV), '/dev/null'], CLEAN))
"""
TMUX = """
tmux = [shutil.which('tmux'), '-S', os.path.join(os.getcwd(), 'tmux.socket')]
order = 'cd ' + os.getcwd() + '; env -i ' + shlex.join(f'{k}={v}' for k, v in CLEAN.items()) + ' ' + shlex.join(ARGV)
subprocess.run([*tmux, '-f', '/dev/null', 'new-session', '-d', '-x', '200', '-y', '50', order + ' > out; sleep 30'],
               env=VARIABLES, check=True)
def shown():
    return subprocess.run([*tmux, 'capture-pane', '-p'], capture_output=True, text=True).stdout
until = time.monotonic() + 30
while time.monotonic() < until and not (os.path.exists('out') and os.path.getsize('out')):
    code = re.search(r'Type (\\w+) to confirm', shown())
    if code:
        subprocess.run([*tmux, 'send-keys', code[1], 'Enter'])
        time.sleep(0.5)
    time.sleep(0.1)
print(open('out').read(), shown())
subprocess.run([*tmux, 'kill-server'])
"""
IMPORTS = "import shlex, shutil\n"


def driver(name: str, text: str) -> Any:
    lacks = shutil.which(name) is None if name != "pty" else False
    return pytest.param(text, id=name, marks=pytest.mark.skipif(lacks, reason=f"{name} is not installed"))


DRIVERS = [driver("pty", PTY), driver("script", SCRIPT), driver("tmux", "VARIABLES = dict(os.environ)" + TMUX)]


@pytest.mark.parametrize("how", DRIVERS)
def test_variables_that_were_unset_are_found_with_the_ancestors(desk: Desk, how: str) -> None:
    said = desk.agent(IMPORTS + how)
    assert "HUMAN_REQUIRED" in said
    assert "to confirm" not in said
    assert not desk.paused()


@pytest.mark.parametrize("variable", ["CLAUDECODE", "ORCHESTRATOR_AGENT", "CODEX_SANDBOX"])
def test_an_empty_variable_counts(desk: Desk, variable: str) -> None:
    said = desk.agent(f"print(answer(ARGV, {{**CLEAN, {variable!r}: ''}}))", LANG="C")
    assert ("HUMAN_REQUIRED" in said, "to confirm" in said, desk.paused()) == (True, False, False)


def test_a_program_with_an_agent_s_name_counts_without_any_variable(desk: Desk) -> None:
    program = desk.base / "claude"
    program.write_text(f"#!{sys.executable}\n{TYPES}\nprint(answer({desk.argv(*PAUSE)!r}, {desk.clean!r}))\n")
    program.chmod(0o755)
    done = subprocess.run([str(program)], env=desk.clean, cwd=desk.base, capture_output=True, text=True, check=True)
    assert ("HUMAN_REQUIRED" in done.stdout, desk.paused()) == (True, False), done.stdout


ALONE = pytest.mark.skipif(
    any(person_proof.agent_programs.variable(each.variables) for each in Surroundings().ancestors()),
    reason="these tests themselves run below an agent's program",
)
DETACHED = [
    driver("tmux", "VARIABLES = CLEAN" + TMUX),
    pytest.param(
        """
if not os.fork():
    os.setsid()
    if os.fork():
        os._exit(0)
    # What was the agent's is shed: from here on nothing above tells of it.
    time.sleep(0.5)
    argv = [sys.executable, '-c', pathlib.Path(__file__).read_text().partition('\\nif not os.fork')[0]
            + '\\nopen("out", "w").write(str(answer(ARGV, CLEAN)))']
    os.execve(argv[0], argv, CLEAN)
os.wait()
until = time.monotonic() + 40
while time.monotonic() < until and not (os.path.exists('out') and os.path.getsize('out')):
    time.sleep(0.1)
print(open('out').read())
""", id="detached",
    ),
]  # fmt: skip


def in_long(case: Any) -> Any:
    return pytest.param(*case.values, id=case.id, marks=(*case.marks, long_form))


@ALONE
@pytest.mark.parametrize("how", DETACHED)
def test_what_nothing_tells_of_is_taken_and_said_to_be_weak(desk: Desk, how: str) -> None:
    said = desk.agent(IMPORTS + how)
    assert '"proof":"weak"' in said.replace(" ", "").replace("\\n", "").replace("\n", ""), said
    checks = desk.plain("validate", "S1", "--dry-run")["checks"]
    assert "session pause (1) through terminal (proof: weak)" in [each["message"] for each in checks]


@pytest.mark.parametrize("how", [DRIVERS[0], DETACHED[1], *(in_long(each) for each in (*DRIVERS[1:], DETACHED[0]))])
def test_once_a_passphrase_is_enrolled_none_of_it_helps(desk: Desk, how: str) -> None:
    desk.enrol(passphrase=True)
    # It may type what it likes where the passphrase is asked for.
    said = desk.agent(IMPORTS + how, "a guess at it")
    assert ("HUMAN_REQUIRED" in said, desk.paused()) == (True, False), said


@ALONE
def test_a_second_enrolment_at_a_terminal_voids_nobody_s_token(desk: Desk) -> None:
    token = desk.enrol()["token"]
    (desk.base / "token").write_text(token)
    enrolling = f"ARGV[2:] = {['human', 'enrol', '--json']!r}\n"
    for how in (PTY, "VARIABLES = CLEAN" + TMUX if shutil.which("tmux") else PTY):
        assert "HUMAN_REQUIRED" in desk.agent(IMPORTS + enrolling + how)
        (desk.base / "out").unlink(missing_ok=True)
    assert desk.rows("SELECT count(*) FROM human_tokens") == [(1,)]
    assert desk.plain(*PAUSE[:-1], "--human-token-file", str(desk.base / "token"))["proof"] == "possession"


def test_a_program_called_ssh_keygen_in_the_path_signs_for_nobody(desk: Desk, tmp_path: pathlib.Path) -> None:
    desk.enrol(ssh_key=str(persons.key(tmp_path)))
    (tmp_path / "key").unlink()
    folder = tmp_path / "bin"
    folder.mkdir()
    (folder / "ssh-keygen").write_text("#!/bin/sh\necho signed\nexit 0\n")
    (folder / "ssh-keygen").chmod(0o755)
    path = f"{folder}:{os.environ['PATH']}"
    said = desk.agent(f"print(answer(ARGV, {{**CLEAN, 'PATH': {path!r}}}))", LANG="C")
    assert ("HUMAN_REQUIRED" in said, desk.paused()) == (True, False), said


def test_a_passphrase_typed_at_a_real_terminal_is_taken_and_not_echoed(desk: Desk) -> None:
    desk.enrol(passphrase=True)
    said = desk.agent(PTY, SECRET, LANG="C")
    assert ("strong" in said, SECRET in said, desk.paused()) == (True, False, True), said
    kept = b"".join(each.read_bytes() for each in desk.base.glob("orchestrator.db*"))
    assert SECRET.encode() not in kept
