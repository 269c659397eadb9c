"""Checks V01 to V18 of the validator, each one function. All of them run; none stops at the first fault.

A check yields lines; one that yields no error has passed. Order and ids are fixed.

Source: seed 004, Proposed Solution 5.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

from orchestrator.core.suggestions import suggest
from orchestrator.core.validation import criteria
from orchestrator.core.validation.snapshot import Finding, Group, Measured, Outcome, Snapshot, Verdict

Line = tuple[str, str, str, str]
"""Level, subject, message, hint."""
Check = Callable[[Snapshot], Iterator[Line]]

CHECKS: dict[str, Check] = {}
SHOWN_SUBJECTS = 10
"""How many subjects of a check the reason names; the lines name all."""


def check(id_: str) -> Callable[[Check], Check]:
    """Register a check under its id."""

    def register(function: Check) -> Check:
        CHECKS[id_] = function
        return function

    return register


def validate(snapshot: Snapshot) -> Verdict:
    """Run every check and decide.

    Returns:
        ACCEPT when no check found an error; warnings and infos stand beside it.
    """
    lines = [
        Outcome(id_, *line) for id_, function in sorted(CHECKS.items()) for line in function(snapshot)
    ]
    errors = [line for line in lines if line.level == "error"]
    imported = tuple(group.id for group in snapshot.group("completed") if group.grandfathered)
    first = _imported(len(imported), len(snapshot.group("completed")))
    if errors:
        return Verdict("REJECT", first + _named(errors), tuple(lines), (), imported)
    warnings = sum(line.level == "warning" for line in lines)
    counted = f", with {warnings} warning{'s' if warnings > 1 else ''}" if warnings else ""
    return Verdict("ACCEPT", f"{first}every check passed{counted}", tuple(lines), snapshot.completes(), imported)


def _imported(count: int, completed: int) -> str:
    """What comes first in every reason: how much of the completed work was never proven here."""
    if not count:
        return ""
    noun, verb = ("group", "is") if completed == 1 else ("groups", "is" if count == 1 else "are")
    return f"{count} of {completed} completed {noun} {verb} only imported; "


def _named(errors: list[Outcome]) -> str:
    """The checks that found an error, each with what it is about: `V05 (NUR-E2E, E2E-RX), V07 (A)`."""
    subjects: dict[str, list[str]] = {}
    for line in errors:
        found = subjects.setdefault(line.id, [])
        if line.subject not in found:
            found.append(line.subject)
    return ", ".join(f"{id_} ({_few(found)})" for id_, found in subjects.items())


def _few(subjects: list[str]) -> str:
    more = len(subjects) - SHOWN_SUBJECTS
    return ", ".join(subjects[:SHOWN_SUBJECTS]) + (f" and {more} more" if more > 0 else "")


def _error(subject: str, message: str, hint: str = "") -> Line:
    return ("error", subject, message, hint)


def _each(found: tuple[Finding, ...], level: str, hint: str = "") -> Iterator[Line]:
    for finding in found:
        yield (level, finding.subject, finding.text, hint)


@check("V01")
def confirmed_last(snapshot: Snapshot) -> Iterator[Line]:
    """The project manager's confirmation is the last word."""
    if not snapshot.is_confirmed:
        said = snapshot.last_manager_status
        yield _error(
            "project_manager",
            f"the project manager's last report is {said}, not a confirmation" if said else "nothing was reported yet",
            _confirm(snapshot),
        )
        return
    for finding in snapshot.reports_after:
        late = f"{finding.text} came after the confirmation"
        yield _error(finding.subject, late, _confirm(snapshot))


@check("V02")
def all_groups_settled(snapshot: Snapshot) -> Iterator[Line]:
    """Every group is in a state that is fine; the rule is never "none is open"."""
    if not snapshot.groups:
        way = suggest("group create", id="ID", session_id=snapshot.session)
        yield _error(snapshot.session, "the session has no group", way)
    elif not snapshot.group("completed") and not snapshot.completes():
        yield _error(snapshot.session, "nothing is completed", suggest("status", session_id=snapshot.session))
    for group in snapshot.groups:
        if group.status in ("completed", "deferred_external", "cancelled"):
            continue
        if group.status == "in_progress" and group.pm_path:
            yield ("warning", group.id, f"{_on_word(group)}; an ACCEPT completes it", _why(snapshot, group))
            continue
        yield _error(group.id, _where(group), _why(snapshot, group))


def _criterion(snapshot: Snapshot) -> str:
    return suggest("criterion add", id="ID", session_id=snapshot.session, text="TEXT")


def _why(snapshot: Snapshot, group: Group) -> str:
    return suggest("why", id=group.id, session_id=snapshot.session)


def _confirm(snapshot: Snapshot) -> str:
    """The confirmation that is wanted. Only the last one counts, so that it names every group that needs a word."""
    named = {group.id: "REASON" for group in snapshot.groups if _needs_word(group)}
    return suggest(
        "route", current_agent="project_manager", status="BAZINGA", session_id=snapshot.session, acknowledge=named
    )


def _needs_word(group: Group) -> bool:
    """Whether the last confirmation has to name a group."""
    if group.status in ("deferred_external", "cancelled", "pending"):
        return group.status == "deferred_external"
    if group.grandfathered:
        return True
    # What stands open first has to be resolved: a word lifts no blocker (VAL-10).
    return (_unconfirmed(group) and group.unblocked) or (group.pm_path and not group.chain)


def _unconfirmed(group: Group) -> bool:
    """Whether a group was blocked, and the project manager has not spoken for it since."""
    return group.ever_blocked and not (group.grandfathered or group.confirmed or group.pm_path)


def _on_word(group: Group) -> str:
    return f"rests on the project manager's word ({group.acknowledged}), {group.missing or 'the path'} is not met"


def _where(group: Group) -> str:
    if group.status == "pending":
        return "is pending and was never started"
    held = f" (held: {group.held})" if group.held else ""
    awaits = f"awaits {group.awaited_role}{held}" if group.awaited_role else "awaits nobody"
    return f"is in_progress and {awaits}; {group.missing or 'the path'} is not met"


@check("V03")
def completed_by_path(snapshot: Snapshot) -> Iterator[Line]:
    """What is completed has its chain, the project manager's path, or their word for what was imported as completed."""
    for group in snapshot.group("completed"):
        if group.grandfathered:
            said = "was completed before it was imported; nothing here proves it"
            if group.acknowledged:
                yield ("warning", group.id, f"{said}; acknowledged: {group.acknowledged}", "")
            else:
                missing = "the last confirmation does not acknowledge it"
                yield _error(group.id, f"{said}, and {missing}", _confirm(snapshot))
            for text in group.imported:
                yield ("warning", group.id, f"import finding (text, no proof): {text}", "")
        elif group.pm_path and not group.chain:
            yield ("warning", group.id, _on_word(group), _why(snapshot, group))
        elif not group.chain:
            yield _error(
                group.id, f"is completed without a valid path: {group.missing or 'the path'} is not met",
                _why(snapshot, group),
            )


@check("V04")
def blocked_work_was_resolved(snapshot: Snapshot) -> Iterator[Line]:
    """Work that was ever blocked is resolved and confirmed before it counts."""
    for group in snapshot.groups:
        uncounted = group.status in ("deferred_external", "cancelled", "pending")
        if not group.ever_blocked or uncounted or group.grandfathered:
            continue
        if not group.unblocked:
            yield _error(group.id, "was blocked, and its blockers are not all resolved", _why(snapshot, group))
        if _unconfirmed(group):
            way = _confirm(snapshot) if group.unblocked else _why(snapshot, group)
            yield _error(group.id, "was blocked, and the project manager has not confirmed it since", way)


@check("V05")
def deferrals_acknowledged(snapshot: Snapshot) -> Iterator[Line]:
    """Every deferred group is acknowledged by name in the last confirmation; cancelled ones have reasons."""
    for group in snapshot.group("deferred_external"):
        if not group.acknowledged:
            confirm = _confirm(snapshot)
            yield _error(group.id, "is deferred, and the last confirmation does not acknowledge it", confirm)
        else:
            yield ("info", group.id, f"deferred, acknowledged: {group.acknowledged}", "")
    for group in snapshot.group("cancelled"):
        if not group.reason.strip():
            yield _error(group.id, "is cancelled without a reason")
    yield from _each(snapshot.dropped, "info")


@check("V06")
def record_is_whole(snapshot: Snapshot) -> Iterator[Line]:
    """Every report has its decision, every spawn its answer or its end, every step its number."""
    yield from _each(snapshot.gaps, "error", suggest("audit timeline", session_id=snapshot.session))


@check("V07")
def nothing_open(snapshot: Snapshot) -> Iterator[Line]:
    """No blocker is open outside deferred groups, and no question."""
    yield from _each(snapshot.open_blockers, "error", suggest("status", session_id=snapshot.session))
    yield from _each(snapshot.open_questions, "error", suggest("inbox", session_id=snapshot.session))


@check("V08")
def criteria_met(snapshot: Snapshot) -> Iterator[Line]:
    """Every success criterion is met with evidence, or deferred with an acknowledgement."""
    if not snapshot.criteria:
        yield ("warning", snapshot.session, "the session has no success criteria", _criterion(snapshot))
    for criterion in snapshot.criteria:
        yield from criteria.stands(criterion, snapshot.session)
    yield from _each(snapshot.scope_changes, "info")


@check("V09")
def numbers_reach_their_targets(snapshot: Snapshot) -> Iterator[Line]:
    """A numeric criterion is computed again from its recorded value."""
    for criterion in snapshot.criteria:
        if criterion.operator is not None and criterion.status != "deferred":
            yield from criteria.compare(criterion, snapshot.session)


@check("V10")
def commands_succeed(snapshot: Snapshot) -> Iterator[Line]:
    """A criterion's command decides by its exit status, never by a word in its output."""
    ran = {result.criterion: result for result in snapshot.ran}
    for criterion in snapshot.criteria:
        if criterion.command is not None and criterion.status != "deferred":
            pending = criterion.id in snapshot.pending
            yield from criteria.judge(
                criterion, ran.get(criterion.id), session=snapshot.session, pending=pending
            )


@check("V11")
def reviews_happened(snapshot: Snapshot) -> Iterator[Line]:
    """Mandatory reviews happened, and nobody loosened the testing mode unseen."""
    for group in snapshot.groups:
        if group.status in ("completed", "in_progress") and not group.reviewed and not group.grandfathered:
            yield _error(group.id, "owes a mandatory review by the tech lead", _why(snapshot, group))
    yield from _each(snapshot.mandatory, "info")
    yield from _each(snapshot.loosened, "warning")


@check("V12")
def tasks_done(snapshot: Snapshot) -> Iterator[Line]:
    """Tasks are done, or cancelled with reasons, and not all of them cancelled."""
    yield from _each(snapshot.tasks, "error", suggest("task list", session_id=snapshot.session))


@check("V13")
def record_verifies(snapshot: Snapshot) -> Iterator[Line]:
    """The chain of events verifies, and every guard stands in the database as declared."""
    yield from _each(snapshot.chain, "error", suggest("audit verify", session_id=snapshot.session))
    yield from _each(snapshot.guards, "error", suggest("db check", repair=True))
    yield from _each(snapshot.repairs, "warning")


@check("V14")
def reporters_hold_their_roles(snapshot: Snapshot) -> Iterator[Line]:
    """Who reported may hold the role; what people did, and what was enrolled for them, is listed with its proof."""
    yield from _each(snapshot.roles, "error")
    yield from _each(snapshot.human_acts, "info")


@check("V15")
def evidence_stands(snapshot: Snapshot) -> Iterator[Line]:
    """Evidence exists, and its hashes agree."""
    yield from _each(snapshot.evidence, "error")


BEFORE_SESSION = "commit_before_session"
"""How V16 begins what it says of a merged commit that is older than its session; such a commit passes no gate."""


@check("V16")
def merges_are_in_the_branch(snapshot: Snapshot) -> Iterator[Line]:
    """A merge that names a commit is in the target branch; where that cannot be seen, it says so."""
    for merge in snapshot.merges:
        commit = f"commit {merge.commit}" if merge.commit else "no commit"
        if merge.ancestor is None:
            yield ("warning", merge.group, f"unverified_merge: {commit}: {merge.why}", "")
        elif not merge.ancestor:
            yield _error(merge.group, f"{commit} is not in the target branch: {merge.why}", "git log")
        elif merge.is_older:
            old = f"{BEFORE_SESSION}: {commit} was made before the session began, so it shows no work of this group"
            yield ("warning", merge.group, old, f"git show --stat {merge.commit}")
    for group in snapshot.groups:
        if group.skipped_qa:
            yield ("info", group.id, "went to review without QA although the session tests in full", "")


@check("V17")
def claims_agree_with_what_was_seen(snapshot: Snapshot) -> Iterator[Line]:
    """What driven agents claimed agrees with what was measured: a merge has its proof; other differences are named."""
    for each in snapshot.measured:
        yield from claims(each)
    yield from _each(snapshot.gates, "warning")


def claims(each: Measured) -> Iterator[Line]:
    """What of a driven agent's report does not agree with what was measured."""
    if each.effect == "merge" and each.merge is None:
        yield _error(each.subject, "a merge was reported from a worktree, and nobody has seen it")
    elif each.merge == "nothing_to_merge":
        yield ("warning", each.subject, "nothing_to_merge: the group has no commit of its own", "")
    elif each.changed is False:
        yield ("warning", each.subject, "work was handed on, and nothing in the tree had changed", "")
    for difference in each.differences:
        yield ("warning", each.subject, difference, "")


@check("V18")
def rules_were_not_weakened(snapshot: Snapshot) -> Iterator[Line]:
    """The rules of the session were changed by nobody but a person while it was open; every change is listed."""
    yield from _each(snapshot.workflow, "info")
    yield from _each(snapshot.unvouched_workflow, "warning", suggest("workflow versions"))
    way = suggest("session upgrade-workflow", id=snapshot.session, confirm=True, by="PERSON", reason="TEXT")
    for change in snapshot.rule_changes:
        if not change.differs:
            yield ("info", change.subject, change.text, "")
        elif change.confirmed:
            yield ("warning", change.subject, change.text, "")
        elif change.older:
            yield ("warning", change.subject, f"{change.text}; recorded before anybody was asked to confirm it", way)
        else:
            yield _error(change.subject, change.text, way)
