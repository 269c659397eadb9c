"""Why a run is not complete: one ordered list of rules, each named by its function.

Source: seed 001, Properties 1, 7, 8, 9, 11, 13, 15, 34 and 35; seed 000, INV-1 and INV-2.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.core import task_types
from orchestrator.core.names import normal_path, shown
from orchestrator.core.running import grounds, guard, limits, reported_status, states, tests_exist, words
from orchestrator.core.running.facts import (
    DIFF,
    EXIT_STATUS,
    FAILED,
    NONE,
    OF_THE_RUNNER,
    PASSED,
    Facts,
    Objection,
    has_changed,
    proves,
    some,
)

Rule = Callable[[Facts], Objection | None]


def _session_other(facts: Facts) -> Objection | None:
    if facts.session is None or facts.session == facts.issued_session:
        return None
    why = f"The result names session {shown(facts.session)}, which is not this one."
    return Objection(states.INVALID, why, "E502")


def _foreign_artifact(facts: Facts) -> Objection | None:
    if not facts.foreign:
        return None
    return Objection(states.INVALID, f"No operation of the runner made {some(facts.foreign)}.", "E501")


def _tampered(facts: Facts) -> Objection | None:
    """Rules and records that an executor has made itself would speak for it."""
    if not facts.tampered:
        return None
    why = f"What no executor may touch was touched, by it or by somebody meanwhile: {some(facts.tampered)}."
    return Objection(states.INVALID, why, "E501")


def _unapproved_task(facts: Facts) -> Objection | None:
    if not facts.unapproved:
        return None
    return Objection(states.INVALID, f"An agent made {some(facts.unapproved)} without approval.", "E205")


def _executor_invalid(facts: Facts) -> Objection | None:
    if facts.status != states.INVALID:
        return None
    return Objection(states.INVALID, "The executor called its own result invalid.", "E503")


def _session_missing(facts: Facts) -> Objection | None:
    """What failed or was ended has no result that could name a session."""
    ended = facts.cancelled or facts.executor_blocked or facts.signal is not None
    if facts.session is not None or ended or facts.exit_code not in (None, 0) or facts.status == states.ERROR:
        return None
    return Objection(states.INVALID, "The result names no session.", "E501")


def _cancelled(facts: Facts) -> Objection | None:
    return Objection(states.INCOMPLETE, "The run was cancelled.") if facts.cancelled else None


def _executor_blocked(facts: Facts) -> Objection | None:
    if not facts.executor_blocked:
        return None
    hint = guard.fallback(facts.task_type, facts.blocked_reason)
    if facts.blocked_reason == states.TIMEOUT:
        value, unit = limits.setting(facts.limit, facts.timeout_ms or 0)
        clock = f"{facts.limit or 'its time limit'} of {value} {unit}"
        return Objection(states.ERROR, f"The executor was ended by {clock}.", "E503", hint=hint, cause="timeout")
    return Objection(states.ERROR, "The executor asked for input, and nobody can give it.", "E503", hint=hint)


def _unknown_facts(facts: Facts) -> Objection | None:
    unknown = [
        shown(value)
        for value, known in (
            (facts.status, states.EXECUTOR_STATUSES),
            (facts.tests, (None, PASSED, FAILED, NONE)),
            (facts.blocked_reason, (None, *states.BLOCKED_REASONS)),
        )
        if value not in known
    ]
    return Objection(states.ERROR, f"The runner does not know {some(unknown)}.", "E503") if unknown else None


def _log_failed(facts: Facts) -> Objection | None:
    if facts.log_error is None:
        return None
    return Objection(states.ERROR, f"The log could not be written: {_line(facts.log_error)}")


def _exit_code(facts: Facts) -> Objection | None:
    if facts.signal is not None:
        return Objection(states.ERROR, f"The executor was ended by signal {facts.signal}.", "E503")
    if facts.exit_code in (None, 0):
        return None
    said = _line((facts.error or "").strip())
    if said and not said.startswith(EXIT_STATUS):
        # What the executor itself says of why it failed helps more than the number.
        return Objection(states.ERROR, said, "E503")
    _, _, last = said.removeprefix(EXIT_STATUS).removeprefix(": the program ended with status").partition(": ")
    end = f": {last}" if last else "."
    return Objection(states.ERROR, f"The executor ended with exit code {facts.exit_code}{end}", "E503")


def _denied_tools(facts: Facts) -> Objection | None:
    if not facts.denied_tools:
        return None
    why = f"The executor was not allowed to use {some(facts.denied_tools)}."
    return Objection(states.ERROR, why, "E503", cause="permission_denied")


def _executor_error(facts: Facts) -> Objection | None:
    said = (facts.error or "").strip()
    if facts.status == states.ERROR or (said and facts.status == states.COMPLETE):
        why = f"The executor reported an error: {_line(said)}" if said else "The executor reported an error."
        why = _line(said) if said.startswith(OF_THE_RUNNER) else why
        return Objection(states.ERROR, why, "E503")
    return None


def _limit_broken(facts: Facts) -> Objection | None:
    if not facts.violations:
        return None
    return Objection(states.ERROR, f"A limit was broken: {some(facts.violations)}.", "E206")


def _unknown_type(facts: Facts) -> Objection | None:
    if facts.task_type in task_types.TYPES or facts.status == states.BLOCKED:
        return None
    return Objection(states.ERROR, f"The runner does not know {shown(facts.task_type)} as a type of task.", "E503")


def _claimed_missing(facts: Facts) -> Objection | None:
    """A claimed file that is gone because the task ordered it is no missing one."""
    present = {normal_path(file.path) for file in facts.verified if file.exists}
    settled = present | set(map(normal_path, (*facts.ordered_deletions, *facts.unverifiable)))
    claimed = [*facts.claimed_files, *(file.path for file in facts.verified if file.method != DIFF)]
    claimed = [path for path in claimed if not facts.claim_problems or shown(path, 300) not in facts.unverifiable]
    missing = [path for path in dict.fromkeys(map(normal_path, claimed)) if path not in settled]
    return Objection(states.NO_EVIDENCE, f"Claimed but not on the disk: {some(missing)}.") if missing else None


def _unverifiable_claim(facts: Facts) -> Objection | None:
    if not facts.unverifiable:
        return None
    what = [f"{path} ({why})" for path, why in zip(facts.unverifiable, facts.claim_problems, strict=False)]
    return Objection(states.NO_EVIDENCE, f"Claimed but not to be verified: {some(what or facts.unverifiable)}.")


def _evidence_missing(facts: Facts) -> Objection | None:
    if not facts.evidence_missing:
        return None
    code = facts.evidence_faults[0][0] if facts.evidence_faults else None
    return Objection(states.NO_EVIDENCE, f"No evidence of {some(facts.evidence_missing)}.", code)


def _evidence_faulty(facts: Facts) -> Objection | None:
    if not facts.evidence_faults:
        return None
    code, sentence = facts.evidence_faults[0]
    return Objection(states.NO_EVIDENCE, sentence, code)


def _guessed_claim(facts: Facts) -> Objection | None:
    whole = facts.task_type not in grounds.ANSWERS
    if facts.status != states.COMPLETE or not words.guessed_claim(facts.output or "", whole=whole):
        return None
    return Objection(states.NO_EVIDENCE, "The executor claims completion in words of guess.")


def _blocked(facts: Facts) -> Objection | None:
    if facts.status != states.BLOCKED and _reported(facts) != reported_status.BLOCKED:
        return None
    output = guard.guarded(facts.output, facts.task_type, facts.blocked_reason)
    status = states.BLOCKED if guard.can_block(facts.task_type) else states.INCOMPLETE
    why = "The task needs an answer before it can go on."
    return Objection(status, why, question=guard.last_question(output), output=output)


def _executor_no_evidence(facts: Facts) -> Objection | None:
    if facts.status != states.NO_EVIDENCE:
        return None
    question = guard.last_question(facts.output or "")
    return Objection(states.NO_EVIDENCE, "The executor has no evidence of its work.", question=question)


def _question(facts: Facts) -> Objection | None:
    """A claim of completion asks where its last word is a question, or where nothing shows that anything was done."""
    output = facts.output or ""
    if facts.status == states.INCOMPLETE and not output.strip():
        output = guard.fallback(facts.task_type, facts.blocked_reason)
    asked = guard.last_question(output)
    open_ = facts.status != states.COMPLETE or guard.ends_asking(output) or not grounds.found(facts)
    if asked is None or not open_:
        return None
    return Objection(states.INCOMPLETE, "The executor asks a question.", question=asked, output=output)


def _reported(facts: Facts) -> str | None:
    """What a result that claims completion reports otherwise in its words."""
    if facts.status != states.COMPLETE:
        return None
    return reported_status.unfinished(facts.output or "", is_answer=facts.task_type in grounds.ANSWERS)


def _reported_unfinished(facts: Facts) -> Objection | None:
    status = _reported(facts)
    if status is None:
        return None
    return Objection(states.INCOMPLETE, f"The executor's answer reports {status}.")


def _executor_incomplete(facts: Facts) -> Objection | None:
    if facts.status != states.INCOMPLETE:
        return None
    return Objection(states.INCOMPLETE, "The executor did not finish the task.")


def _target_unmet(facts: Facts) -> Objection | None:
    """Whatever else was changed, what is ordered of what the task mentions was not done; no change at all says more."""
    wanted = has_changed(facts) or facts.task_type == task_types.REPORT
    if not facts.targets_unmet or not wanted or facts.task_type == task_types.READ_INFO:
        return None
    return Objection(states.INCOMPLETE, f"{some(facts.targets_unmet)}.")


def _stray_deletion(facts: Facts) -> Objection | None:
    """Of what destroys, nothing but what was ordered may be gone."""
    if not facts.stray or facts.task_type != task_types.DANGEROUS_OP:
        return None
    return Objection(states.INCOMPLETE, "More was deleted than was ordered.")


def _tests_failed(facts: Facts) -> Objection | None:
    return Objection(states.INCOMPLETE, "The project's tests fail.", "E210") if facts.tests == FAILED else None


def _checks_failed(facts: Facts) -> Objection | None:
    if not facts.checks_failed:
        return None
    return Objection(states.INCOMPLETE, f"The project's checks fail: {some(facts.checks_failed)}.", "E210")


def _tests_unproven(facts: Facts) -> Objection | None:
    """A change of source that nobody foresaw needs tests just as one that the task named."""
    if not facts.tests_required or facts.task_type != task_types.IMPLEMENTATION or facts.tests in (PASSED, FAILED):
        return None
    source = [file.path for file in facts.verified if proves(file) and tests_exist.is_source(file.path)]
    if not source:
        return None
    code, what = ("E211", "has no tests") if facts.tests == NONE else ("E210", "was changed and its tests were not run")
    return Objection(states.NO_EVIDENCE, f"Source {what}: {some(source)}.", code)


def _leftovers(facts: Facts) -> Objection | None:
    if not facts.leftovers:
        return None
    return Objection(states.INCOMPLETE, f"Processes could not be ended: {some(facts.leftovers)}.")


def _put_off(facts: Facts) -> Objection | None:
    """Events and processes decide; the executor's words are looked at only where neither tells of background work."""
    says_so = facts.background is None and words.put_off(facts.output or "")
    if not facts.background and not says_so:
        return None
    what = f": {some(facts.unfinished)}" if facts.unfinished else ""
    return Objection(states.INCOMPLETE, f"The executor left work unfinished in the background{what}.")


def _line(text: str) -> str:
    """The first line of a text, shortened."""
    line = (text.splitlines() or [""])[0].strip()
    return line if len(line) <= 160 else f"{line[:159]}…"


OBJECTIONS: tuple[Rule, ...] = (
    _session_other,
    _foreign_artifact,
    _tampered,
    _unapproved_task,
    _executor_invalid,
    _session_missing,
    _cancelled,
    _executor_blocked,
    _unknown_facts,
    _log_failed,
    _exit_code,
    _denied_tools,
    _executor_error,
    _limit_broken,
    _unknown_type,
    _claimed_missing,
    _unverifiable_claim,
    _evidence_missing,
    _evidence_faulty,
    _guessed_claim,
    _blocked,
    _executor_no_evidence,
    _question,
    _reported_unfinished,
    _executor_incomplete,
    _target_unmet,
    _stray_deletion,
    _tests_failed,
    _checks_failed,
    _tests_unproven,
    _leftovers,
    _put_off,
)
