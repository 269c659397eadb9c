"""The completion path once more, in plain Python over lists, to be compared with the view.

It follows the words of the rules and knows nothing of marks, indexes or SQL.
"""

from __future__ import annotations

import dataclasses

PROVEN_SINCE = 5
"""The version of the rules since which a merge from a worktree needs its proof."""


@dataclasses.dataclass(frozen=True)
class Report:
    seq: int
    role: str
    effect: str
    group: str | None
    acknowledged: frozenset[str] = frozenset()
    turn: int | None = None
    proven: bool = False
    rules: int | None = None


@dataclasses.dataclass(frozen=True)
class Start:
    seq: int
    group: str
    turn: int
    isolation: str | None


@dataclasses.dataclass
class Blocker:
    opened: int
    resolved: int | None = None


@dataclasses.dataclass
class Group:
    kind: str = "code"
    security: bool = False
    status: str = "in_progress"
    reopened: list[int] = dataclasses.field(default_factory=list)
    blockers: list[Blocker] = dataclasses.field(default_factory=list)
    open_questions: int = 0
    mandatory: list[int] = dataclasses.field(default_factory=list)
    depends_on: set[str] = dataclasses.field(default_factory=set)


@dataclasses.dataclass
class World:
    testing_mode: str
    groups: dict[str, Group]
    reports: list[Report] = dataclasses.field(default_factory=list)
    starts: list[Start] = dataclasses.field(default_factory=list)

    def of(self, name: str, *effects: str, role: str | None = None) -> list[Report]:
        """Reports of a group since work on it began or began again."""
        begun = self.begun(name)
        return [
            report
            for report in self.reports
            if report.group == name
            and report.seq > begun
            and (not effects or report.effect in effects)
            and (role is None or report.role == role)
        ]

    def begun(self, name: str) -> int:
        return max(self.groups[name].reopened, default=0)

    def approval(self, name: str) -> Report | None:
        for approve in reversed(self.of(name, "approve")):
            later = [report for report in self.of(name) if report.seq > approve.seq]
            if approve.role != "project_manager" and all(_leaves_approval(report) for report in later):
                return approve
        return None

    def failed(self, name: str) -> bool:
        failures, passes = self.of(name, "test_fail"), self.of(name, "test_pass")
        return bool(failures) and (not passes or passes[-1].seq < failures[-1].seq)

    def passed(self, name: str) -> bool:
        approval = self.approval(name)
        submitted = self.of(name, "submit_test")
        return bool(submitted) and any(
            test.seq > submitted[-1].seq and (approval is None or test.seq < approval.seq)
            for test in self.of(name, "test_pass")
        )

    def qa_never_asked(self, name: str) -> bool:
        return not self.of(name, "submit_test") and not self.of(name, role="qa_expert")

    def unfinished_accepted(self, name: str) -> bool:
        approval = self.approval(name)
        answers = self.of(name, "test_pass", "test_fail", "inconclusive", "block", role="qa_expert")
        if approval is None or not answers:
            return False
        return answers[-1].effect in ("block", "inconclusive") and answers[-1].seq < approval.seq

    def tested(self, name: str) -> bool:
        if not self.of(name, "submit_test", "submit_review") or self.failed(name):
            return False
        return (
            self.testing_mode != "full"
            or self.passed(name)
            or self.qa_never_asked(name)
            or self.unfinished_accepted(name)
        )

    def merge(self, name: str) -> Report | None:
        approval = self.approval(name)
        later = [report for report in self.of(name, "merge") if approval and report.seq > approval.seq]
        return later[-1] if later and self.is_seen(later[-1]) else None

    def is_seen(self, merge: Report) -> bool:
        """Whether a merge was seen by who had to see it: the driver that had put the agent into a worktree."""
        place = merge.group, merge.turn
        begun = [start for start in self.starts if (start.group, start.turn) == place and start.seq < merge.seq]
        if not begun or begun[-1].isolation != "worktree":
            return True
        return merge.proven or (merge.rules is not None and merge.rules < PROVEN_SINCE)

    def reviewed(self, name: str) -> bool:
        group = self.groups[name]
        reviews = [report.seq for report in self.reports if report.group == name and report.role == "tech_lead"]
        obliged = all(any(review > decision for review in reviews) for decision in group.mandatory)
        return obliged and (not group.security or any(review > self.begun(name) for review in reviews))

    def is_open(self, name: str) -> bool:
        group = self.groups[name]
        return group.open_questions > 0 or any(blocker.resolved is None for blocker in group.blockers)

    def settled(self, name: str) -> bool:
        """All but the confirmation and what it depends on."""
        group = self.groups[name]
        if group.status != "in_progress" or self.is_open(name) or self.approval(name) is None:
            return False
        return group.kind == "research" or (self.tested(name) and self.merge(name) is not None and self.reviewed(name))

    def unblocked(self, name: str) -> bool:
        seen: set[str] = set()
        ahead = list(self.groups[name].depends_on)
        while ahead:
            other = ahead.pop()
            if other not in seen and self.groups[other].status != "completed":
                seen.add(other)
                ahead.extend(self.groups[other].depends_on)
        return not self.is_open(name) and all(self.settled(other) for other in seen)

    def needs_confirmation(self, name: str) -> bool:
        group = self.groups[name]
        only_unfinished = (
            group.kind == "code"
            and self.tested(name)
            and self.testing_mode == "full"
            and not self.passed(name)
            and not self.qa_never_asked(name)
        )
        return bool(group.blockers) or only_unfinished

    def confirmed(self, name: str) -> bool:
        group = self.groups[name]
        if not self.needs_confirmation(name):
            return True
        last = self.approval(name) if group.kind == "research" else self.merge(name)
        if last is None or any(blocker.resolved is None for blocker in group.blockers):
            return False
        after = max([last.seq, *(blocker.resolved or 0 for blocker in group.blockers)])
        return any(
            report.role == "project_manager"
            and report.seq > after
            and (report.effect == "confirm" or name in report.acknowledged)
            for report in self.reports
        )

    def pm_path(self, name: str) -> bool:
        confirms = [
            report for report in self.reports if report.effect == "confirm" and report.role == "project_manager"
        ]
        if not confirms or name not in confirms[-1].acknowledged or confirms[-1].seq < self.begun(name):
            return False
        later = [report for report in self.reports if report.group == name and report.seq > confirms[-1].seq]
        return not later and self.unblocked(name)

    def judged(self, name: str) -> dict[str, int | str | None]:
        """The columns of the view that follow from the rules."""
        research = self.groups[name].kind == "research"
        parts = {
            "approved": self.approval(name) is not None,
            "tested": research or self.tested(name),
            "merged": research or self.merge(name) is not None,
            "unblocked": self.unblocked(name),
            "reviewed": research or self.reviewed(name),
            "confirmed": self.confirmed(name),
        }
        missing = [part for part, met in parts.items() if not met]
        awaiting = missing == ["confirmed"] and self.groups[name].status == "in_progress"
        return {f"{part}_met": int(met) for part, met in parts.items()} | {
            "chain": int(not missing),
            "pm_path": int(self.pm_path(name)),
            "valid": int(not missing or self.pm_path(name)),
            "missing": missing[0] if missing else None,
            "awaiting_confirmation": int(awaiting),
            "ever_blocked": int(bool(self.groups[name].blockers)),
        }


def _leaves_approval(report: Report) -> bool:
    if report.role == "project_manager":
        return report.effect not in ("rework", "defer")
    return report.effect == "merge"
