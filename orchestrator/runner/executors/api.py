"""One message to a provider's API and its answer, by way of the provider's own package in a process of its own.

The process can be ended like any program, so that every clock and a cancellation apply; the key is in its environment
and nowhere else.
"""

from __future__ import annotations

import importlib.util
import json
import os
import pathlib
import sys
import tempfile
from collections.abc import Mapping

from orchestrator import resources
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import program_variables, providers
from orchestrator.core.running.program_variables import OF_PROGRAM
from orchestrator.hints import Any, Final
from orchestrator.runner import port, process
from orchestrator.runner.executors import failures, own_result, reading

CHILD: Final = pathlib.Path(__file__).with_name("api_child.py")
REQUEST_TIMEOUT_S: Final = 600.0
ANSWER_TOKENS: Final = 8_192


class Provider(NamedTuple):
    """A provider: its name, which is also that of its package and of the extra, and its variables."""

    name: str
    key: str
    base_url: str


ANTHROPIC: Final = Provider("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")
OPENAI: Final = Provider("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL")
"""OpenAI's API, or one that speaks like it."""


class Api:
    """Sends the prompt as one message and takes the text of the answer.

    Args:
        provider: whose API.
        variables: where the key and the environment are taken from; this process's own where left out.
        base_url: where the API is; the variable's or the provider's own where left out.
        request_timeout_s: seconds that the API may be silent; the clocks of the task apply besides.
        answer_tokens: how long an answer may be, where the API wants to know.
    """

    production: Final = True

    def __init__(
        self,
        provider: Provider,
        variables: Mapping[str, str] | None = None,
        *,
        base_url: str | None = None,
        request_timeout_s: float = REQUEST_TIMEOUT_S,
        answer_tokens: int = ANSWER_TOKENS,
    ) -> None:
        self.name: Final = provider.name
        self._provider = provider
        self._variables = os.environ if variables is None else variables
        self._request = {"base_url": base_url, "timeout_s": request_timeout_s, "max_tokens": answer_tokens}

    def is_available(self) -> port.Availability:
        """Whether the package is installed and the key is set; the key is not tried."""
        name, key, _ = self._provider
        if not is_installed(name):
            help_ = f"install it with: {resources.installing(name)}"
            return port.Availability(False, "EXTRA_MISSING", f"The Python package {name} is not installed.", help_)
        if not self._variables.get(key, "").strip():
            help_ = f"set it with: {providers.setting(key)}"
            return port.Availability(False, "KEY_NOT_SET", f"{key} is NOT SET.", help_)
        return port.Availability(True)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Ask once, under supervision; nothing is tried again."""
        state = self.is_available()
        if not state.available:
            return failures.unavailable(task, state)
        if not (task.model or "").strip():
            return failures.failed(task, "MODEL_MISSING", f"{self.name} needs a model. {providers.NAME_A_MODEL}")
        secrets = (*task.secrets, self._variables[self._provider.key].strip())
        with tempfile.TemporaryDirectory(prefix="orchestrator-request-") as folder:
            ended = process.supervise(
                [sys.executable, "-P", "-B", str(CHILD), self._written(pathlib.Path(folder), task)],
                folder=task.project,
                variables=program_variables.child(self._variables, needs=OF_PROGRAM[self.name]),
                # Nothing here asks; a line that quotes a question is a part of the answer.
                limits=task.limits._replace(finished_prompt_ms=task.limits.executor_timeout_ms),
                raw=task.raw,
                secrets=secrets,
                watch=watch,
                cancelled=cancelled,
                tag=task.tag,
            )
        return failures.cleaned(read(task, ended), secrets)

    def _written(self, folder: pathlib.Path, task: port.ExecutorTask) -> str:
        """The file with the request, for its owner's eyes alone; it holds no key."""
        path = folder / "request.json"
        request = {"provider": self.name, "key": self._provider.key, "model": task.model, "prompt": task.prompt}
        descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        with open(descriptor, "w", encoding="ascii") as file:
            json.dump(request | self._request, file)
        return str(path)


def is_installed(package: str) -> bool:
    """Whether a package can be imported; it is not."""
    return importlib.util.find_spec(package) is not None


def read(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    """Turn what the child said into a result."""
    stopped = failures.of_end(task, ended)
    if stopped is not None:
        return stopped
    try:
        found = reading.final_object(ended.stdout)
    except reading.Unreadable as error:
        return failures.measured(failures.unreadable(task, error, ended), ended)
    result = failures.of_status(task, ended) if found is None else _told(task, found)
    return failures.with_status(task, failures.measured(result, ended), ended)


def _told(task: port.ExecutorTask, found: Mapping[str, Any]) -> port.ExecutorResult:
    """The child is this project's own code, so its word about the kind of failure is taken; its answer is a claim."""
    kind, text, usage = found.get("kind"), str(found.get("text", "")), found.get("usage")
    facts: dict[str, Any] = {"output": text}
    if isinstance(usage, Mapping):
        facts["usage"] = {key: value for key, value in usage.items() if own_result.is_count(value)}
    if kind is None:
        return port.ExecutorResult("COMPLETE", task.session_id, tool_calls=0, **facts)
    if kind == "ANSWER_CUT":
        facts["status"] = failures.INCOMPLETE
    return failures.failed(task, str(kind), str(found.get("message", "")), **facts)
