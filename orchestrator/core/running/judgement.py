"""The verdict on a run: a pure function of what the runner saw. The executor's own words only ever lower it.

`RULES` is one ordered table: each row is a reason why a run is not complete, and the first that applies decides. Where
none does, one of `GROUNDS` has to hold, each something that the runner itself verified: COMPLETE has no other way.

Source: seed 001, Properties 1, 7, 8, 9, 11, 13, 15, 31, 34 and 35; seed 000, INV-1 and INV-2.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.core import task_types
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.names import normal_path, shown
from orchestrator.core.running import blocked_output, hedging_words, limits, reported_status, states, tests_exist
from orchestrator.core.running.facts import (
    DIFF,
    EXIT_STATUS,
    FAILED,
    NONE,
    OF_THE_RUNNER,
    PASSED,
    Facts,
    Objection,
    Verdict,
    count_modified,
    has_changed,
    judged_as,
    notes,
    proves,
    some,
)
from orchestrator.core.suggestions import sentence, suggest

READ = "{full} shows all that the executor wrote"
_EVIDENCE = "The evidence in .orchestrator is not whole: look who changed it, then enter the task again"
_SESSION = "The executor's result has to name the session that ORCHESTRATOR_SESSION_ID holds"
NOTHING_VERIFIED = "nothing_verified"
"""How a verdict names that no rule objected and no ground held."""
_ANSWER = "Enter the task again with the answer in it"


class Rule(NamedTuple):
    """One reason why a run is not complete.

    name: as verdicts name it. status, code: what it makes of the run; an objection may say otherwise.
    helps: what to do then, as `advice.filled` takes it; None where that depends on the facts.
    why: the sentence that says it of the facts, or a whole objection; None where the rule does not apply.
    """

    name: str
    status: str
    code: str | None
    helps: str | None
    why: Callable[[Facts], str | Objection | None]

    def objection(self, facts: Facts) -> Objection | None:
        """What the rule says of the facts, or None."""
        found = self.why(facts)
        return Objection(self.status, found, self.code) if isinstance(found, str) else found


def _session_other(facts: Facts) -> str | None:
    if facts.session is None or facts.session == facts.issued_session:
        return None
    return f"The result names session {shown(facts.session)}, which is not this one."


def _session_missing(facts: Facts) -> str | None:
    """What failed or was ended has no result that could name a session."""
    ended = facts.cancelled or facts.executor_blocked or facts.signal is not None
    if facts.session is not None or ended or facts.exit_code not in (None, 0) or facts.status == states.ERROR:
        return None
    return "The result names no session."


def _executor_blocked(facts: Facts) -> Objection | None:
    if not facts.executor_blocked:
        return None
    hint = blocked_output.fallback(facts.task_type, facts.blocked_reason)
    if facts.blocked_reason == states.TIMEOUT:
        value, unit = limits.setting(facts.limit, facts.timeout_ms or 0)
        clock = f"{facts.limit or 'its time limit'} of {value} {unit}"
        return Objection(states.ERROR, f"The executor was ended by {clock}.", "E503", hint=hint, cause="timeout")
    return Objection(states.ERROR, "The executor asked for input, and nobody can give it.", "E503", hint=hint)


def _unknown_facts(facts: Facts) -> str | None:
    unknown = [
        shown(value)
        for value, known in (
            (facts.status, states.EXECUTOR_STATUSES),
            (facts.tests, (None, PASSED, FAILED, NONE)),
            (facts.blocked_reason, (None, *states.BLOCKED_REASONS)),
        )
        if value not in known
    ]
    return f"The runner does not know {some(unknown)}." if unknown else None


def _exit_code(facts: Facts) -> str | None:
    if facts.signal is not None:
        return f"The executor was ended by signal {facts.signal}."
    if facts.exit_code in (None, 0):
        return None
    said = _line((facts.error or "").strip())
    if said and not said.startswith(EXIT_STATUS):
        # What the executor itself says of why it failed helps more than the number.
        return said
    _, _, last = said.removeprefix(EXIT_STATUS).removeprefix(": the program ended with status").partition(": ")
    end = f": {last}" if last else "."
    return f"The executor ended with exit code {facts.exit_code}{end}"


def _denied_tools(facts: Facts) -> Objection | None:
    if not facts.denied_tools:
        return None
    why = f"The executor was not allowed to use {some(facts.denied_tools)}."
    return Objection(states.ERROR, why, "E503", cause="permission_denied")


def _executor_error(facts: Facts) -> str | None:
    said = (facts.error or "").strip()
    if facts.status == states.ERROR or (said and facts.status == states.COMPLETE):
        why = f"The executor reported an error: {_line(said)}" if said else "The executor reported an error."
        return _line(said) if said.startswith(OF_THE_RUNNER) else why
    return None


def _unknown_type(facts: Facts) -> str | None:
    if facts.task_type in task_types.TYPES or facts.status == states.BLOCKED:
        return None
    return f"The runner does not know {shown(facts.task_type)} as a type of task."


def _claimed_missing(facts: Facts) -> str | None:
    """A claimed file that is gone because the task ordered it is no missing one."""
    present = {normal_path(file.path) for file in facts.verified if file.exists}
    settled = present | set(map(normal_path, (*facts.ordered_deletions, *facts.unverifiable)))
    claimed = [*facts.claimed_files, *(file.path for file in facts.verified if file.method != DIFF)]
    claimed = [path for path in claimed if not facts.claim_problems or shown(path, 300) not in facts.unverifiable]
    missing = [path for path in dict.fromkeys(map(normal_path, claimed)) if path not in settled]
    return f"Claimed but not on the disk: {some(missing)}." if missing else None


def _unverifiable_claim(facts: Facts) -> str | None:
    if not facts.unverifiable:
        return None
    what = [f"{path} ({why})" for path, why in zip(facts.unverifiable, facts.claim_problems, strict=False)]
    return f"Claimed but not to be verified: {some(what or facts.unverifiable)}."


def _evidence_missing(facts: Facts) -> Objection | None:
    if not facts.evidence_missing:
        return None
    code = facts.evidence_faults[0][0] if facts.evidence_faults else None
    return Objection(states.NO_EVIDENCE, f"No evidence of {some(facts.evidence_missing)}.", code)


def _guessed_claim(facts: Facts) -> str | None:
    whole = facts.task_type not in task_types.ANSWERS
    guessed = hedging_words.guessed_claim(_words(facts), whole=whole) or (whole and facts.expected)
    if facts.status != states.COMPLETE or not guessed:
        return None
    return "The executor claims completion in words of guess."


def _words(facts: Facts) -> str:
    """What the executor says of its work, without words that are data."""
    return (facts.output if facts.said is None else facts.said) or ""


def _blocked(facts: Facts) -> Objection | None:
    if facts.status != states.BLOCKED and _reported(facts) != reported_status.BLOCKED:
        return None
    output = blocked_output.guarded(facts.output, facts.task_type, facts.blocked_reason)
    status = states.BLOCKED if blocked_output.can_block(facts.task_type) else states.INCOMPLETE
    why = "The task needs an answer before it can go on."
    return Objection(status, why, question=blocked_output.last_question(output), output=output)


def _executor_no_evidence(facts: Facts) -> Objection | None:
    if facts.status != states.NO_EVIDENCE:
        return None
    question = blocked_output.last_question(facts.output or "")
    return Objection(states.NO_EVIDENCE, "The executor has no evidence of its work.", question=question)


def _question(facts: Facts) -> Objection | None:
    """A claim of completion asks where its last word is a question, or where nothing shows that anything was done."""
    output = facts.output or ""
    if facts.status == states.INCOMPLETE and not output.strip():
        output = blocked_output.fallback(facts.task_type, facts.blocked_reason)
    asked = blocked_output.last_question(output)
    if facts.status == states.COMPLETE and blocked_output.last_question(_words(facts)) is None:
        return None
    open_ = facts.status != states.COMPLETE or blocked_output.ends_asking(_words(facts)) or not grounds(facts)
    if asked is None or not open_:
        return None
    return Objection(states.INCOMPLETE, "The executor asks a question.", question=asked, output=output)


def _reported(facts: Facts) -> str | None:
    """What a result that claims completion reports otherwise in its words."""
    if facts.status != states.COMPLETE:
        return None
    return reported_status.unfinished(facts.output or "", is_answer=facts.task_type in task_types.ANSWERS)


def _reported_unfinished(facts: Facts) -> str | None:
    status = _reported(facts)
    return None if status is None else f"The executor's answer reports {status}."


def _target_unmet(facts: Facts) -> str | None:
    """Whatever else was changed, what is ordered of what the task mentions was not done; no change at all says more."""
    wanted = has_changed(facts) or facts.task_type == task_types.REPORT
    if not facts.targets_unmet or not wanted or facts.task_type == task_types.READ_INFO:
        return None
    return f"{some(facts.targets_unmet)}."


def _tests_unproven(facts: Facts) -> Objection | None:
    """A change of source that nobody foresaw needs tests just as one that the task named; so does an order to pass."""
    if facts.tests_ordered and facts.tests not in (PASSED, FAILED) and has_changed(facts):
        code, what = ("E211", "there are none") if facts.tests == NONE else ("E210", "they were not run")
        return Objection(states.NO_EVIDENCE, f"The task orders tests to pass, and {what}.", code)
    if not facts.tests_required or facts.task_type != task_types.IMPLEMENTATION or facts.tests in (PASSED, FAILED):
        return None
    source = [file.path for file in facts.verified if proves(file) and tests_exist.is_source(file.path)]
    if not source:
        return None
    code, what = ("E211", "has no tests") if facts.tests == NONE else ("E210", "was changed and its tests were not run")
    return Objection(states.NO_EVIDENCE, f"Source {what}: {some(source)}.", code)


def _put_off(facts: Facts) -> str | None:
    """Events and processes decide; the executor's words are looked at only where neither tells of background work."""
    says_so = facts.background is None and hedging_words.put_off(_words(facts))
    if not facts.background and not says_so:
        return None
    what = f": {some(facts.unfinished)}" if facts.unfinished else ""
    return f"The executor left work unfinished in the background{what}."


def _line(text: str) -> str:
    """The first line of a text, shortened."""
    line = (text.splitlines() or [""])[0].strip()
    return line if len(line) <= 160 else f"{line[:159]}…"


RULES: tuple[Rule, ...] = (
    Rule("session_other", states.INVALID, "E502", _SESSION, _session_other),
    Rule(
        "foreign_artifact", states.INVALID, "E501",
        "Look at what is named, remove it, and enter the task again",
        lambda facts: f"No operation of the runner made {some(facts.foreign)}." if facts.foreign else None,
    ),
    Rule(
        "tampered", states.INVALID, "E501",
        "If you edited it yourself, enter the task again; else put it back, and trust no such executor",
        lambda facts: (
            f"What no executor may touch was touched, by it or by somebody meanwhile: {some(facts.tampered)}."
            if facts.tampered else None
        ),
    ),
    Rule(
        "unapproved_task", states.INVALID, "E205",
        "An executor may propose subtasks, and make none: remove them, then enter the task again",
        lambda facts: f"An agent made {some(facts.unapproved)} without approval." if facts.unapproved else None,
    ),
    Rule(
        "executor_invalid", states.INVALID, "E503",
        READ,
        lambda facts: "The executor called its own result invalid." if facts.status == states.INVALID else None,
    ),
    Rule("session_missing", states.INVALID, "E501", _SESSION, _session_missing),
    Rule(
        "cancelled", states.INCOMPLETE, None,
        "{logs} shows how far it came",
        lambda facts: "The run was cancelled." if facts.cancelled else None,
    ),
    Rule("executor_blocked", states.ERROR, "E503", None, _executor_blocked),
    Rule("unknown_facts", states.ERROR, "E503", "The executor's result is of no known form; " + READ, _unknown_facts),
    Rule(
        "log_failed", states.ERROR, None,
        "See that the project's folder can be written and has room, then enter the task again",
        lambda facts: (
            f"The log could not be written: {_line(facts.log_error)}" if facts.log_error is not None else None
        ),
    ),
    Rule("exit_code", states.ERROR, "E503", READ, _exit_code),
    Rule(
        "denied_tools", states.ERROR, "E503",
        "Allow these tools in the executor's own settings, or ask for what needs none of them",
        _denied_tools,
    ),
    Rule("executor_error", states.ERROR, "E503", READ, _executor_error),
    Rule(
        "limit_broken", states.ERROR, "E206",
        "Make the task smaller, or raise task_limits in orchestrator.json; of a task that is split the executor may do"
        " only the part it is told",
        lambda facts: f"A limit was broken: {some(facts.violations)}." if facts.violations else None,
    ),
    Rule(
        "unknown_type", states.ERROR, "E503", sentence("{} lists the types", suggest("run", help=True)), _unknown_type
    ),
    Rule(
        "claimed_missing", states.NO_EVIDENCE, None,
        "The executor says that it made a file which is not there; " + READ,
        _claimed_missing,
    ),
    Rule(
        "unverifiable_claim", states.NO_EVIDENCE, None,
        "Only files that the task itself made or changed within the project count; " + READ,
        _unverifiable_claim,
    ),
    Rule("evidence_missing", states.NO_EVIDENCE, None, _EVIDENCE, _evidence_missing),
    Rule(
        "evidence_faulty", states.NO_EVIDENCE, None,
        _EVIDENCE,
        lambda facts: (
            Objection(states.NO_EVIDENCE, facts.evidence_faults[0][1], facts.evidence_faults[0][0])
            if facts.evidence_faults else None
        ),
    ),
    Rule(
        "guessed_claim", states.NO_EVIDENCE, None,
        "The executor is not sure of its work: look at it yourself, then enter the task again",
        _guessed_claim,
    ),
    Rule("blocked", states.INCOMPLETE, None, _ANSWER, _blocked),
    Rule(
        "executor_no_evidence", states.NO_EVIDENCE, None,
        "The executor says itself that it has nothing to show; " + READ,
        _executor_no_evidence,
    ),
    Rule("question", states.INCOMPLETE, None, _ANSWER, _question),
    Rule(
        "reported_unfinished", states.INCOMPLETE, None, "The executor says itself that its work is not done; " + READ,
        _reported_unfinished,
    ),
    Rule(
        "executor_incomplete", states.INCOMPLETE, None,
        "The executor says itself that it did not finish; " + READ,
        lambda facts: "The executor did not finish the task." if facts.status == states.INCOMPLETE else None,
    ),
    Rule(
        "target_unmet", states.INCOMPLETE, None,
        "Of the files and folders that a task mentions, what it orders has to be done; " + READ,
        _target_unmet,
    ),
    Rule(
        "stray_deletion", states.INCOMPLETE, None,
        "Check what is gone, and put back what was not meant; " + READ,
        lambda facts: (
            "More was deleted than was ordered."
            if facts.stray and facts.task_type == task_types.DANGEROUS_OP else None
        ),
    ),
    Rule(
        "tests_failed", states.INCOMPLETE, "E210",
        "Have the tests fixed, then enter the task again",
        lambda facts: "The project's tests fail." if facts.tests == FAILED else None,
    ),
    Rule(
        "checks_failed", states.INCOMPLETE, "E210",
        "Fix what the checks report, then enter the task again",
        lambda facts: f"The project's checks fail: {some(facts.checks_failed)}." if facts.checks_failed else None,
    ),
    Rule(
        "tests_unproven", states.NO_EVIDENCE, None,
        "Have tests written and run for what was changed, then enter the task again",
        _tests_unproven,
    ),
    Rule(
        "leftovers", states.INCOMPLETE, None,
        "End these processes, then enter the task again",
        lambda facts: f"Processes could not be ended: {some(facts.leftovers)}." if facts.leftovers else None,
    ),
    Rule(
        "put_off", states.INCOMPLETE, None,
        "Say in the task to wait for what is started, or to run it in the foreground; then enter it again",
        _put_off,
    ),
)  # fmt: skip
"""What is asked of each run, in this order."""


def _verified_file(facts: Facts) -> str | None:
    count = count_modified(facts.verified)
    if not count:
        return None
    gone = f"; deleted as ordered: {some(facts.ordered_deletions)}" if facts.ordered_deletions else ""
    return f"{count} {'file' if count == 1 else 'files'} verified on the disk{gone}."


def _ordered_deletion(facts: Facts) -> str | None:
    return f"Deleted as ordered: {some(facts.ordered_deletions)}." if facts.ordered_deletions else None


def _folder(facts: Facts) -> str | None:
    return f"Made as ordered: {some(facts.folders)}." if facts.folders else None


def _settled(facts: Facts) -> str | None:
    """A file that is only wanted if it is missing was there, and the runner saw that it still is."""
    if not facts.settled or has_changed(facts) or facts.unattributed:
        return None
    return f"{some(facts.settled)} was there already, so nothing was to be done."


def _unnamed_deletion(facts: Facts) -> str | None:
    """Where a deletion is ordered and nothing is mentioned for it, what is gone may be what was meant."""
    if not facts.unnamed or not facts.stray or facts.task_type == task_types.DANGEROUS_OP:
        return None
    return f"The task mentions nothing that is to be deleted; gone is {some(facts.stray)}."


def _answer(facts: Facts) -> str | None:
    """Where only an answer is wanted, it is what was to be delivered, and its own evidence."""
    return "The answer was given." if facts.task_type in task_types.ANSWERS and (facts.output or "").strip() else None


GROUNDS: tuple[tuple[str, Callable[[Facts], str | None]], ...] = (
    ("verified_file", _verified_file),
    ("ordered_deletion", _ordered_deletion),
    ("folder", _folder),
    ("nothing_to_do", _settled),
    ("unnamed_deletion", _unnamed_deletion),
    ("answer", _answer),
)


def grounds(facts: Facts) -> tuple[tuple[str, str], ...]:
    """Every ground that holds, with its sentence; none where what a task orders of what it mentions was not done."""
    if facts.targets_unmet and facts.task_type != task_types.READ_INFO:
        return ()
    return tuple((name, why) for name, ground in GROUNDS if (why := ground(facts)) is not None)


def judge(facts: Facts) -> Verdict:
    """The verdict on a run, by the first objection, else by the first ground, else NO_EVIDENCE.

    Whatever decides, it says what the task mentions and was not touched, and what was touched and is not mentioned.
    """
    known = facts._replace(task_type=judged_as(facts))
    verdict = _judged(known)
    noted = notes(known, verdict.why)
    ended = f"{verdict.why}." if noted and verdict.why[-1:].isalnum() else verdict.why
    why = " ".join(part for part in (ended, noted) if part)
    return verdict._replace(why=why, error=why if verdict.error == verdict.why else verdict.error)


def _judged(facts: Facts) -> Verdict:
    spoken = [(rule.name, said) for rule in RULES if (said := rule.objection(facts)) is not None]
    if spoken:
        return _negative(facts, spoken[0][1], tuple(name for name, _ in spoken))
    found = grounds(facts)
    if found:
        rules, why = tuple(name for name, _ in found), found[0][1]
        return Verdict(states.COMPLETE, states.DONE, None, None, None, facts.output or "", why, rules)
    return _negative(facts, _nothing(facts), (NOTHING_VERIFIED,))


def _nothing(facts: Facts) -> Objection:
    """Nothing shows that the task was done; what changed while others worked there too is nobody's evidence."""
    if not facts.unattributed:
        changed = has_changed(facts) or facts.verified
        why = "No verified file shows that the task was done." if changed else "No file changed."
        if facts.absent and not changed:
            # What is not there leaves nothing on the disk by which a run could be proven.
            why = f"No file changed; {some(facts.absent)} was not there, so nothing may have been to be done."
        return Objection(states.NO_EVIDENCE, why)
    who, what = some(facts.beside), some(facts.unattributed)
    return Objection(states.NO_EVIDENCE, f"{who} worked in the project too, so whose work {what} is cannot be told.")


def _negative(facts: Facts, found: Objection, rules: tuple[str, ...]) -> Verdict:
    state = states.state_of(found.status)
    if facts.interactive and found.question is not None:
        state = states.AWAITING
    output = facts.output or "" if found.output is None else found.output
    error = output if found.output is not None else facts.error or found.why
    if rules[0] == "cancelled":
        state = states.CANCELLED
    return Verdict(
        found.status, state, rules[0], found.code, found.question, output, found.why, rules,
        error, found.hint, found.cause or facts.cause,
    )  # fmt: skip
