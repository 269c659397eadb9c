"""Tasks, logs, questions and the summary as lines of text. Nothing that is stored can move the cursor.

Source: seed 001, Properties 27, 30, 36 and 39.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence

from orchestrator.core import questions
from orchestrator.core.running import states, summary, visibility
from orchestrator.core.suggestions import split_lines
from orchestrator.doors.cli.repl import parser
from orchestrator.doors.cli.text import layout
from orchestrator.doors.cli.text.layout import visible
from orchestrator.errors import OrchestratorError
from orchestrator.hints import Any

Row = Mapping[str, Any]

PROMPT_SHOWN = 60
"""Characters of a task's text in lists."""
FILES_SHOWN = 10
EARLIER_SHOWN = 10
NO_TASK = "No tasks in this session."


def help_lines(names: Sequence[str]) -> list[str]:
    """The commands, and what else may be written."""
    rows = [(parser.COMMANDS[name].form, parser.COMMANDS[name].text) for name in names]
    last = "Any other text is a task, even if it looks like a comment."
    if tuple(names) == parser.WITHOUT_PROJECT:
        last = "No tasks before /init: this folder is not a project yet."
    return [*layout.table(("COMMAND", ""), rows), last]


def begun(run: Row) -> list[str]:
    """The line that says that a task is taken up."""
    model = f", model {run['model']}" if run.get("model") else ""
    return [visible(f"Task {ids(run)}: {run['task_type']}, executor {run['executor']}{model}")]


def brief(run: Row) -> dict[str, Any]:
    """A run without what its executor said, which is shown on request alone.

    Source: seed 001, Property 15 and Property 25.
    """
    return {name: value for name, value in run.items() if name != "output"}


def ids(run: Row) -> str:
    """Both ids of a run."""
    return f"{run['id']} [log: {run['log_id']}]"


def ended(run: Row) -> list[str]:
    """What came of a run: files, what blocked it, and the summary; a question where one is open."""
    block = summarised(run)
    return [*_files(run), *_type(run), *_blocked(run), *question(run), *(split_lines(block) if block else ())]


def summarised(run: Row) -> str | None:
    """The seven lines of a run that has ended.

    Source: seed 001, Property 39.
    """
    reason = run.get("why") or run.get("error_reason")
    return summary.block(run["id"], run["state"], reason, following=run.get("next"), hint=run.get("hint"))


def _files(run: Row) -> list[str]:
    """What became of which file; one that was only claimed, and was there before, is none of these."""
    told = [f"{file['path']} ({file['change']})" for file in run.get("verified_files") or () if file["change"]]
    if not told:
        return []
    more = f" and {len(told) - FILES_SHOWN} more" if len(told) > FILES_SHOWN else ""
    return [visible(f"Files: {', '.join(told[:FILES_SHOWN])}{more}")]


def _type(run: Row) -> list[str]:
    """The type of a task that was guessed, and what it means for COMPLETE."""
    if run.get("type_by") != "guess" or states.word_of(run["state"]) is None:
        return []
    judged = f"; judged as {run['judged_as']}" if run["judged_as"] != run["task_type"] else ""
    return [visible(f"Type: {run['task_type']} (guessed{judged}): {run['complete_if']}")]


def _blocked(run: Row) -> list[str]:
    if not run.get("executor_blocked"):
        return []
    limit = f" ({run['limit']})" if run.get("limit") else ""
    return [visible(f"Blocked: {blockage(run)}{limit}")]


def blockage(run: Row) -> str:
    """Why an executor was ended, as the lists have it; empty where it was not.

    Source: seed 001, Property 30.
    """
    if not run.get("blocked_reason"):
        return ""
    clock = run.get("timeout_ms")
    return f"blocked_reason={run['blocked_reason']} timeout_ms={layout.NOTHING if clock is None else clock}"


def question(run: Row) -> list[str]:
    """The one question of a run and how it is answered."""
    asked = run.get("question")
    if not asked or run["state"] != states.AWAITING:
        return []
    head = visible(f"Task {run['id']} asks:")
    is_choice = questions.YES in questions.decisions(asked["kind"], asked["text"])
    how = "Answer: /respond yes, or /respond no" if is_choice else "Answer: /respond TEXT"
    return [head, *(layout.INDENT + line for line in layout.visible_lines(asked["text"])), how]


def tasks(runs: Sequence[Row]) -> list[str]:
    """The answer of `/tasks`.

    Source: seed 001, Property 30.
    """
    if not runs:
        return [NO_TASK]
    width = max(len(_word(run)) for run in runs)
    return [visible(f"{ids(run)} {_word(run):<{width}}  {_short(run['prompt'])}") for run in runs]


def logs(runs: Sequence[Row]) -> list[str]:
    """The answer of `/logs`.

    Source: seed 001, Property 30.
    """
    if not runs:
        return [NO_TASK]
    width = max(len(_word(run)) for run in runs)
    return [visible(f"{run['log_id']} [task: {run['id']}] {_word(run):<{width}}  {_told(run)}") for run in runs]


def earlier(runs: Sequence[Row], shown: Callable[[Sequence[Row]], list[str]]) -> list[str]:
    """The newest runs of another session, as a list shows them; either of their ids leads to the log."""
    if not runs:
        return []
    head = f"Earlier, in session {runs[0]['session_id']}"
    more = f", the last {EARLIER_SHOWN} of {len(runs)}" if len(runs) > EARLIER_SHOWN else ""
    return [visible(f"{head}{more} (/logs ID shows one):"), *shown(runs[-EARLIER_SHOWN:])]


def _word(run: Row) -> str:
    """The status, and of what was cancelled that it was: nothing of it can be continued."""
    return f"{run['status']} (cancelled)" if run["state"] == states.CANCELLED else str(run["status"])


def _told(run: Row) -> str:
    count = run.get("files_modified_count") or 0
    parts = (blockage(run), f"{count} file" if count == 1 else f"{count} files", _short(run["prompt"]))
    return "  ".join(part for part in parts if part)


def _short(text: str) -> str:
    line = " ".join(text.split())
    return line if len(line) <= PROMPT_SHOWN else f"{line[: PROMPT_SHOWN - 1]}…"


_FIELDS = (
    ("Log", "log_id"), ("Task", "id"), ("Session", "session_id"), ("Status", "status"), ("Type", "task_type"),
    ("Executor", "executor"), ("Provider", "provider"), ("Model", "model"), ("Retry of", "retry_of"),
    ("Queued", "queued_at"), ("Started", "started_at"), ("Ended", "ended_at"), ("Reason", "error_reason"),
    ("Code", "error_code"), ("Project", "verification_root"),
)  # fmt: skip


def log(run: Row) -> list[str]:
    """The answer of `/logs ID`; the same for either id."""
    lines = layout.fields([(label, run.get(name)) for label, name in _FIELDS])
    lines += [f"executor_blocked=true {visible(blockage(run))}"] if run.get("executor_blocked") else []
    files = [
        f"{file['path']} {'exists' if file['exists'] else 'absent'} ({file['detection_method']})"
        for file in run.get("verified_files") or ()
    ]
    lines += layout.section("Verified files", [visible(file) for file in files])
    lines += layout.section("Prompt", layout.visible_lines(run["prompt"]))
    lines += layout.section("Events", [line for event in run.get("events") or () for line in _event(event)])
    output = run.get("output")
    return [*lines, *(layout.section("Output", layout.visible_lines(output)) if output else ())]


def _event(event: Row) -> list[str]:
    first, *rest = layout.visible_lines(str(event["text"]))
    return [f"{event['at']} {visible(event['kind'])}: {first}", *(layout.INDENT + line for line in rest)]


def tree(threads: Sequence[Row]) -> list[str]:
    """The answer of `/logs --tree`: the session, below it what was asked for, below that the tasks run for it.

    Source: seed 001, Property 25.
    """
    logged = [
        visibility.Logged(
            run["session_id"], thread["task_id"], run["id"], run.get("retry_of"), run["status"],
            f"[log: {run['log_id']}] {_short(run['prompt'])}",
        )
        for thread in threads
        for run in thread["runs"]
    ]  # fmt: skip
    # What is shown is masked already.
    return [visible(line) for line in visibility.lines(visibility.tree(logged), str)] or [NO_TASK]


def status(found: Row) -> list[str]:
    """The answer of `/status`: names and values."""
    return layout.fields([(_label(name), _value(value)) for name, value in found.items() if name != "success"])


def _label(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _value(value: object) -> object:
    if isinstance(value, Mapping):
        known = value.get("id") and (f"{value['id']}: {_short(value['text'])}" if value.get("text") else value["id"])
        return known or ", ".join(f"{each} {name}" for name, each in value.items() if each) or layout.NOTHING
    return layout.NOTHING if value is None else value


def problem(found: OrchestratorError) -> list[str]:
    """An error as the answer of a line: what is wrong, and what helps."""
    code = "" if found.code in ("USAGE", "UNKNOWN_COMMAND", "LINE_INVALID") else f"{found.code} "
    lines = [visible(f"ERROR: {code}{found.message}")]
    for each in found.data.get("problems") or ():
        told = str(each.get("message", each) if isinstance(each, Mapping) else each)
        lines += [] if told.rstrip(".") in found.message else [layout.INDENT + visible(told)]
    return [*lines, *([visible(f"HINT: {found.suggestion}")] if found.suggestion else [])]


def as_json(value: object) -> list[str]:
    """A value as one line of JSON."""
    return [json.dumps(value, ensure_ascii=True, default=str)]
