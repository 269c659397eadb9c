"""Every executor of the catalogue, made so that it behaves in a wanted way."""

from __future__ import annotations

import json
import os
import pathlib
from collections.abc import Callable
from typing import Any, NamedTuple

import pytest

from orchestrator.runner import port
from orchestrator.runner.executors import api, claude_code, codex, command, fakes, scripted
from tests.contract.executors import making


class Made(NamedTuple):
    """An executor and the model to ask for."""

    executor: port.Executor
    model: str | None = None


class Kit(NamedTuple):
    """How to make one executor.

    make: from a behaviour, a folder of the test's own and the provider on the loopback.
    behaviours: those that it can show.
    """

    name: str
    make: Callable[[str, pathlib.Path, making.Provider], Made]
    behaviours: frozenset[str]
    package: str | None = None


PROGRAMS = frozenset({"answer", "fail", "hang", "leak", "surroundings", "absent"})
FIXED = frozenset({"answer", "fail", "hang"})


def surroundings() -> dict[str, str]:
    """What a careless environment holds: two keys, a token and the common variables."""
    common = {name: value for name, value in os.environ.items() if name in ("PATH", "HOME", "LANG", "TMPDIR")}
    keys = {"ANTHROPIC_API_KEY": making.KEY, "OPENAI_API_KEY": making.KEY, "GITHUB_TOKEN": making.OTHER_KEY}
    return common | keys | {"CLAUDE_CODE_OAUTH_TOKEN": making.KEY, "DATABASE_PASSWORD": making.OTHER_KEY}


def _command(behaviour: str, folder: pathlib.Path, _: making.Provider) -> Made:
    session = json.dumps({"status": "COMPLETE", "session_id": making.SESSION, "output": "It answers."})
    bodies = {
        "answer": making.printed(session),
        "fail": making.printed("it failed", status=3),
        "hang": making.HANG,
        "leak": f"print('the key is {making.KEY}', flush=True)",
        "surroundings": making.SURROUNDINGS + "print('seen', json.dumps(seen))",
    }
    return Made(command.Command([str(_program(folder, bodies.get(behaviour)))], surroundings()))


def _claude(behaviour: str, folder: pathlib.Path, _: making.Provider) -> Made:
    told = """
session = sys.argv[sys.argv.index("--session-id") + 1]
print(json.dumps({"type": "result", "subtype": "success", "is_error": False, "result": text, "session_id": session}))
"""
    bodies = {
        "answer": making.replayed("stream"),
        "fail": making.replayed("not-logged-in"),
        "hang": making.HANG,
        "leak": f"text = 'the key is {making.KEY}'" + told,
        "surroundings": making.SURROUNDINGS + "text = 'seen ' + json.dumps(seen)" + told,
    }
    return Made(claude_code.ClaudeCode(str(_program(folder, bodies.get(behaviour))), surroundings()))


def _codex(behaviour: str, folder: pathlib.Path, _: making.Provider) -> Made:
    told = """
print(json.dumps({"type": "item.completed", "item": {"id": "1", "type": "agent_message", "text": text}}))
print(json.dumps({"type": "turn.completed", "usage": {"input_tokens": 1}}))
"""
    failed = '{"type": "turn.failed", "error": {"message": "it failed"}}'
    bodies = {
        "answer": "text = 'It answers.'" + told,
        "fail": making.printed(failed, status=1),
        "hang": making.HANG,
        "leak": f"text = 'the key is {making.KEY}'" + told,
        "surroundings": making.SURROUNDINGS + "text = 'seen ' + json.dumps(seen)" + told,
    }
    return Made(codex.Codex(str(_program(folder, bodies.get(behaviour))), surroundings()))


def _program(folder: pathlib.Path, body: str | None) -> pathlib.Path:
    return folder / "absent" if body is None else making.program(folder, body)


def _api(of: api.Provider) -> Callable[[str, pathlib.Path, making.Provider], Made]:
    def make(behaviour: str, folder: pathlib.Path, provider: making.Provider) -> Made:
        variables = surroundings()
        if behaviour == "absent":
            variables[of.key] = " "
        models = {"fail": "refuse-401", "hang": "hang", "leak": "echo-key"}
        made = api.Api(of, variables, base_url=provider.url(of.name))
        return Made(made, models.get(behaviour, "good"))

    return make


def _scripted(behaviour: str, folder: pathlib.Path, _: making.Provider) -> Made:
    steps: dict[str, dict[str, Any]] = {
        "answer": {"status": "COMPLETE", "output": "It answers."},
        "fail": {"status": "ERROR", "error": "it failed"},
        "hang": {"status": "COMPLETE", "output": "late", "delay_ms": 60_000},
    }
    return Made(scripted.Scripted([steps[behaviour]]))


def _fake(behaviour: str, folder: pathlib.Path, _: making.Provider) -> Made:
    made = {"answer": fakes.success, "fail": fakes.error, "hang": lambda: fakes.success(delay_ms=60_000)}
    return Made(made[behaviour]())


ALL = (
    Kit("command", _command, PROGRAMS),
    Kit("claude-code", _claude, PROGRAMS),
    Kit("codex", _codex, PROGRAMS),
    Kit("anthropic", _api(api.ANTHROPIC), PROGRAMS, "anthropic"),
    Kit("openai", _api(api.OPENAI), PROGRAMS, "openai"),
    Kit("scripted", _scripted, FIXED),
    Kit("fakes", _fake, FIXED),
)


def showing(behaviour: str) -> pytest.MarkDecorator:
    """Every executor that can show a behaviour; those whose package is absent are skipped, and say so."""
    rows = [pytest.param(kit, id=kit.name, marks=_marks(kit)) for kit in ALL if behaviour in kit.behaviours]
    return pytest.mark.parametrize("kit", rows)


def _marks(kit: Kit) -> list[pytest.MarkDecorator]:
    absent = kit.package is not None and not api.is_installed(kit.package)
    return [pytest.mark.skipif(absent, reason=f"the Python package {kit.package} is not installed")]
