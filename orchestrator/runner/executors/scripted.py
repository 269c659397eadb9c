"""An executor that plays results from a list: for tests and demonstrations, never in production.

A script is a JSON list of steps, or an object `{"steps": [...]}`. A step is a program's JSON result (`status`,
`output`, `files`, `error`, `cause`, `proposed_tasks`, `tool_calls`, `usage`, `background`, `session_id`) and further:

    writes      {"name": "text"}: files that it makes in the project
    deletes     ["name"]: files that it removes
    delay_ms    how long it works; the limits of the task end it earlier
    exit_code   with which the program is said to have ended
    blocked     "INTERACTIVE_PROMPT" or "TIMEOUT": it asks, or hangs
    denied      tools that it was not allowed to use
    when        a text that the prompt must hold for this step
    role, group whose turn it answers, where the script drives a team
    report      the agent's report, which ends the output as a JSON document; `status` is COMPLETE then
    repeat      true: the step stays for further attempts

Each attempt takes the first step that fits and was not taken. `session_id` is the issued one where left out; null
stands for a result that names none.
"""

from __future__ import annotations

import difflib
import json
import pathlib
import threading
from collections.abc import Mapping, Sequence

from orchestrator import errors
from orchestrator import files as named_files
from orchestrator.core import strict_json
from orchestrator.core.suggestions import joined, local, sentence
from orchestrator.hints import Any, Final
from orchestrator.runner import port
from orchestrator.runner.executors import failures, fakes, files, own_result

NAME: Final = "scripted"
_BLOCKED: Final = ("INTERACTIVE_PROMPT", "TIMEOUT")
_EXTRA: Final = (
    "writes", "deletes", "delay_ms", "exit_code", "blocked", "denied", "when", "repeat", "role", "group", "report"
)  # fmt: skip


class Scripted:
    """Plays the steps of one script; several threads may share it.

    Args:
        steps: the script.

    Raises:
        InvalidInput: SCRIPT_INVALID, with all problems.
    """

    name: Final = NAME
    production: Final = False

    def __init__(self, steps: Sequence[Mapping[str, Any]]) -> None:
        wrong = problems(steps)
        if wrong:
            raise _invalid(wrong)
        self._steps = list(steps)
        self._lock = threading.Lock()

    def is_available(self) -> port.Availability:
        """Always; a script without further steps fails the attempt."""
        return port.Availability(True)

    def execute(
        self, task: port.ExecutorTask, *, watch: port.Watch | None = None, cancelled: port.Cancelled | None = None
    ) -> port.ExecutorResult:
        """Play the next step that fits."""
        step = self._next(task)
        if step is None:
            what = f"turn of {task.role} on {task.group or 'the session'}" if task.role else "prompt"
            return failures.failed(task, "SCRIPT_EXHAUSTED", f"the script has no further step for this {what}")
        ended = fakes.work(task, step.get("delay_ms", 0), cancelled)
        if ended is not None:
            return ended
        try:
            files.write(task.project, step.get("writes", {}))
            files.delete(task.project, step.get("deletes", ()))
        except (OSError, ValueError) as error:
            return failures.failed(task, "REPORTED_ERROR", str(error))
        result = _result(task, step)._replace(conversation=task.conversation or task.run_id)
        return failures.cleaned(result, task.secrets)

    def _next(self, task: port.ExecutorTask) -> Mapping[str, Any] | None:
        with self._lock:
            fits = (place for place, step in enumerate(self._steps) if _fits(step, task))
            place = next(fits, None)
            if place is None:
                return None
            step = self._steps[place]
            return step if step.get("repeat") else self._steps.pop(place)


def load(path: str | pathlib.Path) -> Scripted:
    """Read a script.

    Raises:
        InvalidInput: SCRIPT_INVALID, it cannot be read or has problems; all of them are told.
    """
    try:
        found = strict_json.loads(named_files.content(path), "")
    except named_files.Unreadable as problem:
        raise _invalid([sentence("the script {} {}", local(repr(str(path))), problem.reason)]) from problem
    except strict_json.JsonProblem as problem:
        raise _invalid([sentence("the script {}{}", local(repr(str(path))), problem.message)]) from problem
    steps = found.get("steps") if isinstance(found, dict) else found
    if not isinstance(steps, list):
        raise _invalid(['the script is neither a list of steps nor an object with a list "steps"'])
    return Scripted(steps)


def _fits(step: Mapping[str, Any], task: port.ExecutorTask) -> bool:
    """Whether a step answers this attempt."""
    whose = all(step[key] == getattr(task, key) for key in ("role", "group") if key in step)
    return whose and step.get("when", "") in task.prompt


def problems(steps: Sequence[Any]) -> list[str]:
    """Everything that is wrong with a script, each phrase with its step counted from 1."""
    return [f"step {number}: {phrase}" for number, step in enumerate(steps, 1) for phrase in _of_step(step)]


def _of_step(step: Any) -> list[str]:
    if not isinstance(step, Mapping):
        return ["is no object"]
    assumed = {"status": failures.ERROR} if "blocked" in step else {"status": "COMPLETE"} if "report" in step else {}
    checked = assumed | dict(step)
    wrong = [phrase for key, (holds, phrase) in _CHECKS.items() if key in step and not holds(step[key])]
    return [*own_result.problems(checked), *wrong, *_unknown_keys(step), *_bad_names(step)]


def _unknown_keys(step: Mapping[str, Any]) -> list[str]:
    known = [*own_result.KEYS, *_EXTRA]
    found = []
    for key in step:
        if key not in known:
            near = difflib.get_close_matches(key, known, 1, 0.6)
            found.append(f"{key!r} is unknown" + (f", did you mean {near[0]!r}?" if near else ""))
    return found


def _bad_names(step: Mapping[str, Any]) -> list[str]:
    names = [name for key in ("writes", "deletes") for name in step.get(key) or () if isinstance(name, str)]
    return [wrong for name in names if (wrong := files.problem(name)) is not None]


def _is_writes(value: Any) -> bool:
    return isinstance(value, Mapping) and all(isinstance(text, str) for text in value.values())


def _is_whole(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


_CHECKS: Final = {
    "writes": (_is_writes, "writes is no object of texts"),
    "deletes": (own_result.is_texts, "deletes is not a list of texts"),
    "delay_ms": (own_result.is_count, "delay_ms is not a whole number from 0 on"),
    "exit_code": (_is_whole, "exit_code is not a whole number"),
    "blocked": (lambda value: value in _BLOCKED, f"blocked is not one of {', '.join(_BLOCKED)}"),
    "denied": (own_result.is_texts, "denied is not a list of texts"),
    "when": (lambda value: isinstance(value, str), "when is not a text"),
    "repeat": (lambda value: isinstance(value, bool), "repeat is not true or false"),
    "role": (lambda value: isinstance(value, str), "role is not a text"),
    "group": (lambda value: value is None or isinstance(value, str), "group is not a text or null"),
    "report": (lambda value: isinstance(value, Mapping), "report is not an object"),
}


def _result(task: port.ExecutorTask, step: Mapping[str, Any]) -> port.ExecutorResult:
    if step.get("blocked") == "TIMEOUT":
        return fakes.timed_out(task, "executor_timeout_ms", task.limits.executor_timeout_ms)
    if step.get("blocked"):
        return fakes.blocked(step.get("output") or "Continue? [y/N]").execute(task)
    if step.get("denied"):
        return failures.denied(task, step["denied"], output=step.get("output", ""))
    status = step.get("exit_code", 0)
    if status:
        sentence = f"the program ended with status {status}"
        return failures.failed(task, "EXIT_STATUS", sentence, output=step.get("output", ""), exit_code=status)
    return own_result.read(task, {"session_id": task.session_id} | _told(step))._replace(exit_code=0)


def _told(step: Mapping[str, Any]) -> dict[str, Any]:
    """The step as a program's result; a report ends what it says."""
    if "report" not in step:
        return dict(step)
    fenced = f"```json\n{json.dumps(step['report'])}\n```"
    return {"status": "COMPLETE"} | dict(step) | {"output": f"{step.get('output', '')}\n\n{fenced}".strip()}


def _invalid(wrong: Sequence[str]) -> errors.InvalidInput:
    return errors.InvalidInput("SCRIPT_INVALID", joined(wrong, "; ") + ".", "correct the script", problems=list(wrong))
