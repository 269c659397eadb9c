"""What a search through every state of small sessions finds in a workflow, and that what it finds really happens."""

from __future__ import annotations

import copy
import json
from collections.abc import Callable
from typing import Any

import pytest

from orchestrator import resources, testing
from orchestrator.app.kernel import arguments, operations
from orchestrator.app.kernel.context import Context
from orchestrator.app.prover import model_check, move_memory, possible_moves, sandbox, search_state, state_search
from orchestrator.app.prover.possible_moves import LEAN, PLAIN, SMALL, WIDE, Setting
from orchestrator.app.prover.sandbox import BELOW, Move, World
from orchestrator.app.prover.state_search import Search
from orchestrator.errors import InvalidInput, OrchestratorError
from orchestrator.store import reader
from orchestrator.store.reader import Opening, Reader
from tests import conftest

STATES = 200 if conftest.LONG else 50
LONG = conftest.long_form
Document = dict[str, Any]
Change = Callable[[Document], object]

SAMPLE: Document = {
    "_version": "small",
    "project_manager": {
        "PLANNING_COMPLETE": {"next_agent": "developer", "action": "spawn_batch", "max_parallel": 4},
        "BAZINGA": {"next_agent": None, "action": "validate_then_end"},
        "REWORK": {"next_agent": "developer", "action": "respawn"},
        "NEEDS_CLARIFICATION": {"next_agent": None, "action": "pause_for_user"},
    },
    "developer": {
        "READY_FOR_REVIEW": {"next_agent": "tech_lead", "action": "spawn"},
        "BLOCKED": {"next_agent": "tech_lead", "action": "spawn"},
        "MERGE_SUCCESS": {"next_agent": None, "action": "check_phase"},
    },
    "senior_software_engineer": {
        "READY_FOR_REVIEW": {"next_agent": "tech_lead", "action": "spawn"},
        "MERGE_SUCCESS": {"next_agent": None, "action": "check_phase"},
    },
    "tech_lead": {
        "APPROVED": {"next_agent": "developer", "action": "spawn_merge", "then": "check_phase"},
        "CHANGES_REQUESTED": {"next_agent": "developer", "action": "respawn", "escalation_check": True},
        "UNBLOCKING_GUIDANCE": {"next_agent": "_return_to_blocked", "action": "spawn"},
    },
    "validator": {
        "ACCEPT": {"next_agent": None, "action": "end_session"},
        "REJECT": {"next_agent": "project_manager", "action": "spawn"},
    },
    "_special_rules": {
        "escalation_after_failures": {"threshold": 2, "escalation_agent": "senior_software_engineer"},
        "security_sensitive": {"force_agent": "senior_software_engineer", "mandatory_review": True},
    },
}
# States in which the shortest ways to a fault are found; the whole takes twenty times as many.
FEW = 300
CODE = Setting("code", ({"id": "A"},))
SECURITY = Setting("security", ({"id": "A", "security_sensitive": True},))
TWO = Setting("two", ({"id": "A"}, {"id": "B"}), reach=SMALL)
ROW = Setting("a row", ({"id": "A"}, {"id": "B", "depends_on": ["A"]}), reach=SMALL)
TWO_OF_THREE = Setting("two of three", ({"id": "A"}, {"id": "B"}, {"id": "C"}), slots=2, reach=SMALL)


def small(*changes: Change) -> str:
    """The small workflow with changes."""
    made = copy.deepcopy(SAMPLE)
    for change in changes:
        change(made)
    return json.dumps(made)


def status(role: str, name: str, **entry: Any) -> Change:
    """Give a role one more status."""
    return lambda document: document.setdefault(role, {}).update({name: entry})


def shipped() -> str:
    """The shipped workflow."""
    return (resources.path("workflow") / "transitions.json").read_text("utf-8")


def prove(
    content: str, *settings: Setting, seconds: float = 60, states: int = model_check.DEFAULT_STATES
) -> model_check.Proof:
    """A proof of these configurations alone."""
    return model_check.prove(content, {}, settings=settings, seconds=seconds, states=states)


def replayed(content: str, lines: tuple[str, ...]) -> Context:
    """Run the lines of a counterexample as `batch` does; every one of them but the last must be accepted."""
    context = testing.memory_context()
    texts: dict[str, str] = {}
    operations.call(context, "workflow load", content=content, agent_texts=texts)
    for line in lines:
        words, given = json.loads(line).values()
        operations.call(context, words, **arguments.bind(words, given))
    return context


def groups(context: Context, columns: str) -> list[tuple[Any, ...]]:
    """The groups of the session."""
    return [*context.connection.execute(f"SELECT {columns} FROM task_groups ORDER BY created_seq")]


def only(proof: model_check.Proof, invariant: str) -> model_check.Counterexample:
    """The shortest counterexample to an invariant."""
    return next(each for each in proof.counterexamples if each.invariant == invariant)


@pytest.mark.parametrize("setting", [pytest.param(CODE, marks=LONG), SECURITY], ids=lambda setting: setting.name)
def test_a_sound_workflow_is_proven_state_by_state(setting: Setting) -> None:
    proof = prove(small(), setting)
    assert (proof.counterexamples, proof.ok, proof.complete) == ((), True, True)


@LONG
@pytest.mark.parametrize("setting", [TWO, ROW], ids=lambda setting: setting.name)
def test_a_sound_workflow_is_proven_for_two_groups(setting: Setting) -> None:
    proof = prove(small(), setting, seconds=300)
    assert (proof.counterexamples, proof.complete) == ((), True)
    (searched,) = proof.configurations
    assert (searched.cut, searched.open, searched.whole) == (None, 0, searched.depth)


@pytest.mark.parametrize(
    ("content", "setting"),
    [
        pytest.param(small(), TWO_OF_THREE._replace(blockers=0), id="nobody is blocked"),
        pytest.param(small(), TWO_OF_THREE._replace(blockers=1), id="one is blocked", marks=LONG),
        pytest.param(shipped(), model_check.CONFIGURATIONS[7], id="the shipped workflow", marks=LONG),
    ],
)
def test_a_sound_workflow_is_proven_for_three_groups(content: str, setting: Setting) -> None:
    proof = prove(content, setting, seconds=600)
    assert (proof.counterexamples, proof.complete) == ((), True)
    assert proof.configurations[0].groups == 3


def test_nothing_is_found_in_the_first_states_of_three_groups() -> None:
    proof = model_check.prove(small(), {}, settings=(TWO_OF_THREE,), states=600)
    assert (proof.counterexamples, proof.ok, proof.states >= 600) == ((), True, True)
    (searched,) = proof.configurations
    assert (searched.complete, searched.cut, searched.open > 0) == (False, "states", True)
    assert 0 < searched.whole <= searched.depth


def at_rest(search: Search) -> set[Any]:
    """The states in which no group is on its way from one agent to another."""
    return {node.key for node in search.nodes if not any(_on_its_way(group) for group in node.key[5])}


def _on_its_way(group: tuple[Any, ...]) -> bool:
    if group[1] != "in_progress":
        return False
    builder, (role, action, held) = group[3], group[6:9]
    with_agent = role not in ("project_manager", "user") and held is None
    return with_agent and (role != builder or action == "spawn_merge")


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [pytest.param(each, marks=LONG) for each in (TWO, TWO._replace(name="one slot", session={"mode": "simple"}))],
    ids=lambda setting: setting.name,
)
def test_what_is_not_tried_between_agents_leads_nowhere_else(setting: Setting) -> None:
    """Whether groups are gone on with one by one or in every order, they come to rest in the same states."""
    world = World(small(), {})
    reduced, whole = Search(world, setting), Search(world, setting, reduced=False)
    for search in (reduced, whole):
        search.run(states=100_000, seconds=600)
        assert search.complete
    assert at_rest(reduced) == at_rest(whole)
    # With one slot no two groups are on their way at once, so nothing is left out.
    assert (len(reduced.nodes) < len(whole.nodes)) == (setting.name != "one slot")
    assert {*reduced.findings} == {*whole.findings} == set()


def searched(content: str, setting: Setting, states: int, *, remembers: bool) -> Search:
    """A search of so many states."""
    search = Search(World(content, {}), setting, remembers=remembers)
    search.run(states=states, seconds=600)
    return search


def graph(search: Search) -> Any:
    """All that a search found: its states in order, where each leads, and what is wrong where."""
    edges = {source: [(edge.move, edge.target) for edge in edges] for source, edges in search.edges.items()}
    found = [(place, finding.moves) for place, finding in search.findings.items()]
    return [node.key for node in search.nodes], edges, found, search.broken


FAULTY = small(
    status("developer", "READY_FOR_REVIEW", next_agent="developer", action="spawn_merge", effect="approve"),
    status("tech_lead", "UNBLOCKING_GUIDANCE", next_agent=None, action="validate_then_end"),
)


@pytest.mark.parametrize(
    ("content", "setting", "states"),
    [
        pytest.param(small(), TWO_OF_THREE, 200, id="three groups, two slots", marks=LONG),
        pytest.param(FAULTY, TWO, 200, id="two groups under a faulty workflow"),
        pytest.param(small(), ROW, 10_000, id="a row, whole", marks=LONG),
        pytest.param(small(), TWO, 10_000, id="two groups, whole", marks=LONG),
        pytest.param(shipped(), ROW, 10_000, id="the shipped workflow, a row, whole", marks=LONG),
        pytest.param(shipped(), model_check.CONFIGURATIONS[8], 1500, id="three unlike groups", marks=LONG),
    ],
)
def test_what_is_remembered_is_what_happens(content: str, setting: Setting, states: int) -> None:
    """Made once or made every time, the same moves lead to the same states, and the same faults are found."""
    remembered, made = (searched(content, setting, states, remembers=each) for each in (True, False))
    assert graph(remembered) == graph(made)
    assert (remembered.remembers, remembered.recalled > remembered.made / 2, made.recalled) == (True, True, 0)
    assert remembered.findings or content is not FAULTY


def test_a_search_whose_memory_is_wrong_begins_anew_without_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """Here it looks at nothing of other groups, whatever was read of them."""
    made = searched(small(), TWO_OF_THREE, 60, remembers=False)
    monkeypatch.setattr(move_memory, "level", lambda *given: move_memory.OWN)
    monkeypatch.setattr(state_search, "AGAIN", 1)
    search = searched(small(), TWO_OF_THREE, 60, remembers=True)
    assert (search.remembers, graph(search)) == (False, graph(made))


@pytest.mark.parametrize("reach", [SMALL, LEAN])
def test_a_fault_of_two_groups_is_found_and_replayed(reach: str) -> None:
    """Who is blocked takes the group out of its slot without a word, and nobody is awaited for it."""
    content = small(status("developer", "BLOCKED", next_agent=None, action="validate_then_end"))
    found = only(
        model_check.prove(content, {}, settings=(TWO._replace(reach=reach),), states=100, seconds=300), "stall"
    )
    assert (found.replayed, "BLOCKED" in found.lines[-1]) == (True, True)
    assert ("in_progress", None) in groups(replayed(content, found.lines), "status, awaited_role")


def test_what_time_did_not_suffice_for_is_said() -> None:
    proof = prove(shipped(), CODE, seconds=0.5)
    assert (proof.ok, proof.complete) == (True, False)


def test_a_status_after_which_nobody_is_awaited_is_a_stall() -> None:
    content = small(status("developer", "DONE", next_agent=None, action="validate_then_end", effect="none"))
    proof = prove(content, CODE, states=FEW)
    found = only(proof, "stall")
    assert "DONE" in found.lines[-1]
    assert (found.replayed, len(found.lines), proof.ok) == (True, 4, False)
    assert groups(replayed(content, found.lines), "status, awaited_role") == [("in_progress", None)]


def test_an_approval_by_who_built_the_group_is_none() -> None:
    content = small(status("developer", "FINE", next_agent="developer", action="spawn_merge", effect="approve"))
    found = only(prove(content, CODE, states=FEW), "approval")
    assert [json.loads(line)["args"].get("status") for line in found.lines[-2:]] == ["FINE", "MERGE_SUCCESS"]
    assert (found.replayed, found.message) == (True, "group A is completed, and its approval is by developer")
    assert groups(replayed(content, found.lines), "status") == [("completed",)]


CIRCLE = (
    status("developer", "SPAWN_INVESTIGATOR", next_agent="investigator", action="spawn"),
    status("investigator", "NEED_MORE", next_agent="requirements_engineer", action="spawn", effect="none"),
    status("requirements_engineer", "MORE", next_agent="investigator", action="spawn", effect="none"),
    status("requirements_engineer", "MERGE_SUCCESS", next_agent=None, action="check_phase"),
)


def test_a_circle_that_only_the_loop_guard_leaves_has_no_end() -> None:
    """Role by role there is a way out, by a merge; but nobody in the circle is ever told to merge."""
    content = small(*CIRCLE)
    found = only(prove(content, CODE), "no_end")
    assert (found.replayed, "SPAWN_INVESTIGATOR" in found.lines[-1]) == (True, True)
    assert groups(replayed(content, found.lines), "awaited_role") == [("investigator",)]


def test_a_role_all_of_whose_reports_are_refused_has_no_end() -> None:
    content = small(
        status("developer", "HAND_OVER", next_agent="requirements_engineer", action="spawn", effect="none"),
        status("requirements_engineer", "MERGE_SUCCESS", next_agent=None, action="check_phase"),
    )
    found = only(prove(content, CODE), "no_end")
    assert (found.replayed, "HAND_OVER" in found.lines[-1]) == (True, True)


def test_a_security_group_that_reaches_a_developer_through_a_fallback_is_found() -> None:
    content = small(
        lambda document: document["_special_rules"].pop("security_sensitive"),
        status(
            "tech_lead", "TO_SENIOR", next_agent="senior_software_engineer", action="spawn", effect="escalate",
            fallback_agent="developer",
        ),
    )  # fmt: skip
    without_senior = SECURITY._replace(session={"disabled_roles": ["senior_software_engineer"]})
    found = only(prove(content, without_senior), "security")
    assert found.replayed
    assert ("developer",) in groups(replayed(content, found.lines), "awaited_role")


def test_the_same_fallback_is_harmless_where_the_rule_stands() -> None:
    fallback = status(
        "tech_lead", "TO_SENIOR", next_agent="senior_software_engineer", action="spawn", effect="escalate",
        fallback_agent="developer",
    )  # fmt: skip
    without_senior = SECURITY._replace(session={"disabled_roles": ["senior_software_engineer"]})
    proof = prove(small(fallback), without_senior)
    assert [each for each in proof.counterexamples if each.invariant == "security"] == []


def test_a_fault_behind_a_limit_is_replayed_with_as_many_reports_as_the_limit_needs() -> None:
    """Only the escalation after two rejections leads to the senior engineer, whose status is the faulty one."""
    content = small(
        status("senior_software_engineer", "DONE", next_agent=None, action="validate_then_end", effect="none")
    )
    found = only(prove(content, CODE, states=3 * FEW), "stall")
    reported = [json.loads(line)["args"].get("status") for line in found.lines]
    assert (found.replayed, reported.count("CHANGES_REQUESTED")) == (True, 2)
    assert groups(replayed(content, found.lines), "awaited_role") == [(None,)]


def test_without_a_loop_guard_loops_are_found_and_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    look = Reader.opening

    def unvisited(*given: Any, **more: Any) -> Opening | None:
        found = look(*given, **more)
        return found and found._replace(visits=0)

    monkeypatch.setattr(Reader, "opening", unvisited)
    monkeypatch.setattr(Reader, "visits", lambda *given, **more: 0)
    found = only(prove(small(), CODE, states=FEW), "loop")
    assert found.replayed
    context = replayed(small(), found.lines)
    assert context.connection.execute("SELECT count(*) FROM questions").fetchone() == (0,)


def test_a_file_with_errors_is_refused_before_anything_is_searched() -> None:
    with pytest.raises(InvalidInput) as caught:
        prove(small(status("developer", "READY_FOR_QA", next_agent="nobody", action="spawn")), CODE)
    assert caught.value.code == "WORKFLOW_INVALID"


def test_the_answer_is_plain_json_with_the_shortest_counterexample_first() -> None:
    content = small(
        status("developer", "DONE", next_agent=None, action="validate_then_end", effect="none"),
        status("developer", "FINE", next_agent="developer", action="spawn_merge", effect="approve"),
    )
    answer = prove(content, CODE, states=FEW).answer()
    assert json.loads(json.dumps(answer)) == answer
    lengths = [len(each["lines"]) for each in answer["counterexamples"]]
    assert (lengths == sorted(lengths), len(lengths) > 1) == (True, True)


def test_a_counterexample_under_fewer_slots_loads_its_workflow_itself() -> None:
    content = small(status("developer", "DONE", next_agent=None, action="validate_then_end", effect="none"))
    found = only(model_check.prove(content, {}, settings=(TWO_OF_THREE._replace(reach=PLAIN),), states=200), "stall")
    assert json.loads(found.lines[0])["op"] == "workflow load"
    context = replayed(small(), found.lines)
    assert (None,) in groups(context, "awaited_role")


SHIPPED = (
    pytest.param(CODE._replace(reach=LEAN), id="code"),
    pytest.param(SECURITY._replace(reach=LEAN), id="security", marks=LONG),
    pytest.param(
        Setting("research", ({"id": "A", "kind": "research"},), reach=LEAN),
        id="research", marks=LONG,
    ),
)  # fmt: skip


@pytest.mark.parametrize("setting", SHIPPED)
def test_the_shipped_workflow_is_proven_for_one_group_and_a_small_alphabet(setting: Setting) -> None:
    proof = prove(shipped(), setting)
    assert (proof.counterexamples, proof.complete) == ((), True)
    assert proof.tried[LEAN]["tech_lead"][0] == "APPROVED"


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        pytest.param(TWO, id="two groups", marks=LONG),
        pytest.param(TWO._replace(session={"mode": "simple"}), id="one slot", marks=LONG),
    ],
)
def test_the_shipped_workflow_is_proven_for_two_groups_and_a_small_alphabet(setting: Setting) -> None:
    proof = prove(shipped(), setting, seconds=600)
    assert (proof.counterexamples, proof.complete) == ((), True)
    assert [*proof.tried] == [SMALL]


def test_the_small_alphabet_of_the_shipped_workflow() -> None:
    workflow = World(shipped(), {}).version.workflow
    assert possible_moves.tried(workflow, TWO) == {
        "developer": ["NEEDS_TECH_LEAD_VALIDATION", "BLOCKED", "MERGE_SUCCESS"],
        "investigator": ["EXHAUSTED"],
        "project_manager": ["RESUME_BLOCKED", "BAZINGA", "CONTINUE", "DEFER_EXTERNAL", "PLANNING_COMPLETE", "REWORK"],
        "qa_expert": ["FLAKY"],
        "requirements_engineer": ["READY_FOR_REVIEW", "BLOCKED"],
        "senior_software_engineer": ["NEEDS_TECH_LEAD_VALIDATION", "BLOCKED", "MERGE_SUCCESS"],
        "tech_lead": ["APPROVED", "UNBLOCKING_GUIDANCE"],
    }


@pytest.mark.slow
@pytest.mark.parametrize("setting", model_check.CONFIGURATIONS, ids=lambda setting: setting.name)
def test_nothing_is_found_in_the_first_states_of_any_configuration(setting: Setting) -> None:
    proof = model_check.prove(shipped(), {}, settings=(setting,), states=STATES)
    assert (proof.counterexamples, proof.states >= STATES) == ((), True)


@pytest.mark.parametrize(
    ("groups", "thorough", "expected"),
    [
        pytest.param((1,), False, {PLAIN}, id="one group, every meaning"),
        pytest.param((2, 3), False, {SMALL}, id="more groups, what stops or ends them"),
        pytest.param((1, 2), True, {SMALL, LEAN, PLAIN, WIDE}, id="thoroughly"),
    ],
)
def test_configurations_follow_what_is_asked_for(groups: tuple[int, ...], thorough: bool, expected: set[str]) -> None:
    chosen = list(model_check.configurations(groups, thorough))
    assert {setting.reach for setting in chosen} == expected
    assert {len(setting.groups) for setting in chosen} == set(groups)


def successors(world: World, search: Search, path: list[Move]) -> dict[str, object]:
    """What each move leads to from the end of a path: the key of a state, or the code of a refusal."""
    world.go(path)
    state = search_state.read(world)
    found: dict[str, object] = {}
    for move in list(possible_moves.moves(world, state, search.setting)):
        name = f"{move.limit} {move.op.line()}"
        found[name] = world.attempt(move)
        if found[name] is None:
            found[name] = search_state.key(search_state.read(world), search.alike)
            world.undo()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(
    "setting",
    [
        CODE,
        *(
            pytest.param(each, marks=LONG)
            for each in (SECURITY, Setting("research", ({"id": "A", "kind": "research"},)), ROW)
        ),
    ],
    ids=lambda setting: setting.name,
)
def test_two_ways_to_one_state_go_on_alike(setting: Setting) -> None:
    """The numbers of steps that a key leaves out change nothing of what follows."""
    world = World(shipped(), {})
    search = Search(world, setting)
    search.run(states=200, seconds=60)
    compared = 0
    for source, edges in list(search.edges.items())[::3]:
        for move, target in edges[::4]:
            if search.nodes[target].good or search.nodes[target].parent == source:
                continue
            other = successors(world, search, [*search.moves_to(source), move])
            assert successors(world, search, search.moves_to(target)) == other, move
            compared += 1
            if compared == 15:
                return
    assert compared > 10


def test_going_back_leaves_nothing() -> None:
    world = World(small(), {})
    search = Search(world, CODE)
    search.run(states=1, seconds=5)
    world.go(search.start)
    before = list(world.context.connection.iterdump())
    world.attempt(Move(sandbox.report("project_manager", "PLANNING_COMPLETE")))
    assert list(world.context.connection.iterdump()) != before
    world.undo()
    assert list(world.context.connection.iterdump()) == before


def test_a_refused_move_leaves_nothing_and_says_its_code() -> None:
    world = World(small(), {})
    Search(world, CODE).run(states=1, seconds=5)
    before = list(world.context.connection.iterdump())
    assert world.attempt(Move(sandbox.report("tech_lead", "APPROVED"))) == "UNKNOWN_GROUP"
    assert list(world.context.connection.iterdump()) == before


def test_counters_stand_where_a_move_says() -> None:
    world = World(small(), {})
    Search(world, CODE).run(states=1, seconds=5)
    limits = {BELOW: 0, BELOW._replace(band=1): 1, BELOW._replace(band=3): 5}
    found = {}
    for limit in limits:
        world.reader.limit = limit
        group = world.reader.group(sandbox.SESSION, "A")
        assert group is not None
        found[limit] = group.tl_review_attempts
    assert found == limits


def test_causes_name_who_reports_what_or_the_move_by_hand() -> None:
    by_hand = sandbox.Op("group set-status", {"id": "A", "status": "cancelled"})
    moves = [Move(sandbox.report("developer", "BLOCKED", "A")), Move(by_hand)]
    assert [state_search.cause_of(move) for move in moves] == ["developer BLOCKED", "group set-status cancelled"]


def test_the_counted_statement_is_the_one_that_the_loop_guard_reads() -> None:
    world = World(small(), {})
    world.reader.limit = BELOW._replace(rung=1)
    visits = world.version.workflow.rules.loop_max_visits
    assert world.reader.count(reader.STATUS_SETTINGS, session="S1", group="A", since=0) == visits - 1


def test_only_refusals_are_answers(monkeypatch: pytest.MonkeyPatch) -> None:
    """What breaks under a move is a counterexample too, not the end of the search."""
    from orchestrator.app.engine import state_changes

    def broken(*given: object, **more: object) -> None:
        raise RuntimeError("it broke")

    monkeypatch.setattr(state_changes, "open_blocker", broken)
    found = only(prove(small(), CODE), "crash")
    assert ("BLOCKED" in found.lines[-1], found.message, found.replayed) == (True, "RuntimeError: it broke", True)
    assert not issubclass(RuntimeError, OrchestratorError)
