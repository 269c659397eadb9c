"""Agent files: one Markdown file per role, its front matter, and how it agrees with the workflow.

Pure and cheap to import. `parse` refuses a file that cannot be used and names everything that is wrong
with it; `check` compares usable files with a workflow and returns warnings.

Source: seed 004, Proposed Solution 1, and its reference to the list of valid agent output markers.

Errors of `parse`                                     Warnings of `check`
    A001 no front matter                              A101 a role of the workflow has no file
    A002 front matter that is not YAML                A102 the file lacks a status of the workflow
    A003 a key given twice                            A103 the file offers a status that the workflow lacks
    A004 a required key without a value               A104 `reports_to` names nobody
    A005 an unknown role                              A105 `reports_to` goes round in a circle
    A006 text where a list belongs, or the reverse    A106 two files for one role
    A007 a status given twice, or no status code
    A008 a generated part that cannot be written (`agents_render`)
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable, Iterator

from orchestrator import errors
from orchestrator.core import front_matter
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import model, vocabulary
from orchestrator.core.workflow.problems import WARNING, Problem
from orchestrator.hints import Any

PERSON = "user"
"""Who the topmost role reports to: a person, who has no agent file."""

WITHOUT_FILE = frozenset({vocabulary.VALIDATOR})
"""Roles of the workflow that are code and need no agent file."""

WITH_VARIANTS = frozenset({vocabulary.ORCHESTRATOR})
"""Roles that report nothing and may have several files."""

REQUIRED = ("name", "description", "role", "model")
LISTS = ("tools", "statuses")

_STATUS = re.compile(r"[A-Z][A-Z0-9_]*")
_INHERITED = "inherit"


class AgentFile(NamedTuple):
    """One agent file as it was read; `text` is the body, `hash` covers the whole file."""

    role: str
    name: str
    description: str
    model: str
    tools: tuple[str, ...]
    reports_to: str | None
    statuses: tuple[str, ...]
    text: str
    hash: str
    source: str = ""


def parse(text: str, source: str) -> AgentFile:
    """Read one agent file.

    Args:
        text: the whole file; a byte order mark and Windows line ends are accepted.
        source: the file's name, used in problems only.

    Returns:
        The file's front matter, body and the SHA-256 (hex) of its text with plain line ends.

    Raises:
        InvalidInput: `WORKFLOW_INVALID`, with every problem in `data["problems"]`.
    """
    plain = text.removeprefix("\ufeff").replace("\r\n", "\n")
    notes = front_matter.Notes(source)
    lines, body = front_matter.split(plain, notes)
    entries = front_matter.entries(lines, notes)
    values = {key: front_matter.text(key, entries, notes) for key in (*REQUIRED, "reports_to")}
    lists = {key: front_matter.items_of(key, entries, notes) for key in LISTS}
    if entries or not notes.found:
        _check_values(values, lists["statuses"], entries, notes)
    if notes.found:
        raise _invalid(source, notes.found)
    return AgentFile(
        role=values["role"],
        name=values["name"],
        description=values["description"],
        model=values["model"],
        tools=lists["tools"],
        reports_to=values["reports_to"] or None,
        statuses=lists["statuses"],
        text=body,
        hash=hashlib.sha256(plain.encode("utf-8", "surrogatepass")).hexdigest(),
        source=source,
    )


def check(files: Iterable[AgentFile], workflow: model.Workflow) -> list[Problem]:
    """Compare agent files with the workflow that they are loaded with.

    Args:
        files: usable agent files, in any order.
        workflow: the workflow whose statuses the roles may report.

    Returns:
        Every difference as a warning, in a stable order; empty when files and workflow agree.
    """
    ordered = sorted(files, key=lambda file: (file.role, file.name))
    roles = set(workflow.roles())
    return [
        *_missing_files(ordered, roles),
        *(problem for file in ordered for problem in _differences(file, workflow)),
        *_managers(ordered),
        *_rivals(ordered),
    ]


def _check_values(
    values: dict[str, str], statuses: tuple[str, ...], entries: dict[str, front_matter.Entry], notes: front_matter.Notes
) -> None:
    """Note required keys without a value, an unknown role and odd statuses."""
    for key in REQUIRED:
        if not values[key]:
            notes.add("A004", _line(key, entries), f"the front matter has no {key}", f"add `{key}: value`")
    if values["model"] == _INHERITED:
        hint = "name a model, for example sonnet or opus: every start uses it"
        notes.add("A004", _line("model", entries), "the front matter does not name a model", hint)
    if values["role"] and values["role"] not in vocabulary.ROLES:
        hint = f"one of {', '.join(vocabulary.ROLES)}"
        notes.add("A005", _line("role", entries), f"unknown role {values['role']}", hint)
    for position, status in enumerate(statuses):
        if _STATUS.fullmatch(status) is None:
            notes.add("A007", _line("statuses", entries), f"{status} is not a status code", "use A-Z, 0-9 and _")
        elif status in statuses[:position]:
            notes.add("A007", _line("statuses", entries), f"{status} is listed twice", "keep it once")


def _line(key: str, entries: dict[str, front_matter.Entry]) -> int:
    return entries[key].line if key in entries else 1


def _invalid(source: str, found: list[Problem]) -> errors.InvalidInput:
    listed: list[dict[str, Any]] = [problem._asdict() for problem in found]
    message = f"agent file {source} cannot be used: {'; '.join(problem.message for problem in found)}"
    return errors.InvalidInput("WORKFLOW_INVALID", message, found[0].hint, problems=listed)


def _warning(id: str, path: str, message: str, hint: str) -> Problem:
    return Problem(id, WARNING, path, None, message, hint)


def _path(file: AgentFile) -> str:
    return file.source or f"agents/{file.name}.md"


def _missing_files(files: list[AgentFile], roles: set[str]) -> Iterator[Problem]:
    """Warn of each role that may be started but has no file, and so no model and no text."""
    for role in sorted(roles - WITHOUT_FILE - {file.role for file in files}):
        path = f"agents/{role}.md"
        yield _warning("A101", path, f"the role {role} of the workflow has no agent file", f"write {path}")


def _differences(file: AgentFile, workflow: model.Workflow) -> Iterator[Problem]:
    """Warn of each status that only the file or only the workflow knows; an alias counts as known."""
    for status in workflow.statuses_of(file.role):
        if status not in file.statuses:
            message = f"{file.role} may report {status}, which {_path(file)} does not list"
            yield _warning("A102", _path(file), message, f"add {status} to statuses")
    for status in file.statuses:
        if workflow.find(file.role, status) is None:
            message = f"{_path(file)} lists {status}, which the workflow does not accept from {file.role}"
            yield _warning("A103", _path(file), message, f"remove {status} from statuses, or add its transition")


def _managers(files: list[AgentFile]) -> Iterator[Problem]:
    """Warn of each `reports_to` that names nobody or leads back to its own role."""
    above = {file.role: file.reports_to for file in files}
    for file in files:
        if file.reports_to in (None, PERSON):
            continue
        if file.reports_to not in above:
            message = f"{file.role} reports to {file.reports_to}, which has no agent file"
            yield _warning("A104", _path(file), message, f"name a role that has a file, or {PERSON}")
        elif _in_circle(file.role, above):
            message = f"{file.role} reports to itself by way of {file.reports_to}"
            yield _warning("A105", _path(file), message, f"let one role of the cycle report to {PERSON}")


def _in_circle(role: str, above: dict[str, str | None]) -> bool:
    """Tell whether the way up from `role` comes back to it."""
    seen: set[str] = set()
    manager = above[role]
    while manager is not None and manager != role and manager not in seen:
        seen.add(manager)
        manager = above.get(manager)
    return manager == role


def _rivals(files: list[AgentFile]) -> Iterator[Problem]:
    """Warn of a second file for a role that reports."""
    first: dict[str, AgentFile] = {}
    for file in files:
        if file.role in first and file.role not in WITH_VARIANTS:
            message = f"{_path(file)} and {_path(first[file.role])} are both for the role {file.role}"
            yield _warning("A106", _path(file), message, "keep one of them")
        first.setdefault(file.role, file)
