"""Hypothesis plays against the real use cases, and a small independent model says what must come of it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable
from typing import Any

import hypothesis
import pytest
from hypothesis import strategies as st
from hypothesis.stateful import RuleBasedStateMachine, initialize, invariant, precondition, rule

from tests.acceptance import exploring, walking
from tests.acceptance.model import CLIMBED, LEAD, MANAGER, PERSON, PROGRESS, REPORTS, VISITS, Group, Session
from tests.acceptance.play import Process, Story
from tests.acceptance.test_scenarios import RAW, everything
from tests.conftest import LONG

NAMES = st.sampled_from(("A", "B", "S"))
SPEAKERS = st.sampled_from(sorted(REPORTS))
STATUSES = st.sampled_from(("pending", "in_progress", "completed", "deferred_external", "cancelled"))
PHASES = [phase for phase in hypothesis.Phase if phase is not hypothesis.Phase.explain]
EXTERNAL = {"external": True, "external_dependency": "the environment"}


Wanted = Callable[[Group], bool]


def some(wanted: Wanted) -> Callable[[Any], bool]:
    """Whether any group of the model is such a one."""
    return lambda machine: any(wanted(group) for group in machine.model.groups.values())


class Machine(RuleBasedStateMachine):
    """Three groups on four slots: A, B which depends on A, and S which is security-sensitive."""

    @initialize()
    def begin(self) -> None:
        self.stage = Process()
        self.story = Story(self.stage, groups=("A",))
        self.story.group("B", depends_on=("A",))
        self.story.group("S", security_sensitive=True)
        self.model = Session({"A": Group(), "B": Group(depends_on="A"), "S": Group(secure=True)})
        self.story.plan()
        self.model.fill()
        self.said: Counter[str] = Counter()
        self.refused: Counter[str] = Counter()
        self.asked: set[str] = set()
        self.unsure: set[str] = set()
        """Groups whose open turn had an answer that nobody knows: the tech lead may speak then."""

    # What the awaited agents answer

    @precondition(some(lambda group: group.awaited in REPORTS))
    @rule(data=st.data())
    def the_awaited_agent_reports(self, data: st.DataObject) -> None:
        name = self._pick(data, lambda group: group.awaited in REPORTS)
        self._report(name, data.draw(st.sampled_from(sorted(REPORTS[self._awaited(name)]))), data)

    @precondition(some(lambda group: group.awaited in REPORTS))
    @rule(data=st.data(), times=st.integers(1, 4))
    def the_awaited_agents_bring_a_group_nearer_to_its_end(self, data: st.DataObject, times: int) -> None:
        name = self._pick(data, lambda group: group.awaited in REPORTS)
        for _ in range(times):
            role = self._awaited(name)
            if role in REPORTS:
                merging = self.model.groups[name].merging
                self._report(name, "MERGE_SUCCESS" if merging else exploring.ANSWERS[role], data)
                self.the_record_says_what_the_model_says()

    def _pick(self, data: st.DataObject, wanted: Wanted) -> str:
        return data.draw(st.sampled_from([name for name, group in self.model.groups.items() if wanted(group)]))

    def _awaited(self, name: str) -> str:
        return str(self.model.groups[name].awaited)

    def _report(self, name: str, status: str, data: st.DataObject) -> None:
        group, role = self.model.groups[name], self._awaited(name)
        effect, _ = REPORTS[role][status]
        if effect in ("merge", "merge_fail") and not group.merging:
            assert self._turned_down(name, status) == "OUT_OF_TURN"
            return
        if effect == "guide" and not group.blockers:
            assert self._turned_down(name, status) == "NOTHING_BLOCKED"
            return
        self.unsure.discard(name)
        self.refused[name] = 0
        external = effect == "guide" and data.draw(st.booleans())
        answer = self.story.says(role, status, name, **({"details": EXTERNAL} if external else {}))
        if effect in PROGRESS:
            self.said.clear()
        if not self.model.report(name, role, status, external=external):
            self._learn(name, answer)

    def _turned_down(self, name: str, status: str, **more: Any) -> str:
        """The awaited role's report is refused; after so many of them somebody else is called."""
        group = self.model.groups[name]
        code = self.story.refused(self._awaited(name), status, name, **more)
        self.refused[name] += 1
        if self.story.awaited()[name] != group.awaited:
            assert self.refused[name] >= VISITS
            self._adopt(name)
        return code

    def _learn(self, name: str, answer: dict[str, Any]) -> None:
        """A limit is reached: whoever is awaited now must be one of those that a limit may call."""
        group = self.model.groups[name]
        awaited = self.story.awaited()[name]
        rules = {fired["name"] for fired in answer["rules"]}
        if awaited == group.awaited or not rules & {"escalation", "loop_guard"}:
            return
        assert awaited in CLIMBED
        group.awaits(awaited)
        group.awaited, group.merging = awaited, False
        if awaited == PERSON:
            self.asked.add(name)

    # What the project manager does

    @precondition(lambda self: self.said["BAZINGA"] < VISITS - 1)
    @rule(seldom=st.integers(0, 3))
    def bazinga(self, seldom: int) -> None:
        if seldom:
            return
        self.said["BAZINGA"] += 1
        waiting = [name for name, group in self.model.groups.items() if group.awaited == MANAGER]
        self.story.says(MANAGER, "BAZINGA")
        for name in waiting:
            self.model.finish(name, confirmed=True)
        self.model.fill()

    @precondition(lambda self: self.said["CONTINUE"] < VISITS - 1)
    @rule(name=NAMES, seldom=st.integers(0, 3))
    def an_acknowledgement_confirms_one_group(self, name: str, seldom: int) -> None:
        if seldom:
            return
        self.said["CONTINUE"] += 1
        self.story.says(MANAGER, "CONTINUE", acknowledge={name: "seen"})
        if self.model.groups[name].status == "in_progress" and name not in self.asked:
            self.model.finish(name, confirmed=True)
        self.model.fill()

    @precondition(some(lambda group: group.awaited == MANAGER))
    @rule(data=st.data())
    def rework(self, data: st.DataObject) -> None:
        name = self._pick(data, lambda group: group.awaited == MANAGER)
        group = self.model.groups[name]
        if name == "A" and group.built():
            return
        self.story.says(MANAGER, "REWORK", name)
        group.log.append((MANAGER, "rework"))
        group.visits[MANAGER, "REWORK"] += 1
        group.confirmed = False
        if group.visits[MANAGER, "REWORK"] < VISITS:
            group.awaits("(builder)")
        else:
            self._adopt(name)

    def _adopt(self, name: str) -> None:
        group, awaited = self.model.groups[name], self.story.awaited()[name]
        assert awaited in (*CLIMBED, group.builder)
        group.awaits(awaited)
        if awaited == PERSON:
            self.asked.add(name)

    @precondition(some(lambda group: group.awaited == MANAGER))
    @rule(data=st.data())
    def defer(self, data: st.DataObject) -> None:
        name = self._pick(data, lambda group: group.awaited == MANAGER)
        group = self.model.groups[name]
        if group.external is None:
            assert self._turned_down(name, "DEFER_EXTERNAL", summary="later") == "DEFERRAL_NOT_CONFIRMED"
            return
        self.story.says(MANAGER, "DEFER_EXTERNAL", name, summary="later")
        group.log.append((MANAGER, "defer"))
        group.close("deferred_external")

    @precondition(some(lambda group: group.external is not None))
    @rule(data=st.data())
    def resume(self, data: st.DataObject) -> None:
        name = self._pick(data, lambda group: group.external is not None)
        group = self.model.groups[name]
        blocker = group.external
        assert blocker is not None
        self.story.says(MANAGER, "RESUME_BLOCKED", name, summary="it is there")
        group.visits[MANAGER, "RESUME_BLOCKED"] += 1
        group.blockers.remove(blocker)
        group.status = "in_progress"
        if group.visits[MANAGER, "RESUME_BLOCKED"] < VISITS:
            group.awaits(blocker.opener)
        else:
            self._adopt(name)

    @rule(name=NAMES, seldom=st.integers(0, 7))
    def cancel(self, name: str, seldom: int) -> None:
        """A cancelled group takes no part any more."""
        group = self.model.groups[name]
        if seldom or group.status not in ("pending", "in_progress", "deferred_external"):
            return
        self.story.done("group set-status", **self.story.moves(name, "cancelled", MANAGER))
        group.close("cancelled")
        group.blockers.clear()
        self.asked.discard(name)

    @precondition(some(lambda group: group.status == "completed"))
    @rule(data=st.data())
    def reopen(self, data: st.DataObject) -> None:
        name = self._pick(data, lambda group: group.status == "completed")
        group = self.model.groups[name]
        if name == "A":
            return
        self.story.done("group set-status", **self.story.moves(name, "in_progress", MANAGER))
        group.reopen()
        if self.story.awaited()[name] != group.awaited:
            self._adopt(name)

    # What a person does

    @precondition(lambda self: hasattr(self, "model") and self.asked)
    @rule(data=st.data(), decision=st.sampled_from(("continue", "revise", "abandon")))
    def a_person_answers(self, data: st.DataObject, decision: str) -> None:
        """What was kept back goes on, the reporter is started again, or the manager is called; all counts fall."""
        name = data.draw(st.sampled_from(sorted(self.asked)))
        group, (question, opened) = self.model.groups[name], self._question(name)
        assert walking.perform(self.stage.context, walking.answer(question, decision)) is None
        self.asked.discard(name)
        self.refused[name] = 0
        self.unsure.discard(name)
        group.visits.clear()
        group.failures.clear()
        if decision == "continue" and opened:
            group.blockers.pop()
        awaited = self.story.awaited()[name]
        assert awaited == MANAGER if decision == "abandon" else awaited in (*REPORTS, MANAGER)
        group.awaits(str(awaited))
        group.awaited, group.merging = awaited, self._awaited_action(name) == "spawn_merge"

    def _question(self, name: str) -> tuple[str, int]:
        """The open question of a group, and whether a blocker was opened with it."""
        ((question, opened),) = self.stage.rows(
            "SELECT q.id, EXISTS (SELECT 1 FROM blockers b WHERE b.opened_seq = q.opened_seq) FROM questions q"
            f" WHERE q.group_id = '{name}' AND q.closed_seq IS NULL"
        )
        return question, opened

    def _awaited_action(self, name: str) -> str:
        ((action,),) = self.stage.rows(f"SELECT awaited_action FROM task_groups WHERE id = '{name}'")
        return str(action)

    # What nobody may do

    @rule(name=NAMES, role=SPEAKERS, data=st.data())
    def somebody_speaks_out_of_turn(self, name: str, role: str, data: st.DataObject) -> None:
        group = self.model.groups[name]
        if role == group.awaited or (role == LEAD and name in self.unsure):
            return
        status = data.draw(st.sampled_from(sorted(REPORTS[role])))
        code = self.story.refused(role, status, name)
        if name in self.asked:
            assert code == "QUESTION_OPEN"
        elif group.status == "pending":
            assert code == "DEPENDENCIES_OPEN"
        else:
            assert code == ("OUT_OF_TURN" if group.status == "in_progress" else "GROUP_CLOSED")

    @rule(name=NAMES, by=st.sampled_from(("orchestrator", "developer", "qa_expert", LEAD, MANAGER)))
    def somebody_marks_a_group_as_completed(self, name: str, by: str) -> None:
        if self.model.groups[name].status != "completed":
            moves = self.story.moves(name, "completed", by)
            assert self.story.code("group set-status", **moves) == "COMPLETION_PATH_MISSING"

    @rule(name=NAMES, to=STATUSES, by=st.sampled_from(("developer", "qa_expert", LEAD, "orchestrator")))
    def nobody_but_the_manager_moves_a_group(self, name: str, to: str, by: str) -> None:
        code = self.story.code("group set-status", **self.story.moves(name, to, by))
        assert code in ("NOT_PERMITTED", "ILLEGAL_MOVE", "COMPLETION_PATH_MISSING")

    @rule(name=NAMES)
    def an_answer_to_an_old_turn_comes_late(self, name: str) -> None:
        group = self.model.groups[name]
        if group.status == "in_progress" and group.awaited in REPORTS:
            status = sorted(REPORTS[group.awaited])[0]
            assert self._turned_down(name, status, turn=1) == "STALE_TURN"

    @rule(name=NAMES)
    def a_status_that_nobody_knows(self, name: str) -> None:
        group = self.model.groups[name]
        if group.status == "in_progress" and group.awaited in REPORTS:
            assert self._turned_down(name, "DONE_I_THINK") == "UNKNOWN_STATUS"
            self.unsure.add(name)

    @rule(sql=st.sampled_from([sql for sql, _ in RAW.values()]))
    def somebody_writes_past_every_door(self, sql: str) -> None:
        """It is refused, or (where it finds no row, or sets what is set) changes nothing."""
        before = everything(self.stage)
        self.stage.past_every_door(sql)
        assert everything(self.stage) == before

    # What must hold

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def the_record_says_what_the_model_says(self) -> None:
        groups = self.model.groups
        assert self.story.groups() == {name: group.status for name, group in groups.items()}
        expected = {name: group.awaited for name, group in groups.items() if group.status == "in_progress"}
        assert self.story.awaited() == expected
        opened = sorted((name, blocker.opener) for name, group in groups.items() for blocker in group.blockers)
        assert sorted(self.story.open_blockers()) == opened

    @precondition(lambda self: hasattr(self, "model"))
    @invariant()
    def nothing_that_must_hold_is_broken(self) -> None:
        assert walking.violations(self.stage.context) == []


@pytest.mark.slow
def test_the_model_and_the_record_never_disagree() -> None:
    hypothesis.stateful.run_state_machine_as_test(
        Machine,
        settings=hypothesis.settings(
            max_examples=2000 if LONG else 12, stateful_step_count=80 if LONG else 50, deadline=None,
            report_multiple_bugs=False, phases=PHASES, suppress_health_check=list(hypothesis.HealthCheck),
        ),
    )
