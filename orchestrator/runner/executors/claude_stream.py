"""The stream of events that the Claude Code program prints: its last result, and the work that it left unfinished.

Work in the background is a subagent or a command that the program started without waiting for it. It is finished when
an event says `completed` before the last result: a result that comes earlier speaks of work that nobody has seen, and
what was stopped, killed or has failed was never completed. The words of the answer are not asked.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from orchestrator.hints import Any, Final
from orchestrator.runner import port
from orchestrator.runner.executors import failures, own_result, service_errors

Event = Mapping[str, Any]

KINDS: Final = ("system", "assistant", "user", "stream_event", "rate_limit_event", "result")
"""The types of events by which a stream is known."""
_COMPLETED: Final = "completed"
_RUNNING: Final = "still running"
_ASYNC: Final = "async_launched"
_NAMES: Final = ("description", "command", "prompt", "subagent_type")
_LONGEST_NAME: Final = 80


def is_event(found: Event) -> bool:
    """Whether an object is one of such a stream."""
    return found.get("type") in KINDS or is_result(found)


def read(task: port.ExecutorTask, events: Sequence[Event], issued: str) -> port.ExecutorResult | None:
    """Turn a stream into a result: of several results, as where finished work woke the program up, the last counts.

    Args:
        task: the attempt.
        events: in the order in which they were printed; those of unknown kinds are skipped.
        issued: the conversation id that the program was given.

    Returns:
        None where no event is a result.
    """
    found = next((event for event in reversed(events) if is_result(event)), None)
    if found is None:
        return None
    left = unfinished(events)
    result = read_result(task, found, issued)._replace(tool_calls=_tool_calls(events))
    return result._replace(
        background=None if left is None else bool(left), unfinished=left or (), cost=_cost(found),
        answers=tuple(each["result"] for each in events if is_result(each) and _text(each.get("result"))),
        resets_at=_reset(events) if (result.error or "").startswith("USAGE_LIMIT") else None,
    )  # fmt: skip


def _reset(events: Sequence[Event]) -> int | None:
    """When the limit ends that refused a call; such an event comes with every call, and mostly says `allowed`."""
    for event in reversed(events):
        info = event.get("rate_limit_info") or event
        if event.get("type") == "rate_limit_event" and isinstance(info, Mapping) and info.get("status") == "rejected":
            at = info.get("resetsAt")
            return at if isinstance(at, int) and not isinstance(at, bool) else None
    return None


def _cost(result: Event) -> int | None:
    """What the conversation has cost up to a result, in millionths of a dollar."""
    dollars = result.get("total_cost_usd")
    if isinstance(dollars, bool) or not isinstance(dollars, int | float) or not 0 <= dollars < 10**6:
        return None
    return round(dollars * 1_000_000)


def _tool_calls(events: Sequence[Event]) -> int | None:
    """How many tools the assistant called; None where there are no events but the result."""
    messages = [event for event in events if isinstance(event.get("message"), Mapping)]
    if not messages:
        return None
    return len([part for event in messages for part in _parts(event) if part.get("type") == "tool_use"])


def unfinished(events: Sequence[Event]) -> tuple[str, ...] | None:
    """The background work that had not completed when the last result was printed, each with how it stands.

    Returns:
        None where there are no events but results, which tell nothing of it.
    """
    last = max((place for place, event in enumerate(events) if is_result(event)), default=len(events))
    if all(map(is_result, events)):
        return None
    board = _Board()
    for place, event in enumerate(events):
        board.take(event, is_late=place > last)
    return board.unfinished()


class _Work:
    """Work under way: what it is called, whether it is in the background (None: not known), and its newest state.

    is_asked: the call asked for the background, which a program may be set up to refuse.
    """

    def __init__(self) -> None:
        self.name = ""
        self.background: bool | None = None
        self.state: str | None = None
        self.is_asked = False

    def adopt(self, other: _Work) -> None:
        """Take over what was known of the same work under another id."""
        self.name = self.name or other.name
        self.background = other.background if self.background is None else self.background
        self.is_asked = self.is_asked or other.is_asked


class _Board:
    """All work that the events tell of, by the id of its task, or of the call that began it."""

    def __init__(self) -> None:
        self._work: dict[str, _Work] = {}
        self._task_of: dict[str, str] = {}

    def take(self, event: Event, *, is_late: bool) -> None:
        """Note what one event tells; one behind the last result completes nothing any more."""
        if event.get("type") == "system":
            self._system(event, is_late)
        for part in _parts(event):
            if event.get("type") == "assistant" and part.get("type") == "tool_use":
                self._called(part)
            elif event.get("type") == "user" and part.get("type") == "tool_result":
                self._returned(part, event.get("tool_use_result"))

    def unfinished(self) -> tuple[str, ...]:
        """What is in the background and has not completed, in the order in which it began."""
        left = (each for each in self._work.values() if each.background is not False and each.state != _COMPLETED)
        return tuple(f"{each.name or 'a task without a name'} ({each.state or _RUNNING})" for each in left)

    def _system(self, event: Event, is_late: bool) -> None:
        kind, task = event.get("subtype"), _text(event.get("task_id"))
        if kind == "background_tasks_changed":
            for each in _objects(event.get("tasks")):
                self._begun(each)
        elif kind == "task_started":
            work = self._begun(event)
            if work.state is not None and not isinstance(event.get("is_backgrounded"), bool):
                # Whoever is sent a message later goes on in the background (RUN-62).
                work.background = True
            work.state = _RUNNING
        elif kind in ("task_updated", "task_notification") and task is not None:
            patch = event.get("patch")
            self._moved(event, patch if isinstance(patch, Mapping) else event, is_late)

    def _begun(self, told: Event) -> _Work:
        work = self._of(_text(told.get("task_id")), _text(told.get("tool_use_id")))
        work.name = work.name or _name(told)
        if told.get("subtype") != "task_started":
            work.background = True
        elif isinstance(told.get("is_backgrounded"), bool):
            work.background = told["is_backgrounded"]
        return work

    def _moved(self, event: Event, patch: Event, is_late: bool) -> None:
        work = self._of(_text(event.get("task_id")), _text(event.get("tool_use_id")))
        if patch.get("is_backgrounded") is True:
            work.background = True
        state = (_text(patch.get("status")) or "").lower()
        if state and not (is_late and state == _COMPLETED):
            work.state = _RUNNING if state in ("running", "pending", "in_progress") else state

    def _called(self, call: Event) -> None:
        given, id = call.get("input"), _text(call.get("id"))
        if id is None or not isinstance(given, Mapping):
            return
        if given.get("run_in_background") in (True, "true", "True"):
            work = self._of(None, id)
            work.is_asked, work.name = True, work.name or _name(given)

    def _returned(self, part: Event, told: Any) -> None:
        """What a call came back with: that its work was sent into the background, or its end."""
        call = _text(part.get("tool_use_id"))
        known = told if isinstance(told, Mapping) else {}
        task = _text(known.get("backgroundTaskId")) or _text(known.get("agentId"))
        if known.get("isAsync") is True or known.get("status") == _ASYNC or "backgroundTaskId" in known:
            self._of(task, call).background = True
        elif call is not None and (work := self._work.get(self._task_of.get(call, call))) is not None:
            # Without further words a call that asked for the background got it.
            if work.background is None and (part.get("is_error") is True or known or not work.is_asked):
                work.background = False

    def _of(self, task: str | None, call: str | None) -> _Work:
        """The work of a task or call, which may have been known by its call alone so far."""
        if task is None:
            task = self._task_of.get(call or "", call or "")
        elif call is not None and call != task:
            self._task_of[call] = task
            if call in self._work:
                self._work.setdefault(task, _Work()).adopt(self._work.pop(call))
        return self._work.setdefault(task, _Work())


def _name(told: Event) -> str:
    name = next((" ".join(text.split()) for key in _NAMES if (text := _text(told.get(key)))), "")
    return name if len(name) <= _LONGEST_NAME else f"{name[: _LONGEST_NAME - 1]}…"


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) and value else None


def _objects(value: Any) -> list[Event]:
    return [each for each in value if isinstance(each, Mapping)] if isinstance(value, list) else []


def _parts(event: Event) -> Iterator[Event]:
    message = event.get("message")
    return iter(_objects(message.get("content")) if isinstance(message, Mapping) else ())


def is_result(found: Mapping[str, Any]) -> bool:
    """Whether an object is such a result, or a part of one that tells of failure."""
    return found.get("type") == "result" or "is_error" in found or "permission_denials" in found


def read_result(task: port.ExecutorTask, found: Mapping[str, Any], issued: str) -> port.ExecutorResult:
    """Turn the object into a result.

    Denied tools are an error also where the program calls it a success, and so is `is_error` with any status.

    Args:
        task: the attempt.
        found: the object.
        issued: the id that the program was given for its conversation.
    """
    if "permission_denials" in found and not _is_denials(found["permission_denials"]):
        return failures.failed(task, "RESULT_INVALID", "permission_denials is not a list of objects")
    tools = [_tool(denial) for denial in found.get("permission_denials", ())]
    text = found["result"] if isinstance(found.get("result"), str) else ""
    session, usage = _session(task, found, issued, failing=True), _usage(found)
    facts: dict[str, Any] = {"output": text, "session_id": session, "usage": usage}
    if found.get("subtype") == "error_max_budget_usd":
        return failures.failed(task, "BUDGET_EXHAUSTED", _words(found, text), denied_tools=tuple(tools), **facts)
    if tools:
        return failures.denied(task, tools, **facts)
    if found.get("is_error") is True:
        return failures.failed(task, _kind(found, text), _words(found, text), **facts)
    wrong = _unlike_success(found)
    if wrong:
        return failures.failed(task, "RESULT_INVALID", wrong, **facts)
    return port.ExecutorResult("COMPLETE", _session(task, found, issued), text, usage=usage)


def _session(task: port.ExecutorTask, found: Mapping[str, Any], issued: str, failing: bool = False) -> str | None:
    """The runner's session where the issued id is named, else the one named; a failure may also name none."""
    named = found.get("session_id")
    if named == issued or (named is None and failing):
        return task.session_id
    return None if named is None else str(named)


def _unlike_success(found: Mapping[str, Any]) -> str | None:
    if found.get("is_error") is not False:
        return "is_error is neither true nor false"
    if found.get("type") != "result" or found.get("subtype", "success") != "success":
        return f"type and subtype are {found.get('type')!r} and {found.get('subtype')!r}"
    return None if isinstance(found.get("result"), str) else "result is not a text"


def _kind(found: Mapping[str, Any], text: str) -> str:
    if found.get("subtype") == "error_max_turns":
        return "TURNS_EXHAUSTED"
    if found.get("api_error") == "usage_limit_reached":
        return "USAGE_LIMIT"
    return service_errors.kind(text, found.get("api_error_status"))


def _words(found: Mapping[str, Any], text: str) -> str:
    told = found.get("errors")
    told = [str(each) for each in told] if isinstance(told, list) else []
    return text or "; ".join(told) or f"the program reports an error ({found.get('subtype', 'without a kind')})"


def _is_denials(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(each, Mapping) for each in value)


def _tool(denial: Mapping[str, Any]) -> str:
    return str(denial.get("tool_name") or "a tool without a name")


def _usage(found: Mapping[str, Any]) -> dict[str, int] | None:
    usage = found.get("usage")
    if not isinstance(usage, Mapping):
        return None
    return {key: value for key, value in usage.items() if own_result.is_count(value)}
