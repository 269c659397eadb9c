"""What the runner knows of a run when its executor has ended, and what it makes of that."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Sequence

from orchestrator.core import task_types
from orchestrator.core.named_tuple import NamedTuple

DIFF, CLAIM = "diff", "executor_claim"
PASSED, FAILED, NONE = "passed", "failed", "none"
EXIT_STATUS = "EXIT_STATUS"
"""The kind of an error that tells no more than a program's exit status and its last words."""
DISK_FULL, EVIDENCE_DELETED = "DISK_FULL", "EVIDENCE_DELETED"
"""The kinds of an error that the runner met in keeping what an executor wrote."""
ADAPTER = "The runner's own adapter of "
"""How an error begins that the runner met in calling an executor, which itself reported none."""


OF_THE_RUNNER = (DISK_FULL, EVIDENCE_DELETED, ADAPTER)
"""How an error begins that no executor reported."""


class File(NamedTuple):
    """A file that the runner looked for: its relative path, whether it exists, and why it was looked for."""

    path: str
    exists: bool
    method: str = DIFF


class Facts(NamedTuple):
    """What the runner knows of a run when its executor has ended.

    task_type, status, output, exit_code, claimed_files, error, denied_tools: as the executor told.
    background: whether it left work unfinished in the background, as its events or processes tell; None where nothing
        tells, so that its words are looked at. unfinished: that work, each with how it stands.
    session, issued_session: the id that the result names, and the one that the runner issued.
    executor_blocked, blocked_reason, timeout_ms, limit: it was ended because it prompted or hung, by which clock.
    signal: the signal that ended it. cancelled: a person stopped it.
    verified: new and changed files, and claimed ones, looked for on the disk.
    ordered_deletions: ordered of what the task mentions, and gone. stray: gone, and not ordered.
    unnamed: the task orders a deletion and mentions nothing that is to go.
    targets_unmet: what the task orders of what it mentions and was not done, each as a sentence without a full stop.
    untouched: what the task mentions and was not touched. unmentioned: new and changed files that it does not mention.
    folders: folders that the task mentions and that were made.
    settled, absent: files that were there before, or not, where the whole task is to make them, or delete them, only if
        they are missing, or there; so that nothing was to be done.
    guessed: no word of the task told its type.
    unverifiable: claims that cannot be looked for, such as paths outside of the project; claim_problems: why, of each.
    foreign: artifacts that no operation of the runner made.
    tampered: settings and records that are not the executor's to touch, and what was done to each, in words.
    beside: other runs that worked in the project at the same time.
    unattributed: files that became others meanwhile, so that whose work it was cannot be told.
    unapproved: subtasks that an agent made for itself.
    evidence_missing: operations without evidence. evidence_faults: code and sentence of each fault.
    tests: passed, failed, none (there are no tests), or None where none were run.
    tests_required: source that an IMPLEMENTATION changes needs passed tests. tests_ordered: the task orders that tests
        pass, so that they are its evidence, whatever was changed.
    checks_failed: the project's own checks that did not pass, by name.
    violations: limits that were broken, in words. log_error: why the log of the run could not be written.
    expected: its answer claims an end only as what should be. said: its answer without the words in it that are data,
        where these would count; None elsewhere.
    interactive: somebody can answer a question. leftovers: processes that could not be ended.
    """

    task_type: str | None
    status: str
    output: str | None = ""
    exit_code: int | None = None
    session: str | None = None
    issued_session: str = ""
    claimed_files: Sequence[str] = ()
    verified: Sequence[File] = ()
    ordered_deletions: Sequence[str] = ()
    targets_unmet: Sequence[str] = ()
    stray: Sequence[str] = ()
    unnamed: bool = False
    untouched: Sequence[str] = ()
    unmentioned: Sequence[str] = ()
    folders: Sequence[str] = ()
    settled: Sequence[str] = ()
    absent: Sequence[str] = ()
    guessed: bool = False
    expected: bool = False
    said: str | None = None
    unverifiable: Sequence[str] = ()
    claim_problems: Sequence[str] = ()
    foreign: Sequence[str] = ()
    tampered: Sequence[str] = ()
    beside: Sequence[str] = ()
    unattributed: Sequence[str] = ()
    unapproved: Sequence[str] = ()
    evidence_missing: Sequence[str] = ()
    evidence_faults: Sequence[tuple[str, str]] = ()
    tests: str | None = None
    tests_required: bool = True
    tests_ordered: bool = False
    checks_failed: Sequence[str] = ()
    violations: Sequence[str] = ()
    error: str | None = None
    cause: str | None = None
    denied_tools: Sequence[str] = ()
    background: bool | None = None
    unfinished: Sequence[str] = ()
    executor_blocked: bool = False
    blocked_reason: str | None = None
    timeout_ms: int | None = None
    limit: str | None = None
    signal: int | None = None
    cancelled: bool = False
    interactive: bool = False
    leftovers: Sequence[str] = ()
    log_error: str | None = None


class Verdict(NamedTuple):
    """What became of a run.

    executor_status: one of the six. state: where the run goes.
    error_reason: the name of the rule that decided, or None where the run is complete. code: E..., where one fits.
    question: the one question that is asked of a person. output: what the user gets, guarded where it was blocked.
    why: one sentence. rules: every objection that spoke, the first decided; or the ground.
    error: what went wrong in full. hint: what a person may decide where an executor prompted or hung.
    cause: the type of the blocker, where one is known.
    """

    executor_status: str
    state: str
    error_reason: str | None
    code: str | None
    question: str | None
    output: str
    why: str
    rules: tuple[str, ...]
    error: str | None = None
    hint: str | None = None
    cause: str | None = None


class Objection(NamedTuple):
    """Why a run is not complete. `output` replaces what the executor said."""

    status: str
    why: str
    code: str | None = None
    question: str | None = None
    output: str | None = None
    hint: str | None = None
    cause: str | None = None


UNTOUCHED = "Mentioned and not touched"
"""What heads the names of what a task mentions and no executor touched."""


def proves(file: File) -> bool:
    """Whether a file shows that work was done: a claimed one that was there before, unchanged, shows nothing."""
    return file.exists and file.method == DIFF


def count_modified(verified: Iterable[File]) -> int:
    """How many new or changed files exist.

    Source: seed 001, Property 31.
    """
    return sum(proves(file) for file in verified)


def has_changed(known: Facts) -> bool:
    """Whether the project is another one than before, by whatever change."""
    return bool(count_modified(known.verified) or known.ordered_deletions or known.stray or known.folders)


def judged_as(known: Facts) -> str | None:
    """The type by which a run is judged: a guessed one is LIGHT_EDIT where something changed, and READ_INFO elsewhere.

    Source: seed 001, Property 8.
    """
    if not known.guessed or known.task_type == task_types.DANGEROUS_OP:
        return known.task_type
    return task_types.LIGHT_EDIT if has_changed(known) else task_types.READ_INFO


def notes(known: Facts, said: str) -> str:
    """What a task mentions and was not touched, and what was touched and is not mentioned, in sentences.

    Args:
        said: what is said already; nothing of it is said twice.
    """
    untouched = [name for name in known.untouched if f"{name} was " not in said]
    found = [
        f"{what}: {some(names)}."
        for what, names in (
            (UNTOUCHED, untouched), ("Touched and not mentioned", known.unmentioned),
            ("Deleted and not ordered", known.stray),
        )
        if names
    ]  # fmt: skip
    return " ".join(found)


def joined(before: Facts, now: Facts, deleted: Collection[str]) -> Facts:
    """The facts of a part of a run, with what the parts before it came to, each of which was complete.

    Args:
        deleted: what is gone since this part began.
    """
    verified = {file.path: file for file in before.verified if file.path not in deleted}
    for file in now.verified:
        known = verified.get(file.path)
        # What was changed before and is only claimed now was changed all the same.
        verified[file.path] = known if known and proves(known) and file.exists else file
    there = {file.path for file in now.verified if file.exists}
    return now._replace(
        output="\n\n".join(text for text in (before.output, now.output) if text and text.strip()),
        said=_joined_words(before, now),
        verified=tuple(verified.values()),
        ordered_deletions=(*(path for path in before.ordered_deletions if path not in there), *now.ordered_deletions),
        stray=(*before.stray, *now.stray),
        unattributed=(*before.unattributed, *now.unattributed),
        tests=before.tests if now.tests is None else now.tests,
    )


def _joined_words(before: Facts, now: Facts) -> str | None:
    if before.said is None and now.said is None:
        return None
    both = (each.output if each.said is None else each.said for each in (before, now))
    return "\n\n".join(text for text in both if text and text.strip())


def some(names: Sequence[str]) -> str:
    """The first names of a list, and how many more there are."""
    more = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + more
