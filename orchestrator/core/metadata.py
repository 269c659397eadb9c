"""Return metadata: the document in which an agent says how far it came and what stopped it.

A document is read whole and every fault in it is listed. Documents from before the review fields are valid as they
are; fields that nobody knows are kept.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping

from orchestrator import errors
from orchestrator.core import blockers, fields, names, oversized, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.hints import Any

WHAT = "the return metadata"
STATUSES = ("in_progress", "researched", "planned", "implemented", "partial", "failed", "blocked")
STOPPED = ("partial", "blocked", "failed")
REVIEW_REASON_LENGTH = 500
MOST_PHASES = 1_000_000

_FINAL_WORDS = ("completed", "complete", "done")
_REVIEW_FIELDS = ("requires_user_review", "review_reason")
_FIELDS = ("status", "artifacts", "errors", "partial_progress", "completion_data", *_REVIEW_FIELDS)
_ABSOLUTE = re.compile(r"[/\\~]|[A-Za-z]:|[A-Za-z][A-Za-z0-9+.-]*://")
_FAILING = frozenset({"block", "merge_fail", "test_fail"})
_CONTINUING = frozenset({"progress", "inconclusive", "guide", "escalate", "investigate", "none"})

FileExists = Callable[[str], bool]


class Artifact(NamedTuple):
    """Something that the agent made: its kind, its path relative to the project, what it is."""

    type: str | None
    path: str
    summary: str | None


class ErrorItem(NamedTuple):
    """One error that the agent met. ``recoverable`` is true where a document older than the review fields is silent."""

    type: str
    message: str | None
    recoverable: bool
    recommendation: str | None


class Progress(NamedTuple):
    """How far the agent came."""

    stage: str | None
    details: str | None
    phases_completed: int | None
    phases_total: int | None
    handoff_path: str | None


class Resume(NamedTuple):
    """Where a successor goes on."""

    stage: str | None
    phases_completed: int | None
    phases_total: int | None
    handoff_path: str | None

    @property
    def phase(self) -> int | None:
        """The phase to begin with, counted from 1; None where the document counts none."""
        return None if self.phases_completed is None else self.phases_completed + 1


class Metadata(NamedTuple):
    """A valid document. ``blocker_type`` and ``blocker_class`` are None for work that nothing stopped.

    ``blocker_message`` is what the error of that type says, else the first error that says anything.
    """

    status: str
    requires_user_review: bool
    review_reason: str | None
    errors: tuple[ErrorItem, ...]
    partial_progress: Progress | None
    artifacts: tuple[Artifact, ...]
    completion_data: Mapping[str, Any] | None
    over_flagged: bool
    under_flagged: bool
    blocker_class: blockers.BlockerClass | None
    blocker_type: str | None
    blocker_message: str | None
    warnings: tuple[str, ...]
    resume: Resume | None
    raw: Mapping[str, Any]


def check(data: bytes | str | Mapping[str, Any], file_exists: FileExists | None = None) -> Metadata:
    """Check return metadata and say what it means.

    Args:
        data: the document, as text or already parsed.
        file_exists: tells whether a relative path names a file; without it no file is looked for.

    Raises:
        errors.InvalidInput: METADATA_INVALID; data ``problems`` is a list of {path, message}, one for every fault.

    Source: seed 003, Recommendations 1 and Schema Changes Summary.
    """
    raw = _load(data)
    if not isinstance(raw, dict):
        raise _invalid([fields.problem("$", f"must be an object, not {fields.kind(raw)}")])
    reader = _Reader(raw, file_exists)
    found = reader.read()
    if reader.problems:
        raise _invalid(reader.problems)
    return found


def mismatch(metadata_status: str, effect: str) -> str | None:
    """Why metadata of this status contradicts a report with this effect (METADATA_MISMATCH), or None."""
    if metadata_status in ("blocked", "failed"):
        fits, allowed = effect in _FAILING, _words(_FAILING)
    elif metadata_status in ("partial", "in_progress"):
        fits, allowed = effect in _CONTINUING, _words(_CONTINUING)
    else:
        fits = effect not in _FAILING | _CONTINUING
        allowed = f"any effect but {_words(_FAILING | _CONTINUING)}"
    if fits:
        return None
    return f"Metadata status {metadata_status} contradicts a report with effect {effect}; it goes with {allowed}."


def _words(effects: Iterable[str]) -> str:
    return ", ".join(sorted(effects))


def _load(data: bytes | str | Mapping[str, Any]) -> object:
    # A parsed document goes through its text too: it may hold what JSON cannot.
    if not isinstance(data, Mapping) and strict_json.has_bom(data):
        raise _invalid([fields.problem("$", f"{WHAT} begins with a byte-order mark; save it as UTF-8 without one")])
    try:
        text = data if isinstance(data, bytes | str) else strict_json.canonical(data)
        return strict_json.loads(text, WHAT, oversized.REPORT_LIMIT)
    except strict_json.JsonProblem as problem:
        faults = [fields.problem(path, problem.message) for path in problem.paths]
    except (TypeError, ValueError, RecursionError) as problem:
        faults = [fields.problem("$", f"{WHAT} cannot be written as JSON: {problem}")]
    raise _invalid(faults)


def _invalid(problems: list[fields.Problem]) -> errors.InvalidInput:
    first = problems[0]
    more = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    return errors.InvalidInput(
        "METADATA_INVALID",
        f"Return metadata is not valid: {first['path']}: {first['message']}{more}.",
        sentence("Fix every listed problem, see `{}`, and report again.", suggest("metadata check", file="FILE")),
        problems=problems,
    )


class _Reader(fields.Reader):
    """Reads one document and collects what is wrong with it."""

    def __init__(self, raw: dict[str, Any], file_exists: FileExists | None) -> None:
        super().__init__()
        self.raw = raw
        self.file_exists = file_exists
        self.warnings: list[str] = []

    def read(self) -> Metadata:
        self._warn_of_near_misses()
        status = self._status()
        flag = self._flag(status)
        reason = self._reason(flag)
        found = self._errors()
        progress = self._progress(status)
        blocker = _blocker(status, flag, progress, found)
        hard = blocker is not None and blocker.blocker_class == blockers.HARD
        return Metadata(
            status=status,
            requires_user_review=flag,
            review_reason=reason,
            errors=found,
            partial_progress=progress,
            artifacts=self._artifacts(),
            completion_data=self.mapping(self.raw, "completion_data", "$"),
            over_flagged=flag and not hard,
            under_flagged=not flag and hard and status == "partial",
            blocker_class=blocker.blocker_class if blocker else None,
            blocker_type=blocker.type if blocker else None,
            blocker_message=_message(blocker, found) if blocker else None,
            warnings=tuple(self.warnings),
            resume=_resume(status, progress),
            raw=self.raw,
        )

    def _warn_of_near_misses(self) -> None:
        for key in self.raw:
            meant = None if key in _FIELDS else names.nearest(key, _FIELDS)
            if meant and meant not in self.raw:
                self.warnings.append(f"field {names.shown(key)} is unknown and has no effect; did you mean {meant}?")

    def _status(self) -> str:
        status = self.raw.get("status")
        if isinstance(status, str) and status in STATUSES:
            return status
        allowed = f"it must be one of {', '.join(STATUSES)}"
        if not isinstance(status, str):
            fault = f"is {fields.kind(status)}" if "status" in self.raw else "is missing"
            self.refuse("$.status", f"{fault}; {allowed}")
        elif names.fold_name(status) in _FINAL_WORDS:
            self.refuse("$.status", f"is {names.shown(status)}, which no agent decides; {allowed}")
        else:
            meant = names.nearest(status, STATUSES)
            hint = f" (did you mean {meant}?)" if meant else ""
            self.refuse("$.status", f"is {names.shown(status)}; {allowed}{hint}")
        return ""

    def _flag(self, status: str) -> bool:
        flag: object = self.raw.get("requires_user_review", False)
        if not isinstance(flag, bool):
            self.refuse("$.requires_user_review", f"must be true or false, not {fields.kind(flag)}")
            return False
        if flag and status and status not in STOPPED:
            self.refuse("$.requires_user_review", f"is true with status {status}; only {', '.join(STOPPED)} can ask")
        return flag

    def _reason(self, flag: bool) -> str | None:
        before = len(self.problems)
        reason = names.said(self.text(self.raw, "review_reason", "$"))
        if len(self.problems) > before:
            return None
        if flag and not reason:
            self.refuse("$.review_reason", "is missing or blank; requires_user_review needs a reason")
        elif flag and len(reason) > REVIEW_REASON_LENGTH:
            self.refuse("$.review_reason", f"has {len(reason)} characters; {REVIEW_REASON_LENGTH} are allowed")
        elif reason and not flag:
            self.warnings.append("review_reason is set although requires_user_review is false; nobody is asked")
        return reason or None

    def _errors(self) -> tuple[ErrorItem, ...]:
        strict = any(field in self.raw for field in _REVIEW_FIELDS)
        items = [self._error(item, path, strict) for item, path in self.mappings(self.raw, "errors", "$")]
        return tuple(item for item in items if item)

    def _error(self, item: dict[str, Any], path: str, strict: bool) -> ErrorItem | None:
        kind = self.text(item, "type", path, required=True)
        message, recommendation = self.text(item, "message", path), self.text(item, "recommendation", path)
        recoverable = item.get("recoverable")
        if recoverable is None and strict:
            self.refuse(f"{path}.recoverable", "is missing; a document with the review fields says it of every error")
        elif recoverable is not None and not isinstance(recoverable, bool):
            self.refuse(f"{path}.recoverable", f"must be true or false, not {fields.kind(recoverable)}")
        return ErrorItem(kind, message, recoverable is not False, recommendation) if kind else None

    def _artifacts(self) -> tuple[Artifact, ...]:
        return tuple(
            Artifact(
                self.text(item, "type", path),
                self._path(item, "path", path, required=True) or "",
                self.text(item, "summary", path),
            )
            for item, path in self.mappings(self.raw, "artifacts", "$")
        )

    def _progress(self, status: str) -> Progress | None:
        item, path = self.mapping(self.raw, "partial_progress", "$"), "$.partial_progress"
        if item is None:
            return None
        stage, details = self.text(item, "stage", path), self.text(item, "details", path)
        completed = self.count(item, "phases_completed", path, MOST_PHASES)
        total = self.count(item, "phases_total", path, MOST_PHASES)
        self._compare_phases(completed, total, status, item)
        return Progress(stage, details, completed, total, self._handoff(item, path, stage))

    def _compare_phases(self, completed: int | None, total: int | None, status: str, item: dict[str, Any]) -> None:
        path = "$.partial_progress.phases_completed"
        if total is None:
            return
        if completed is None:
            if total and status == "implemented" and item.get("phases_completed") is None:
                self.refuse(path, f"is missing, of phases_total {total}; implemented leaves no phase open")
        elif completed > total:
            self.refuse(path, f"is {completed} of phases_total {total}")
        elif completed < total and status == "implemented":
            self.refuse(path, f"is {completed} of phases_total {total}; implemented leaves no phase open")

    def _handoff(self, item: dict[str, Any], path: str, stage: str | None) -> str | None:
        required = blockers.type_name(stage or "") == "context_exhaustion_handoff"
        place = self._path(item, "handoff_path", path, required)
        if place and self.file_exists and not self.file_exists(place):
            self.refuse(f"{path}.handoff_path", f"names {names.shown(place)}, which does not exist")
        return place

    def _path(self, item: dict[str, Any], key: str, path: str, required: bool) -> str | None:
        place = self.text(item, key, path, required)
        if place is None:
            return None
        fault = _path_fault(place)
        if fault:
            self.refuse(f"{path}.{key}", f"is {names.shown(place)}; {fault}")
        return None if fault else place


def _path_fault(place: str) -> str | None:
    bare = place.strip()
    if not bare:
        return "it must name a file"
    if _ABSOLUTE.match(bare):
        return "it must be relative to the project"
    return "it must not climb with .." if ".." in re.split(r"[/\\]", bare) else None


def _blocker(
    status: str, flag: bool, progress: Progress | None, found: tuple[ErrorItem, ...]
) -> blockers.Classified | None:
    if status not in STOPPED:
        return None
    stage = progress.stage if progress else None
    named = blockers.worst(stage, [blockers.of_error(each.type, each.recoverable) for each in found])
    # A partial document that names nothing has merely not finished; one that asks or stopped has a cause it hides.
    silent = blockers.UNCLASSIFIED if flag or status != "partial" else blockers.PHASE_INCOMPLETE
    return named or silent


def _message(blocker: blockers.Classified, found: tuple[ErrorItem, ...]) -> str | None:
    of_type = [each for each in found if blockers.type_name(each.type) == blocker.type]
    said = (names.said(each.message) for each in (*of_type, *found))
    return next(filter(None, said), None)


def _resume(status: str, progress: Progress | None) -> Resume | None:
    if status != "partial" or progress is None:
        return None
    return Resume(progress.stage, progress.phases_completed, progress.phases_total, progress.handoff_path)
