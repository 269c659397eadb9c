"""What can go wrong with an executor, each kind with one name, and the results that tell of it."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from orchestrator.core import masking
from orchestrator.core.running import limits, terminal_output
from orchestrator.core.suggestions import sentence
from orchestrator.hints import TYPE_CHECKING, Any, Final
from orchestrator.runner import port

if TYPE_CHECKING:
    from orchestrator.runner import process
    from orchestrator.runner.executors import reading

ERROR: Final = "ERROR"
INCOMPLETE: Final = "INCOMPLETE"
STATUSES: Final = ("COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "ERROR", "INVALID", "BLOCKED")

KINDS: Final[dict[str, str | None]] = {
    # The program itself.
    "PROGRAM_MISSING": "missing_dependency",
    "NOT_STARTED": "missing_dependency",
    "EXIT_STATUS": None,
    "SIGNAL": None,
    "INTERACTIVE_PROMPT": None,
    "TIMEOUT": "timeout",
    "CANCELLED": None,
    # What it answered.
    "RESULT_CUT": None,
    "RESULT_INVALID": None,
    "REPORTED_ERROR": None,
    "ANSWER_CUT": "phase_incomplete",
    "ANSWER_REFUSED": None,
    "PERMISSION_DENIED": "permission_denied",
    "TURNS_EXHAUSTED": "phase_incomplete",
    "BUDGET_EXHAUSTED": "phase_incomplete",
    # What it was asked.
    "PROMPT_INVALID": "invalid_specification",
    "MODEL_MISSING": "invalid_specification",
    "MODEL_UNKNOWN": "invalid_specification",
    "REQUEST_INVALID": "invalid_specification",
    # The service behind it.
    "EXTRA_MISSING": "missing_dependency",
    "KEY_NOT_SET": "external",
    "NOT_LOGGED_IN": "external",
    "CLOUD_LOGIN": "external",
    "AUTHENTICATION": "external",
    "CREDIT": "external",
    "RATE_LIMIT": "mcp_transient",
    "USAGE_LIMIT": "mcp_transient",
    "CONNECTION": "mcp_transient",
    "SERVICE": "mcp_transient",
    "API_TIMEOUT": "timeout",
    # Test executors.
    "SCRIPT_EXHAUSTED": "invalid_specification",
}
"""Every kind of failure, and the type of the blocker that it stands for where one is known."""

OUTPUT_LIMIT: Final = 256 * 1024
"""Characters of an answer that are kept, from its end; all of it is in the evidence file."""
_SENTENCE_LIMIT = 2_000


def failed(task: port.ExecutorTask, kind: str, sentence: str, **fields: Any) -> port.ExecutorResult:
    """A result that the adapter itself gives for a failure which it saw; it names the issued session.

    Args:
        task: the attempt that failed.
        kind: one of `KINDS`.
        sentence: what happened, in words; shortened where it is long.
        fields: further fields of the result.
    """
    given: dict[str, Any] = {"status": ERROR, "session_id": task.session_id, "output": "", "cause": KINDS[kind]}
    return port.ExecutorResult(**(given | fields), error=f"{kind}: {shortened(sentence)}")


def cancelled(task: port.ExecutorTask, **fields: Any) -> port.ExecutorResult:
    """The result of an attempt that somebody cancelled."""
    return failed(task, "CANCELLED", "the run was cancelled", status=INCOMPLETE, cancelled=True, **fields)


def denied(task: port.ExecutorTask, tools: Iterable[str], **fields: Any) -> port.ExecutorResult:
    """The result of a program that was not allowed to use tools which it asked for; each is named once."""
    names = tuple(dict.fromkeys(tools))
    sentence = f"not allowed: {', '.join(names)}"
    return failed(task, "PERMISSION_DENIED", sentence, denied_tools=names, **fields)


def unavailable(task: port.ExecutorTask, state: port.Availability) -> port.ExecutorResult:
    """The result of an attempt whose executor cannot be called."""
    return failed(task, state.code or "NOT_STARTED", sentence("{} {}", state.reason, state.suggestion))


def of_end(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult | None:
    """The result of a program that was ended or could not be started; None where it ended by itself with a status."""
    if ended.blocked_reason is not None:
        return _blocked(task, ended)
    if ended.cancelled:
        return measured(cancelled(task, output=ended.output), ended)
    if ended.signal is not None:
        return _ended(task, ended, "SIGNAL", f"the program was ended by signal {ended.signal}")
    if ended.exit_code is None:
        return _ended(task, ended, "NOT_STARTED", ended.why)
    return None


def of_status(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    """The result of a program that ended with a status other than 0."""
    said, sentence = last_words(ended), f"the program ended with status {ended.exit_code}"
    return _ended(task, ended, "EXIT_STATUS", f"{sentence}: {said}" if said else sentence)


def last_words(ended: process.Ended) -> str:
    """What a program said last, on stderr or as text; empty where it said nothing."""
    printed = last_line(ended.stdout)
    return last_line(ended.stderr) or ("" if printed.startswith("{") else printed)


def unreadable(task: port.ExecutorTask, error: reading.Unreadable, ended: process.Ended) -> port.ExecutorResult:
    """The result of a program whose JSON is cut or malformed."""
    return failed(task, "RESULT_CUT" if error.cut else "RESULT_INVALID", str(error), output=ended.output)


def with_status(task: port.ExecutorTask, result: port.ExecutorResult, ended: process.Ended) -> port.ExecutorResult:
    """The result, made an error where the program ended with a status other than 0, whatever it printed.

    What it says of its failure is kept, and so is a session that was not issued.
    """
    if not ended.exit_code or result.status in (ERROR, "INVALID"):
        return result
    failure = of_status(task, ended)
    named = failure.session_id if result.session_id is None else result.session_id
    return result._replace(status=ERROR, session_id=named, error=failure.error, cause=result.cause or failure.cause)


def _blocked(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    if ended.blocked_reason == "TIMEOUT":
        value, unit = limits.setting(ended.limit, ended.timeout_ms or 0)
        kind, sentence = "TIMEOUT", f"{ended.limit} of {value} {unit} is over"
    else:
        kind, sentence = "INTERACTIVE_PROMPT", f"the program asked and nobody can answer: {ended.prompt}"
    return _ended(
        task,
        ended,
        kind,
        sentence,
        executor_blocked=True,
        blocked_reason=ended.blocked_reason,
        timeout_ms=ended.timeout_ms,
        limit=ended.limit,
        prompt=ended.prompt,
    )


def _ended(task: port.ExecutorTask, ended: process.Ended, kind: str, sentence: str, **f: Any) -> port.ExecutorResult:
    return measured(failed(task, kind, sentence, output=ended.output, **f), ended)


def measured(result: port.ExecutorResult, ended: process.Ended) -> port.ExecutorResult:
    """The result with what the supervision measured."""
    return result._replace(
        exit_code=ended.exit_code,
        leftovers=tuple(ended.leftovers),
        output_bytes=ended.bytes_out,
        no_text_bytes=ended.no_text,
        duration_ms=ended.duration_ms,
        background=True if ended.background else result.background,
        unfinished=(*result.unfinished, *ended.background),
        signal=ended.signal,
        cancelled=ended.cancelled,
    )


def cleaned(result: port.ExecutorResult, secrets: Sequence[str]) -> port.ExecutorResult:
    """The result with a bounded output, without terminal codes in it, and without keys in anything that was written."""

    def clean(text: str) -> str:
        return masking.mask_keys(text, secrets)

    def optional(text: str | None) -> str | None:
        return None if text is None else clean(text)

    return result._replace(
        output=clean(_bounded(_without_codes(result.output))),
        error=optional(result.error),
        prompt=optional(result.prompt),
        session_id=optional(result.session_id),
        claimed_files=tuple(map(clean, result.claimed_files)),
        proposed_tasks=tuple(map(clean, result.proposed_tasks)),
        denied_tools=tuple(map(clean, result.denied_tools)),
        unfinished=tuple(map(clean, result.unfinished)),
        answers=tuple(clean(_bounded(_without_codes(each))) for each in result.answers),
    )


def _without_codes(text: str) -> str:
    lines = text.split("\n") if "\x1b" in text or "\x9b" in text else ()
    shown = [terminal_output.show(line).row if "\x1b" in line or "\x9b" in line else line for line in lines]
    return "\n".join(shown) if lines else text


def _bounded(text: str) -> str:
    left_out = len(text) - OUTPUT_LIMIT
    return text if left_out <= 0 else f"[... {left_out} characters left out ...]\n{text[left_out:]}"


def last_line(text: str) -> str:
    """The last line that is not blank, without surrounding blanks; empty where there is none."""
    return next((line.strip() for line in reversed(text.splitlines()) if line.strip()), "")


def shortened(text: str) -> str:
    """A sentence of bounded length, on one line."""
    line = " ".join(text.split())
    return line if len(line) <= _SENTENCE_LIMIT else line[: _SENTENCE_LIMIT - 1] + "…"
