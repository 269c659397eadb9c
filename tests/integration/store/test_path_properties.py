"""The view and the rules in plain Python agree about whatever may happen, and the trigger agrees with the view."""

from __future__ import annotations

import sqlite3
from collections import Counter
from typing import Any

import hypothesis
from hypothesis import strategies as st

from orchestrator.store import path_history
from tests.integration.store import ledger, path_model

GROUPS = ("A", "B", "C")
Event = tuple[Any, ...]

BY_ROLE = {
    "developer": ("submit_test", "submit_review", "merge", "merge_fail", "block", "progress"),
    "qa_expert": ("test_pass", "test_fail", "inconclusive", "block", "none"),
    "tech_lead": ("approve", "reject", "guide", "none"),
}
CHAINS = (
    (("developer", "submit_test"), ("qa_expert", "test_pass"), ("tech_lead", "approve"), ("developer", "merge")),
    (("developer", "submit_test"), ("qa_expert", "block"), ("tech_lead", "approve"), ("developer", "merge")),
    (("developer", "submit_test"), ("qa_expert", "inconclusive"), ("tech_lead", "approve"), ("developer", "merge")),
    (("developer", "submit_review"), ("tech_lead", "approve"), ("developer", "merge")),
    (("developer", "submit_test"), ("qa_expert", "test_fail")),
    (("qa_expert", "test_pass"), ("tech_lead", "approve"), ("developer", "merge")),
)

APPROVED = (("developer", "submit_test"), ("qa_expert", "test_pass"), ("tech_lead", "approve"))

groups = st.sampled_from(GROUPS)
single = st.sampled_from([(role, effect) for role, effects in BY_ROLE.items() for effect in effects])
isolations = st.sampled_from(("worktree", "worktree", "none", None))
proofs = st.sampled_from(((), (), ("merged",), ("nothing_to_merge",)))
rules = st.sampled_from((None, None, path_model.PROVEN_SINCE - 1, path_model.PROVEN_SINCE))
acknowledged = st.frozensets(groups).map(lambda names: tuple(sorted(names)))
events = st.one_of(
    st.tuples(st.just("reports"), groups, st.sampled_from(CHAINS)),
    st.tuples(st.just("reports"), groups, st.tuples(single)),
    st.tuples(
        st.just("manager"),
        st.one_of(st.none(), groups),
        st.sampled_from(("confirm", "confirm", "continue", "rework", "defer", "none")),
        acknowledged,
    ),
    st.tuples(st.sampled_from(("block", "resolve", "ask", "answer", "review", "complete", "reopen", "cancel")), groups),
    st.tuples(st.sampled_from(("depend", "undepend")), groups, groups),
    st.tuples(st.just("start"), groups, isolations, st.booleans()),
    st.tuples(st.just("merge"), groups, proofs, rules),
    st.tuples(st.just("driven"), groups, st.tuples(isolations) | st.tuples(isolations, isolations), proofs, rules),
)


class Played:
    """One session in the database and the same session in plain Python."""

    def __init__(self, testing_mode: str, kinds: dict[str, str], security: bool) -> None:
        self.book = ledger.Ledger(ledger.empty(), testing_mode=testing_mode)
        self.world = path_model.World(testing_mode, {})
        for name in GROUPS:
            kind = kinds.get(name, "code")
            self.book.group(name, kind=kind, security=security)
            self.world.groups[name] = path_model.Group(kind=kind, security=security)
        self.blockers: dict[str, list[tuple[str, path_model.Blocker]]] = {name: [] for name in GROUPS}
        self.questions: dict[str, list[str]] = {name: [] for name in GROUPS}
        self.turns: dict[str, int] = {}

    def play(self, event: Event) -> None:
        getattr(self, event[0])(*event[1:])

    def report(self, role: str, effect: str, group: str | None, names: tuple[str, ...] = ()) -> None:
        seq = self.book.report(role, effect, group, acknowledge=names)
        self.world.reports.append(path_model.Report(seq, role, effect, group, frozenset(names)))

    def reports(self, group: str, answers: tuple[tuple[str, str], ...]) -> None:
        for role, effect in answers:
            self.report(role, effect, group)

    def manager(self, group: str | None, effect: str, names: tuple[str, ...]) -> None:
        self.report("project_manager", effect, group, names)

    def start(self, group: str, isolation: str | None, again: bool) -> None:
        """An agent is started in a turn of its own, or once more in the one before."""
        turn, seq = self.book.start(group, isolation, self.turns.get(group) if again else None)
        self.turns[group] = turn
        self.world.starts.append(path_model.Start(seq, group, turn, isolation))

    def merge(self, group: str, proofs: tuple[str, ...], rules: int | None) -> None:
        turn = self.turns.get(group)
        seq = self.book.merge(group, *proofs, turn=turn, rules=rules)
        report = path_model.Report(seq, "developer", "merge", group, turn=turn, proven=bool(proofs), rules=rules)
        self.world.reports.append(report)

    def driven(
        self, group: str, isolations: tuple[str | None, ...], proofs: tuple[str, ...], rules: int | None
    ) -> None:
        """A whole chain whose merge comes from agents that were started one after another in its turn."""
        self.reports(group, APPROVED)
        for number, isolation in enumerate(isolations):
            self.start(group, isolation, number > 0)
        self.merge(group, proofs, rules)

    def block(self, group: str) -> None:
        blocker = path_model.Blocker(0)
        self.blockers[group].append((self.book.block(group), blocker))
        self.world.groups[group].blockers.append(blocker)

    def resolve(self, group: str) -> None:
        if self.blockers[group]:
            name, blocker = self.blockers[group].pop()
            blocker.resolved = self.book.resolve(name)

    def ask(self, group: str) -> None:
        self.questions[group].append(self.book.ask(group))
        self.world.groups[group].open_questions += 1

    def answer(self, group: str) -> None:
        if self.questions[group]:
            self.book.answer(self.questions[group].pop())
            self.world.groups[group].open_questions -= 1

    def review(self, group: str) -> None:
        self.world.groups[group].mandatory.append(self.book.decide(group, mandatory_review=True))

    def depend(self, group: str, on: str) -> None:
        depends_on = self.world.groups[group].depends_on
        if group != on and on not in depends_on:
            self.book.depend(group, on)
            depends_on.add(on)

    def undepend(self, group: str, on: str) -> None:
        self.book.undepend(group, on)
        self.world.groups[group].depends_on.discard(on)

    def complete(self, group: str) -> None:
        """Whoever tries gets through exactly when the path is valid."""
        if self.world.groups[group].status != "in_progress":
            return
        expected = self.world.judged(group)
        assert self.refusal(group) == (None if expected["valid"] else expected["missing"])
        if expected["valid"]:
            self.world.groups[group].status = "completed"

    def refusal(self, group: str) -> str | None:
        """Try to complete a group: the part that the database names, or nothing when it goes through."""
        self.book.connection.execute("SAVEPOINT attempt")
        try:
            self.book.complete(group)
        except sqlite3.IntegrityError as refused:
            # A step that is refused leaves nothing, its record of the move included.
            self.book.connection.execute("ROLLBACK TO attempt")
            return str(refused).removeprefix("COMPLETION_PATH_MISSING: ").split(" ")[0]
        return None

    def reopen(self, group: str) -> None:
        if self.world.groups[group].status == "completed":
            self.world.groups[group].reopened.append(self.book.reopen(group))
            self.world.groups[group].status = "in_progress"

    def cancel(self, group: str) -> None:
        if self.world.groups[group].status == "in_progress" and len(self.world.reports) > 8:
            self.book.move(group, "in_progress", "cancelled")
            self.world.groups[group].status = "cancelled"

    def compare(self) -> Counter[str]:
        """Compare every group, and count what was seen."""
        seen: Counter[str] = Counter()
        for name in GROUPS:
            expected = self.world.judged(name)
            path = self.book.path(name)
            assert {column: path[column] for column in expected} == expected
            history = path_history.History(self.book.connection, ledger.SESSION)
            assert history.judge(name, self.book.seq + 1)[:2] == (path["valid"], path["missing"])
            seen.update(column for column, value in expected.items() if value == 1)
        return seen


@hypothesis.given(
    testing_mode=st.sampled_from(("full", "full", "minimal")),
    kinds=st.dictionaries(groups, st.just("research"), max_size=1),
    security=st.booleans(),
    story=st.lists(events, max_size=25),
)
def test_the_view_and_the_rules_agree(
    testing_mode: str, kinds: dict[str, str], security: bool, story: list[Event]
) -> None:
    played = Played(testing_mode, kinds, security)
    for event in story:
        played.play(event)
        for column in played.compare():
            hypothesis.event(column)
    for name in GROUPS:
        played.complete(name)
    played.compare()
    # What the guards let through had its path in its own step, not only now.
    assert [*path_history.unproven(played.book.connection, ledger.SESSION)] == []
    played.book.connection.close()
