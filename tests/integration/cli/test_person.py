"""A person at a terminal, or with a token, and everything that looks like one and is not."""

from __future__ import annotations

import json
import os
import pathlib
import pty
import re
import select
import stat
import subprocess
import sys
import time
from collections.abc import Callable
from typing import Any

import pytest

from tests.integration.cli.conftest import Lines, Run, clean_environment

CODE = re.compile(r"Type ([A-Z0-9]+) to confirm")
END = ("session", "end", "S1", "--by", "user", "--reason", "no budget")
AGENT = ("CLAUDECODE", "ORCHESTRATOR_AGENT")
Typed = Callable[[str], str]


@pytest.fixture
def run(installed: Run) -> Run:
    """With an interpreter of its own: these tests are about what a start finds."""
    return installed


class Sat:
    """What came of a call by somebody at a terminal."""

    def __init__(self, code: int, out: bytes, shown: str) -> None:
        self.exit_code = code
        self.shown = shown
        self.answer: dict[str, Any] = json.loads(out) if out else {}


@pytest.fixture
def sit(script: pathlib.Path, database: pathlib.Path, tmp_path: pathlib.Path) -> Callable[..., Sat]:
    """Call the command at a terminal of its own, and type what `typed` makes of the code that is shown."""

    def call(*arguments: str, typed: Typed = lambda code: code, stderr_too: bool = True, **more: str) -> Sat:
        environment = {name: value for name, value in clean_environment().items() if name not in AGENT}
        environment |= {"ORCHESTRATOR_DB": str(database)} | more
        master, slave = pty.openpty()
        process = subprocess.Popen(
            [sys.executable, str(script), *arguments, "--json"], stdin=slave, stdout=subprocess.PIPE,
            stderr=slave if stderr_too else subprocess.PIPE, env=environment, cwd=tmp_path,
        )
        os.close(slave)
        shown = _played(master, process, typed)
        out, _ = process.communicate(timeout=30)
        os.close(master)
        return Sat(process.returncode, out, shown)

    return call


def _played(master: int, process: subprocess.Popen[bytes], typed: Typed) -> str:
    shown, done, until = "", False, time.monotonic() + 30
    while time.monotonic() < until:
        ready, _, _ = select.select([master], [], [], 0.05)
        if ready:
            try:
                data = os.read(master, 4096)
            except OSError:
                return shown
            if not data:
                return shown
            shown += data.decode()
        elif process.poll() is not None:
            return shown
        found = CODE.search(shown)
        if found and not done:
            os.write(master, typed(found[1]).encode() + b"\n")
            done = True
    raise AssertionError(f"nothing came of it: {shown}")


def test_who_types_the_code_is_a_person(sit: Callable[..., Sat], run: Run) -> None:
    done = sit(*END)
    assert (done.exit_code, done.answer["session"]["outcome"]) == (0, "abandoned")
    assert "Only a person may do this." in done.shown
    last = run("audit", "timeline", "-s", "S1", "--order", "desc", "--limit", "1", "--json")
    (event,) = json.loads(last.stdout)["events"]
    assert (event["actor"], event["channel"], event["kind"]) == ("user", "terminal", "session end")


@pytest.mark.parametrize("id", ["S1:Q999", "nowhere"])
def test_nobody_is_asked_for_a_code_to_answer_what_is_not_asked(sit: Callable[..., Sat], id: str) -> None:
    done = sit("answer", id, "--decision", "continue")
    assert (done.answer["code"], CODE.search(done.shown)) == ("UNKNOWN_ID", None)


def test_the_code_may_be_typed_small(sit: Callable[..., Sat]) -> None:
    assert sit(*END, typed=lambda code: f" {code.lower()} ").exit_code == 0


def test_the_code_is_another_one_each_time(sit: Callable[..., Sat]) -> None:
    codes = [CODE.search(sit(*END, typed=lambda code: "").shown) for _ in range(3)]
    assert len({found[1] for found in codes if found}) == 3


@pytest.mark.parametrize("typed", ["", "yes", "AAAAA"])
def test_whoever_types_something_else_is_none(sit: Callable[..., Sat], typed: str) -> None:
    done = sit(*END, typed=lambda code: typed)
    assert (done.exit_code, done.answer["code"]) == (3, "HUMAN_REQUIRED")
    assert "the code shown was not typed" in done.answer["error"]


@pytest.mark.parametrize("variable", AGENT)
def test_an_agent_s_terminal_shows_no_code(sit: Callable[..., Sat], variable: str) -> None:
    done = sit(*END, **{variable: "1"})
    assert (done.exit_code, done.answer["code"], CODE.search(done.shown)) == (3, "HUMAN_REQUIRED", None)
    assert f"{variable} is set" in done.answer["error"]


def test_stderr_must_be_a_terminal_too(sit: Callable[..., Sat]) -> None:
    done = sit(*END, stderr_too=False)
    assert (done.exit_code, done.answer["code"]) == (3, "HUMAN_REQUIRED")


def test_a_name_alone_is_refused_and_recorded(run: Run) -> None:
    done = run(*END, "--json", stdin=b"AAAAA\n")
    assert (done.returncode, json.loads(done.stdout)["code"]) == (3, "HUMAN_REQUIRED")
    (refusal,) = json.loads(run("audit", "refusals", "-s", "S1", "--json").stdout)["refusals"]
    assert (refusal["code"], refusal["actor"]) == ("HUMAN_REQUIRED", "user")


def test_an_agent_is_asked_for_no_code(sit: Callable[..., Sat]) -> None:
    done = sit("session", "pause", "S1", "--by", "project_manager", "--reason", "lunch")
    assert (done.exit_code, CODE.search(done.shown)) == (0, None)


@pytest.fixture
def token(sit: Callable[..., Sat], tmp_path: pathlib.Path) -> pathlib.Path:
    """The file of a token that is in force."""
    done = sit("human", "enrol")
    assert done.exit_code == 0
    file = tmp_path / "token"
    file.write_text(f"{done.answer['token']}\n")
    file.chmod(stat.S_IRUSR | stat.S_IWUSR)
    return file


def exposed(warning: str, option: str, mode: int) -> bool:
    """Whether it warns of a file with a secret that others may open."""
    return f"Other users of this machine can read {option} (mode {mode:04o})" in warning


class TestATokenFile:
    def test_proves_its_person_without_a_terminal(self, run: Run, token: pathlib.Path) -> None:
        done = run(*END, "--human-token-file", str(token), "--json")
        assert (done.returncode, json.loads(done.stdout)["session"]["outcome"]) == (0, "abandoned")

    def test_is_read_from_stdin(self, run: Run, token: pathlib.Path) -> None:
        done = run(*END, "--human-token-file", "-", "--json", stdin=token.read_bytes())
        assert done.returncode == 0

    def test_serves_where_an_agent_runs_the_command_for_its_person(self, run: Run, token: pathlib.Path) -> None:
        assert run(*END, "--human-token-file", str(token), CLAUDECODE="1").returncode == 0

    @pytest.mark.parametrize(
        ("content", "exit_code", "code"),
        [
            pytest.param(b"", 3, "HUMAN_REQUIRED", id="empty"),
            pytest.param(b"orchestrator-human-x", 3, "HUMAN_REQUIRED", id="wrong"),
            pytest.param(b"\xff\xfe", 4, "FILE_INVALID", id="no text"),
        ],
    )
    def test_with_something_else_proves_nobody(
        self, run: Run, tmp_path: pathlib.Path, content: bytes, exit_code: int, code: str
    ) -> None:
        file = tmp_path / "wrong"
        file.write_bytes(content)
        done = run(*END, "--human-token-file", str(file), "--json")
        assert (done.returncode, json.loads(done.stdout)["code"]) == (exit_code, code)

    def test_that_cannot_be_read_is_told_and_its_name_is_not_shown(self, run: Run, token: pathlib.Path) -> None:
        secret = token.read_text().strip()
        done = run(*END, "--human-token-file", secret, "--json")
        assert (done.returncode, json.loads(done.stdout)["code"]) == (5, "FILE_UNREADABLE")
        assert secret.encode() not in done.stdout + done.stderr

    @pytest.mark.parametrize(("mode", "warns"), [(0o600, 0), (0o400, 0), (0o640, 1), (0o604, 1), (0o620, 1)])
    def test_that_other_users_may_open_is_warned_of_and_its_name_is_not_shown(
        self, run: Run, lines: Lines, token: pathlib.Path, mode: int, warns: int
    ) -> None:
        token.chmod(mode)
        act = ("session", "pause", "S1", "--by", "user", "--reason", "r", "--human-token-file")
        done = run(*act, str(token), "--json")
        told = json.loads(done.stdout)["warnings"]
        assert [exposed(each, "--human-token-file", mode) for each in told] == [True] * warns
        told = run("session", "resume", *act[2:], str(token)).stderr.decode().splitlines()
        assert [exposed(each, "--human-token-file", mode) for each in told] == [True] * warns
        batched = {"id": "S1", "by": "user", "reason": "r", "human_token_file": str(token)}
        (answer,) = lines(("session pause", batched))
        assert [exposed(each, "human_token_file", mode) for each in answer["warnings"]] == [True] * warns
        assert not [each for each in (done.stdout.decode(), *told, str(answer)) if token.name in each.split()]

    @pytest.mark.parametrize("mode", [0o600, 0o644])
    def test_that_a_shell_opens_as_stdin_is_looked_at_as_well(
        self, script: pathlib.Path, database: pathlib.Path, token: pathlib.Path, mode: int
    ) -> None:
        token.chmod(mode)
        with token.open("rb") as opened:
            done = subprocess.run(
                [sys.executable, str(script), *END, "--human-token-file", "-", "--json", "--db", str(database)],
                stdin=opened, capture_output=True, env=clean_environment(), timeout=60, check=True,
            )  # fmt: skip
        assert [exposed(each, "--human-token-file", mode) for each in json.loads(done.stdout)["warnings"]] == (
            [True] if mode == 0o644 else []
        )

    def test_and_a_note_cannot_both_be_stdin(self, run: Run) -> None:
        done = run("session", "end", "S1", "--by", "user", "--reason", "-", "--human-token-file", "-", "--json")
        assert json.loads(done.stdout)["code"] == "USAGE"

    def test_is_never_shown_nor_kept(self, run: Run, token: pathlib.Path, database: pathlib.Path) -> None:
        secret = token.read_bytes().strip()
        done = [
            run(*END[:3], "--by", by, "--reason", "x", "--human-token-file", str(token), "--json", *more)
            for by in ("nobody", "developer", "user", "user") for more in ((), ("--debug",))
        ]
        assert {each.returncode for each in done} == {0, 3}
        assert not [each for each in done if secret in each.stdout + each.stderr]
        files = [each for each in database.parent.iterdir() if each.name.startswith(database.name)]
        assert not [each for each in files if secret in each.read_bytes()]

    def test_is_named_by_a_line_of_a_batch(self, lines: Lines, token: pathlib.Path) -> None:
        act = {"id": "S1", "by": "user", "reason": "r"}
        found = lines(
            ("session pause", act),
            ("session pause", {**act, "human_token_file": str(token)}),
            ("session resume", act),
            ("session resume", {**act, "human_token_file": "-"}),
            ("status", {"session_id": "S1", "human_token_file": str(token)}),
        )
        codes = [each.get("code") for each in found]
        assert codes == ["HUMAN_REQUIRED", None, "HUMAN_REQUIRED", "USAGE", "USAGE"]


def test_enrolling_needs_a_terminal(run: Run, token: pathlib.Path) -> None:
    plain = json.loads(run("human", "enrol", "--json").stdout)
    assert plain["code"] == "HUMAN_REQUIRED"
    assert "token" not in plain


def test_a_question_is_answered_from_the_inbox(sit: Callable[..., Sat], run: Run) -> None:
    run("route", "project_manager", "NEEDS_CLARIFICATION", "-s", "S1", "--summary", "which colour?")
    (question,) = json.loads(run("inbox", "--json").stdout)["questions"]
    words = question["answers"][0]["command"].split()[1:]
    words[-1] = "blue"
    done = sit(*words)
    assert (done.exit_code, done.answer["next_agent"], done.answer["answered"]) == (0, "project_manager", "continue")
    again = sit(*words)
    assert (again.exit_code, again.answer["code"]) == (3, "QUESTION_CLOSED")
    assert run("inbox").stdout == b"No open questions.\n"


def test_two_answers_at_the_same_time_leave_one(
    run: Run, token: pathlib.Path, script: pathlib.Path, database: pathlib.Path, tmp_path: pathlib.Path
) -> None:
    run("route", "project_manager", "NEEDS_CLARIFICATION", "-s", "S1", "--summary", "which colour?")
    (question,) = json.loads(run("inbox", "--json").stdout)["questions"]
    environment = clean_environment() | {"ORCHESTRATOR_DB": str(database)}
    argv = [sys.executable, str(script), "answer", question["id"], "--decision", "continue", "--json"]
    both = [
        subprocess.Popen(
            [*argv, "--note", colour, "--human-token-file", str(token)], stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, env=environment, cwd=tmp_path,
        )
        for colour in ("blue", "red")
    ]
    found = [json.loads(each.communicate(timeout=30)[0]) for each in both]
    assert sorted(str(each.get("code")) for each in found) == ["None", "QUESTION_CLOSED"]


def test_the_inbox_shows_the_lines_of_a_question(run: Run) -> None:
    run("route", "project_manager", "NEEDS_CLARIFICATION", "-s", "S1", "--summary", "which colour?\nblue or red?")
    assert run("inbox").stdout.decode().splitlines()[1:3] == ["  which colour?", "  blue or red?"]


def test_the_inbox_says_what_was_reported(run: Run, tmp_path: pathlib.Path) -> None:
    run("route", "project_manager", "PLANNING_COMPLETE", "-s", "S1")
    metadata = {
        "status": "partial", "errors": [{"type": "mathematically_false", "message": "1=2", "recoverable": False}],
        "partial_progress": {"phases_completed": 2, "phases_total": 4},
    }  # fmt: skip
    (tmp_path / "metadata.json").write_text(json.dumps(metadata))
    told = ("--summary", "The lemma\nis false.", "--metadata", str(tmp_path / "metadata.json"), "--json")
    found = json.loads(run("route", "developer", "PARTIAL", "-g", "A", *told).stdout)
    assert run("inbox").stdout.decode().splitlines()[1:7] == [
        "  hard blocker without a request for review: mathematically_false",
        f"  {found['report_id']}: developer@S1:A reported PARTIAL",
        "    The lemma",
        "    is false.",
        "    mathematically_false: 1=2",
        "    so far: phases 2 of 4",
    ]


def test_the_inbox_reads_well(run: Run) -> None:
    run("route", "project_manager", "NEEDS_CLARIFICATION", "-s", "S1", "--summary", "which colour?")
    shown = run("inbox").stdout.decode().splitlines()
    assert shown[0].startswith("S1:Q")
    assert shown[1] == "  which colour?"
    commands = [line.strip() for line in shown if line.strip().startswith("orchestrator answer")]
    assert len(commands) == 1
    assert all(command.endswith("--note TEXT") for command in commands)
