"""A small second opinion on sessions: statuses, awaited roles and open blockers, from the words of the rules alone.

It knows nothing of tables, views or the transitions file. Where limits are reached (failures, equal reports) it only
says who may be awaited then.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field

DEVELOPER, SENIOR, QA = "developer", "senior_software_engineer", "qa_expert"
LEAD, MANAGER, INVESTIGATOR, PERSON = "tech_lead", "project_manager", "investigator", "user"
BUILDER = "(builder)"

REPORTS: dict[str, dict[str, tuple[str, str]]] = {
    DEVELOPER: {
        "READY_FOR_QA": ("submit_test", QA),
        "READY_FOR_REVIEW": ("submit_review", LEAD),
        "BLOCKED": ("block", INVESTIGATOR),
        "PARTIAL": ("progress", DEVELOPER),
        "ESCALATE_SENIOR": ("escalate", SENIOR),
        "MERGE_SUCCESS": ("merge", ""),
        "MERGE_CONFLICT": ("merge_fail", DEVELOPER),
    },
    SENIOR: {
        "READY_FOR_QA": ("submit_test", QA),
        "READY_FOR_REVIEW": ("submit_review", LEAD),
        "BLOCKED": ("block", LEAD),
        "MERGE_SUCCESS": ("merge", ""),
    },
    QA: {
        "PASS": ("test_pass", LEAD),
        "FAIL": ("test_fail", BUILDER),
        "FLAKY": ("inconclusive", LEAD),
        "BLOCKED": ("block", LEAD),
    },
    LEAD: {
        "APPROVED": ("approve", BUILDER),
        "CHANGES_REQUESTED": ("reject", BUILDER),
        "SPAWN_INVESTIGATOR": ("investigate", INVESTIGATOR),
        "UNBLOCKING_GUIDANCE": ("guide", ""),
    },
    INVESTIGATOR: {
        "ROOT_CAUSE_FOUND": ("none", LEAD),
        "BLOCKED": ("block", LEAD),
        "NEED_DEVELOPER_DIAGNOSTIC": ("none", BUILDER),
    },
}
"""What each role may say: its effect, and who is awaited then."""

FAILURES, VISITS = 2, 6
PROGRESS = ("approve", "merge", "test_pass")
QA_ANSWERS = ("test_pass", "test_fail", "inconclusive", "block")
CLIMBED = (SENIOR, LEAD, MANAGER, PERSON)
"""Who may be awaited once a limit is reached."""


@dataclass
class Blocker:
    opener: str
    external: bool = False


@dataclass
class Group:
    secure: bool = False
    depends_on: str | None = None
    status: str = "pending"
    awaited: str | None = None
    merging: bool = False
    senior: bool = False
    builder: str = DEVELOPER
    ever_blocked: bool = False
    confirmed: bool = False
    blockers: list[Blocker] = field(default_factory=list)
    log: list[tuple[str, str]] = field(default_factory=list)
    failures: Counter[str] = field(default_factory=Counter)
    visits: Counter[tuple[str, str]] = field(default_factory=Counter)

    def awaits(self, role: str) -> None:
        """Wait for a role: the builder is never a developer in a secure group, nor once a senior had the group."""
        role = self.builder if role == BUILDER else role
        if role == DEVELOPER and (self.secure or self.senior):
            role = SENIOR
        if role in (DEVELOPER, SENIOR):
            self.builder, self.senior = role, self.senior or role == SENIOR
        if role != MANAGER:
            for blocker in self.blockers:
                blocker.external = False
        self.awaited, self.merging = role, False

    def start(self) -> None:
        self.status = "in_progress"
        self.awaits(BUILDER)

    def close(self, status: str) -> None:
        self.status, self.awaited, self.merging = status, None, False

    def reopen(self) -> None:
        self.status, self.confirmed = "in_progress", False
        self.log.clear()
        self.awaits(BUILDER)

    @property
    def external(self) -> Blocker | None:
        return next((blocker for blocker in reversed(self.blockers) if blocker.external), None)

    # The completion path

    def approved_at(self) -> int | None:
        """Where in the log the approval stands that only merges follow."""
        place = len(self.log)
        while place and self.log[place - 1][1] == "merge":
            place -= 1
        return place - 1 if place and self.log[place - 1][1] == "approve" else None

    def built(self) -> bool:
        """Approved, tested, merged and unblocked."""
        approved = self.approved_at()
        merged = approved is not None and len(self.log) > approved + 1
        return merged and self.tested() and not self.blockers

    def tested(self) -> bool:
        effects = [effect for _, effect in self.log]
        if not {"submit_test", "submit_review"} & set(effects) or self._last("test_fail") > self._last("test_pass"):
            return False
        passed = self._last("test_pass") > self._last("submit_test") >= 0
        never_asked = "submit_test" not in effects and QA not in [role for role, _ in self.log]
        return passed or never_asked or self.unfinished()

    def unfinished(self) -> bool:
        """Whether QA's last answer was none, and somebody approved all the same."""
        answers = [effect for role, effect in self.log if role == QA and effect in QA_ANSWERS]
        return bool(answers) and answers[-1] in ("block", "inconclusive")

    def needs_confirmation(self) -> bool:
        return self.ever_blocked or self.unfinished()

    def _last(self, effect: str) -> int:
        return max((place for place, (_, each) in enumerate(self.log) if each == effect), default=-1)


@dataclass
class Session:
    groups: dict[str, Group]

    def satisfied(self, name: str | None) -> bool:
        """Whether what a group depends on is done: completed, or lacking nothing but the confirmation."""
        if name is None:
            return True
        group = self.groups[name]
        return group.status == "completed" or (group.status == "in_progress" and group.built())

    def fill(self) -> None:
        """Start what may start; there are slots enough in this model."""
        for group in self.groups.values():
            if group.status == "pending" and not group.blockers and self.satisfied(group.depends_on):
                group.start()

    def finish(self, name: str, *, confirmed: bool = False) -> None:
        """Complete a group whose chain is whole; one that lacks something waits for the manager."""
        group = self.groups[name]
        group.confirmed = group.confirmed or (confirmed and group.built())
        whole = group.built() and self.satisfied(group.depends_on)
        if whole and (group.confirmed or not group.needs_confirmation()):
            group.close("completed")
            for other, each in self.groups.items():
                if each.depends_on == name and each.status == "in_progress" and each.awaited == MANAGER:
                    self.finish(other)

    def report(self, name: str, role: str, status: str, *, external: bool = False) -> bool:
        """Take an accepted report. Return False where a limit is reached, so that the model cannot say who is next."""
        group = self.groups[name]
        effect, target = REPORTS[role][status]
        group.log.append((role, effect))
        group.visits[role, status] += 1
        group.failures[effect] += effect in ("test_fail", "reject", "merge_fail")
        if effect in PROGRESS:
            group.visits = Counter({key: count for key, count in group.visits.items() if _lasts(*key)})
        self._carry_out(group, name, role, effect, target, external)
        self.fill()
        done = group.status == "completed"
        return done or (group.failures[effect] < FAILURES and group.visits[role, status] < VISITS)

    def _carry_out(self, group: Group, name: str, role: str, effect: str, target: str, external: bool) -> None:
        if effect == "block":
            group.blockers.append(Blocker(role))
            group.ever_blocked, group.confirmed = True, False
        if effect == "approve":
            group.blockers.clear()
            group.confirmed = False
        if effect == "merge":
            group.awaited = MANAGER
            group.merging = False
            self.finish(name)
        elif effect == "guide" and external:
            group.blockers[-1].external = True
            group.awaits(MANAGER)
        elif effect == "guide":
            group.awaits(group.blockers.pop().opener)
        else:
            group.awaits(target)
            group.merging = effect == "approve"


def _lasts(role: str, status: str) -> bool:
    """Whether progress leaves the count of a report as it is."""
    return role in REPORTS and REPORTS[role][status][0] in PROGRESS
