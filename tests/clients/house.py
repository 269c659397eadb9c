"""A project in which a real client works: its home, the model that a test plays, and what happened."""

from __future__ import annotations

import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest

from orchestrator.app.clients import codex_checks
from tests.clients import scripted_model
from tests.clients.scripted_model import Asked, Model, Said
from tests.conftest import clean_environment

VERSION, CODEX_VERSION = "2.1.332", "0.171.0"
_CACHE = pathlib.Path(os.environ.get("XDG_CACHE_HOME") or pathlib.Path.home() / ".cache")
PROGRAM = pathlib.Path(
    os.environ.get("TEST_CLAUDE_CODE") or _CACHE / "orchestrator-test-clients" / f"claude-code-{VERSION}" / "claude"
)
"""Claude Code's program; `./task client` puts it there."""
CODEX = pathlib.Path(
    os.environ.get("TEST_CODEX") or _CACHE / "orchestrator-test-clients" / f"codex-{CODEX_VERSION}" / "bin/codex"
)
ORCHESTRATOR = pathlib.Path(sys.executable).with_name("orchestrator")
SECONDS = 240
"""Within which a conversation ends, also on a machine that is busy with other tests."""
GOAL = "Greet people by name"
ORCHESTRATE = f"/orchestrate {GOAL}"
NEEDS_CLIENT = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.access(PROGRAM, os.X_OK), reason=f"Claude Code {VERSION} is not at {PROGRAM}"),
]
NEEDS_CODEX_ALONE = [
    pytest.mark.slow,
    pytest.mark.skipif(not os.access(CODEX, os.X_OK), reason=f"Codex {CODEX_VERSION} is not at {CODEX}"),
]
NEEDS_CODEX = [*NEEDS_CLIENT, NEEDS_CODEX_ALONE[1]]
PLAN = {"groups": [
    {"id": "A", "name": "Greeting", "description": "Say hello."}, {"id": "B", "name": "Names", "description": "Ask."},
]}  # fmt: skip
REPORTS = {
    "developer spawn": "READY_FOR_QA", "qa_expert spawn": "PASS", "tech_lead spawn": "APPROVED",
    "developer spawn_merge": "MERGE_SUCCESS",
}  # fmt: skip
SECOND_START = "is under way|has already been started|Turn 1 is not open|project_manager has no open turn"
"""How the second of two equal starts of one message is denied.

Their hooks run at the same time: which comes first is open, whether both saw the turn as free, and whether the first
one's agent has answered by then.
"""
FIRST_LINE = re.compile(r"\[orchestrator (\S+) (\S+) turn (\d+) (\S+) (\S+)\]")
DRIVER = """
from orchestrator.app.reports import limits
from orchestrator.doors.cli.main import run
limits.MARGIN_S, limits.STEPS_S = 1.0, (1.0,)
run()
"""
"""`orchestrator` that waits a second for the end of a usage limit."""
HANDING_BACK = "SubagentHandback"
CODEX_CONFIG = """
model = "gpt-5.4"
model_provider = "played"
{features}
[model_providers.played]
name = "played"
base_url = "{address}/v1"
wire_api = "responses"
env_key = "OPENAI_API_KEY"
[projects."{project}"]
trust_level = "trusted"
"""
_DUE = re.compile(r"subagent_type (\S+), prompt (\[orchestrator [^\]]+\])")

Worker = Callable[[Asked, "re.Match[str]"], Said]


def report(status: str, **details: Any) -> str:
    """A last message that reports."""
    return f"Done.\n\n```json\n{json.dumps({'status': status, 'summary': 'done', 'details': details})}\n```"


def works(asked: Asked, place: re.Match[str]) -> Said:
    """An agent that does what its turn asks for, and reports it."""
    role, action = place[4], place[5]
    if role == "project_manager":
        return Said(report("BAZINGA") if "\n## Groups" in asked.first else report("PLANNING_COMPLETE", plan=PLAN))
    return Said(report(REPORTS[f"{role} {action}"]))


def handed_back(asked: Asked, said: Said) -> Said:
    """What an agent says, in the way in which its client wants a last message: by a tool where it is given one."""
    if HANDING_BACK not in asked.tools or said.calls or said.status != 200:
        return said
    return said._replace(text="I hand it back.", calls=((HANDING_BACK, {"message": said.text}),))


def directs(asked: Asked, *, background: bool = False) -> Said:
    """A main agent that follows the skill: it begins a session, and does whatever it is told is due."""
    if asked.turns == 0 and "# Orchestrate" in asked.first:
        return Said(calls=(("Bash", {"command": f"orchestrator session create S1 --goal '{GOAL}'"}),))
    due = asked.last.rpartition("Due now")[2] or asked.last
    starts = [start(role, line, background=background) for role, line in dict.fromkeys(_DUE.findall(due))]
    if starts:
        return Said(calls=tuple(starts))
    command = re.search("orchestrator (validate S1|redispatch .*)", due)
    if command is not None:
        return Said(calls=(("Bash", {"command": command[0]}),))
    if asked.turns == 1:
        return Said(calls=(start("project_manager", "Plan it.", background=background),))
    return Said("That is all.")


def start(role: str, prompt: str, *, background: bool = False) -> tuple[str, dict[str, Any]]:
    """A call that starts an agent."""
    given = {"description": role, "prompt": prompt, "subagent_type": role, "run_in_background": background}
    return "Agent", given


def place_of(asked: Asked) -> re.Match[str] | None:
    """The first line of the hand-off that an agent was given; None if the main agent is asked, or another one."""
    return next((found for found in map(FIRST_LINE.match, asked.first.splitlines()) if found), None)


def until(holds: Callable[[], object], what: str) -> None:
    """Wait until something holds."""
    deadline = time.monotonic() + SECONDS
    while not holds():
        assert time.monotonic() < deadline, what
        time.sleep(0.05)


def heard(model: Model, pattern: str) -> list[str]:
    """What the model was told that holds a pattern."""
    return [asked.last for asked, _ in model.heard if re.search(pattern, asked.last)]


class House:
    """A repository with a client; what the client told stands in `stream`.

    Args:
        template: a project that is copied. clone: the project is there already.
    """

    def __init__(self, folder: pathlib.Path, template: pathlib.Path | None = None, *, clone: bool = False) -> None:
        self.home, self.project = folder / "home", folder / "project"
        self.home.mkdir()
        self.stream: list[dict[str, Any]] = []
        self.address = ""
        if template is not None:
            shutil.copytree(template, self.project)
            return
        if clone:
            return
        self.project.mkdir()
        self.git("init", "-q")
        (self.project / "README.md").write_text("hello\n")
        self.git("add", ".")
        self.git("-c", "user.name=a", "-c", "user.email=a@b", "commit", "-qm", "Begin")

    def environment(self, **more: str) -> dict[str, str]:
        given, own = clean_environment(), ("CLAUDE", "ANTHROPIC")
        kept = {name: value for name, value in given.items() if not name.startswith(own)}
        path = os.pathsep.join([*(str(each.parent) for each in (ORCHESTRATOR, PROGRAM, CODEX)), os.environ["PATH"]])
        return kept | {
            "HOME": str(self.home), "PATH": path, "ANTHROPIC_BASE_URL": self.address, "ANTHROPIC_API_KEY": "made-up",
            "DISABLE_TELEMETRY": "1", "DISABLE_AUTOUPDATER": "1", "DISABLE_ERROR_REPORTING": "1",
            "CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC": "1", **more,
        }  # fmt: skip

    def git(self, *words: str) -> str:
        done = subprocess.run(["git", *words], cwd=self.project, capture_output=True, text=True, check=True)
        return done.stdout

    def orchestrator(self, *words: str, code: int = 0) -> dict[str, Any]:
        """What a command answers."""
        done = subprocess.run(
            [str(ORCHESTRATOR), *words, "--json"], cwd=self.project, capture_output=True, text=True, check=False,
            env=self.environment(),
        )  # fmt: skip
        assert done.returncode == code, (done.stdout, done.stderr)
        found: dict[str, Any] = json.loads(done.stdout)
        return found

    @contextmanager
    def played(self, main: Callable[[Asked], Said] = directs, worker: Worker = works) -> Iterator[Model]:
        """Let the model be played by a main agent and by workers, which are told apart by their first line."""

        def play(asked: Asked) -> Said:
            place = place_of(asked)
            return handed_back(asked, worker(asked, place)) if place else main(asked)

        with scripted_model.serving(play) as (model, self.address):
            yield model

    def begun(self, *words: str, **more: str) -> subprocess.Popen[str]:
        """The client, begun in the project."""
        command = [str(PROGRAM), "-p", "--output-format", "stream-json", "--verbose", *words]
        return subprocess.Popen(
            command, cwd=self.project, env=self.environment(**more), text=True, stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )  # fmt: skip

    @contextmanager
    def driver(self, *words: str, **more: str) -> Iterator[subprocess.Popen[str]]:
        """`drive`, begun in the project; at the end it is told to cancel."""
        argv = [sys.executable, "-c", DRIVER, "drive", *words, "--json"]
        with subprocess.Popen(
            argv, cwd=self.project, env=self.environment(**more), text=True, stdout=subprocess.PIPE
        ) as driver:
            try:
                yield driver
            finally:
                driver.terminate()

    def has_codex(self, features: str = "") -> None:
        """Let Codex ask the model, and trust the project and the hooks that lie in it and in its home."""
        folder = self.home / ".codex"
        folder.mkdir(exist_ok=True)
        text = CODEX_CONFIG.format(address=self.address, project=self.project, features=features)
        for place in (folder / "hooks.json", self.project / ".codex/hooks.json"):
            hooks = json.loads(place.read_text())["hooks"] if place.exists() else {}
            for event, entries in hooks.items():
                name = re.sub("(?<!^)(?=[A-Z])", "_", event).lower()
                for number, entry in enumerate(entries):
                    known = codex_checks.trusted_hash(event, entry, entry["hooks"][0])
                    text += f'[hooks.state."{place}:{name}:{number}:0"]\ntrusted_hash = "{known}"\n'
        (folder / "config.toml").write_text(text)

    def codex(self, prompt: str, *words: str) -> list[dict[str, Any]]:
        """What Codex tells of a conversation in the project."""
        done = subprocess.run(
            [str(CODEX), "exec", "--json", "--sandbox", "workspace-write", *words, "-"], cwd=self.project,
            input=prompt, env=self.environment(OPENAI_API_KEY="made-up"), capture_output=True, text=True,
            timeout=SECONDS, check=False,
        )  # fmt: skip
        assert done.returncode == 0, (done.stdout[-2000:], done.stderr)
        return [json.loads(line) for line in done.stdout.splitlines()]

    def claude(self, *words: str, **more: str) -> dict[str, Any]:
        """The last result of a conversation."""
        process = self.begun(*words, **more)
        try:
            out, err = process.communicate(timeout=SECONDS)
        finally:
            process.kill()
        self.stream = [json.loads(line) for line in out.splitlines() if line.startswith("{")]
        results = [each for each in self.stream if each["type"] == "result"]
        assert results, (out[-2000:], err)
        return results[-1]
