"""Runs from the queue to their start: their ids, and who may have a place and which locks."""

from __future__ import annotations

import platform
from typing import Any

import pytest

from orchestrator.app.kernel import operations
from orchestrator.app.running import run_queue, run_repository, start_run
from orchestrator.errors import UsageError
from tests.integration.app.track import CHAT, OTHER, OWNER, ROOT, WORK, Track, facts, in_state, track

__all__ = ["track"]


# Queueing


def test_a_run_is_queued_with_a_task_of_its_own(track: Track) -> None:
    run = track.run(track.queue("create  a.md\nand b.md", model="small"))
    assert (run.state, run.prompt, run.task_type, run.executor, run.provider, run.model, run.verification_root) == (
        "queued", "create  a.md\nand b.md", "IMPLEMENTATION", "fake", "claude-code", "small", ROOT,
    )  # fmt: skip
    assert (run.queued_by, run.retry_of, run.started_at, run.ended_at, run.owner) == ("system:runner", *[None] * 4)
    assert track.rows("SELECT title, description, type, status, group_id, created_by FROM tasks") == [
        ("create a.md and b.md", run.prompt, "IMPLEMENTATION", "todo", CHAT, "system:runner")
    ]
    assert track.log(run.id) == [("queued", run.prompt)]


def test_a_title_is_short(track: Track) -> None:
    track.queue("x" * 500)
    assert track.one("SELECT length(title) FROM tasks") == run_queue.TITLE


def test_a_run_of_a_task_that_exists_makes_no_other(track: Track) -> None:
    given = {"session_id": WORK, "group_id": "A", "title": "t", "assignee": "developer"}
    operations.call(track.context, "task create", id="T", **given)
    run = track.queue(session=WORK, task="T")
    assert track.rows("SELECT id FROM tasks") == [("T",)]
    track.start(run)
    assert track.rows("SELECT status, assignee FROM tasks") == [("in_progress", "developer")]


def test_outside_of_a_chat_the_task_is_named(track: Track) -> None:
    with pytest.raises(UsageError, match="no chat"):
        track.queue(session=WORK)
    assert track.rows("SELECT 1 FROM runs") == []


@pytest.mark.parametrize(
    ("given", "message"),
    [({"type": "PLAY"}, "no task type PLAY"), ({"type": ""}, "no task type"), ({"prompt": " \n"}, "something to do")],
    ids=["an unknown type", "no type", "nothing to do"],
)
def test_what_cannot_be_run_is_not_queued(track: Track, given: dict[str, str], message: str) -> None:
    before = track.everything()
    with pytest.raises(UsageError, match=message):
        track.queue(**given)
    assert track.everything() == before


@pytest.mark.parametrize(
    ("given", "code"),
    [
        ({"task": "T9"}, "UNKNOWN_TASK"),
        ({"by": "nobody"}, "UNKNOWN_AGENT"),
        ({"session": "C9"}, "UNKNOWN_SESSION"),
    ],
    ids=["an unknown task", "an unknown asker", "an unknown session"],
)
def test_a_run_of_what_is_not_there_is_refused(track: Track, given: dict[str, str], code: str) -> None:
    track.refused(lambda: track.queue(**given), code)


@pytest.mark.parametrize("state", ["queued", "running", "awaiting_response"])
def test_a_task_has_one_open_run_at_a_time(track: Track, state: str) -> None:
    run = track.queue()
    if state == "running":
        track.start(run)
    elif state == "awaiting_response":
        track.hold(run)
    task = track.run(run).task_id
    problem = track.refused(lambda: track.queue(task=task), "ILLEGAL_MOVE")
    assert f"{run} is {state}" in problem.message


@pytest.mark.parametrize("seen", ["complete", "cancelled"])
def test_a_closed_task_takes_no_further_run(track: Track, seen: str) -> None:
    run = track.ended(seen)
    task = track.run(run).task_id
    track.refused(lambda: track.queue(task=task), "ILLEGAL_MOVE")
    track.refused(lambda: track.again(run), "ILLEGAL_MOVE")


def test_nothing_is_queued_in_a_session_that_has_ended(track: Track) -> None:
    operations.call(track.context, "session end", id=CHAT, by="project_manager", reason="done")
    track.refused(track.queue, "SESSION_CLOSED")


def test_a_request_is_answered_once(track: Track) -> None:
    given = {"prompt": "create a.md", "task_type": "IMPLEMENTATION", "executor": "e", "provider": "p", "root": ROOT}
    first = operations.ask(track.context, run_queue.QueueRun(session_id=CHAT, request_id="r1", **given))
    again = operations.ask(track.context, run_queue.QueueRun(session_id=CHAT, request_id="r1", **given))
    assert again == {**first, "repeated": True}
    assert track.one("SELECT count(*) FROM runs") == 1


# Ids


class Still:
    """A clock that shows the same moment all the time."""

    def __call__(self) -> str:
        return "2026-01-01T00:00:00.000500Z"


def test_ids_are_unique_within_one_millisecond_and_across_sessions(track: Track) -> None:
    track.context.clock = Still()
    made = [track.queue(session=session) for session in (CHAT, CHAT, OTHER, CHAT, OTHER, OTHER)]
    first = 1767225600000
    assert made == [f"task-{first + number}" for number in range(6)]
    logs = [(run.session_id, run.log_id) for run in map(track.run, made)]
    assert logs == [
        (CHAT, "task-001"), (CHAT, "task-002"), (OTHER, "task-001"), (CHAT, "task-003"), (OTHER, "task-002"),
        (OTHER, "task-003"),
    ]  # fmt: skip


def test_ids_grow_although_the_clock_goes_back(track: Track) -> None:
    first = track.queue()
    track.clock.seconds = 10
    second = track.queue()
    track.clock.seconds = 5000
    third = track.queue(session=OTHER)
    numbers = [int(each.removeprefix("task-")) for each in (first, second, third)]
    assert (numbers[1] - numbers[0], numbers[2] > numbers[1]) == (1, True)


def test_the_thousandth_run_follows_the_one_before(track: Track) -> None:
    """Ids of the log are counted, not ordered by their letters."""
    track.queue()
    last = track.one("SELECT log_id FROM runs")
    assert last == "task-001"
    assert [f"task-{run_repository._number(each) + 1:03d}" for each in (last, "task-999", "task-1000")] == [
        "task-002", "task-1000", "task-1001",
    ]  # fmt: skip


def test_either_id_names_a_run(track: Track) -> None:
    run = track.queue()
    operations.ask(track.context, run_queue.CancelRun(session_id=CHAT, id="task-001", reason="no need"))
    assert track.state(run) == ["cancelled"]


def test_an_unknown_id_is_refused_with_the_nearest(track: Track) -> None:
    run = track.queue()
    wrong = f"{run[:-1]}x"
    calls = (
        lambda: operations.ask(track.context, run_queue.CancelRun(session_id=CHAT, id=wrong, reason="r")),
        lambda: operations.ask(track.context, run_queue.RetryRun(session_id=CHAT, id=wrong)),
        lambda: operations.ask(track.context, run_queue.EndUnanswered(session_id=CHAT, id=wrong)),
        lambda: operations.ask(
            track.context, run_queue.CancelRun(session_id=OTHER, id=run, reason="of another session")
        ),
        lambda: start_run.abandon(track.context, session_id=CHAT, id=wrong, owner=OWNER),
        lambda: operations.ask(
            track.context, start_run.StartRun(session_id=CHAT, id=wrong, owner=OWNER, capacity=1, locks=())
        ),
    )
    found = [track.refused(call, "UNKNOWN_ID") for call in calls]
    assert (found[0].data["kind"], found[0].data["did_you_mean"]) == ("run", run)


# Starting


def test_a_started_run_has_an_owner_and_its_task_is_in_progress(track: Track) -> None:
    run = track.queue()
    track.start(run, locks=((f"{ROOT}/b", "read"), (f"{ROOT}/a", "write")))
    known = track.run(run)
    assert (known.state, known.owner, known.started_at, track.task(run)) == (
        "running", OWNER, known.state_changed_at, "in_progress",
    )  # fmt: skip
    assert track.held() == [(CHAT, run, f"{ROOT}/a", "write"), (CHAT, run, f"{ROOT}/b", "read")]
    assert [each.id for each in start_run.running(track.context)] == [run]


@pytest.mark.parametrize("capacity", [1, 2, 4])
def test_no_more_run_than_there_are_places_in_all_sessions(track: Track, capacity: int) -> None:
    made = [track.queue("read", "READ_INFO", session=(CHAT, OTHER)[number % 2]) for number in range(capacity + 1)]
    for run in made[:-1]:
        track.start(run, capacity=capacity, locks=((ROOT, "read"),))
    assert start_run.conflict(track.context, track.run(made[-1]), capacity, OWNER) == "E404"
    # Each machine has places of its own.
    assert start_run.conflict(track.context, track.run(made[-1]), capacity, "another:7:1") is None
    problem = track.refused(lambda: track.start(made[-1], capacity=capacity, locks=()), "E404")
    assert sorted(problem.data["running"]) == made[:-1]
    track.finish(made[0], facts("READ_INFO", output="An answer."))
    assert start_run.conflict(track.context, track.run(made[-1]), capacity, OWNER) is None
    track.start(made[-1], capacity=capacity, locks=())
    late = track.queue("read", "READ_INFO", session=CHAT)
    track.start(late, capacity=1, locks=((ROOT, "read"),), owner="another:7:1")
    track.told_again()


@pytest.mark.parametrize("session", [CHAT, OTHER])
@pytest.mark.parametrize(
    ("held", "wanted", "free"),
    [("read", "read", True), ("read", "write", False), ("write", "read", False), ("write", "write", False)],
)
def test_a_file_has_many_readers_or_one_writer(track: Track, session: str, held: str, wanted: str, free: bool) -> None:
    first, second = track.queue(), track.queue(session=session)
    track.start(first, locks=((ROOT, held),))
    locks = (("/elsewhere", "write"), (ROOT, wanted))
    if not free:
        problem = track.refused(lambda: track.start(second, locks=locks), "E401")
        assert (problem.data["paths"], problem.data["holders"]) == (["/elsewhere", ROOT], [first])
        assert len(track.held()) == 1
        track.finish(first)
    track.start(second, locks=locks)
    assert (ROOT, wanted) in [row[2:] for row in track.held()]


def wait(track: Track, run: str, owner: str) -> None:
    operations.ask(track.context, start_run.AwaitStart(session_id=track.run(run).session_id, id=run, owner=owner))


def conflicts(track: Track, *runs: str, capacity: int = 4) -> list[str | None]:
    return [start_run.conflict(track.context, track.run(run), capacity, OWNER) for run in runs]


def chat(track: Track, id: str) -> str:
    """A further chat."""
    operations.call(track.context, "session create", id=id, kind="chat")
    return id


def test_p21_of_a_session_one_run_is_executed_at_a_time_also_where_all_only_read(track: Track) -> None:
    """Its evidence is one index."""
    first, second = (track.queue("what is it?", "READ_INFO") for _ in range(2))
    elsewhere = track.queue("what is it?", "READ_INFO", session=OTHER)
    track.start(first, locks=start_run.wants(track.context, track.run(first)))
    assert conflicts(track, second, elsewhere) == ["E401", None]


def test_p5_who_waits_longer_is_served_first(track: Track) -> None:
    """Source: seed 001, Properties 5 and 12."""
    held, late, early = track.queue(), track.queue(session=OTHER), track.queue(session=chat(track, "early"))
    asks = track.queue("what is it?", "READ_INFO", session=chat(track, "asks"))
    reads = track.queue(root="/elsewhere", session=chat(track, "reads"))
    track.start(held)
    for run in (early, late, asks):
        wait(track, run, OWNER)
    assert conflicts(track, early, late, asks, reads) == ["E401", "E401", "E401", None]
    track.finish(held)
    assert conflicts(track, early, late, asks, reads) == [None, "E401", "E401", None]
    track.start(early)
    track.finish(early)
    assert conflicts(track, late, asks) == [None, "E401"]


def test_two_servers_that_wait_for_one_run_are_one_that_waits(track: Track) -> None:
    held, waits, late = track.queue(), track.queue(session=OTHER), track.queue(session=chat(track, "late"))
    track.start(held)
    wait(track, waits, OWNER)
    wait(track, waits, f"{OWNER}1")
    assert conflicts(track, waits, late) == ["E401", "E401"]
    track.finish(held)
    assert conflicts(track, waits, late) == [None, "E401"]


def test_p5_a_place_goes_to_who_can_use_it(track: Track) -> None:
    held, blocked = track.queue(), track.queue(session=OTHER)
    other = track.queue(root="/elsewhere", session=chat(track, "other"))
    track.start(held)
    wait(track, blocked, OWNER)
    assert conflicts(track, blocked, other, capacity=2) == ["E401", None]
    third, fourth = (track.queue(root=f"/{name}", session=chat(track, name)) for name in ("third", "fourth"))
    wait(track, third, OWNER)
    assert conflicts(track, third, fourth, capacity=2) == [None, "E404"]


def test_p9_who_waited_and_is_gone_stands_in_nobodys_way(track: Track) -> None:
    gone, run = track.queue(), track.queue()
    wait(track, gone, f"{platform.node() or 'localhost'}:999999999:1")
    assert conflicts(track, run) == [None]


def test_p5_an_answered_run_does_not_wait_before_it_is_taken_up(track: Track) -> None:
    run, other = track.queue(), track.queue()
    wait(track, run, OWNER)
    track.start(run)
    track.finish(run, "asks")
    track.answer(str(track.run(run).question_id), "continue", "this")
    assert (track.state(run), conflicts(track, other)) == (["queued"], [None])


@pytest.mark.parametrize("state", ["running", "complete"])
def test_only_what_is_queued_is_waited_for(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: wait(track, run, OWNER), "ILLEGAL_MOVE")


@pytest.mark.parametrize(
    "locks", [((ROOT, "write"), (ROOT, "read")), ((ROOT, "write"), (ROOT, "write")), ((ROOT, "both"),)],
    ids=["a path in two modes", "a path twice", "an unknown mode"],
)
def test_locks_that_cannot_be_asked_for_are_refused(track: Track, locks: Any) -> None:
    run = track.queue()
    track.refused(lambda: track.start(run, locks=locks), "E402")


@pytest.mark.parametrize(
    ("held", "wanted", "free"),
    [
        ("/p", "/p/sub", False),
        ("/p/sub", "/p", False),
        ("/p/", "/p", False),
        ("/", "/p", False),
        ("/p", "/pq", True),
        ("/p/a", "/p/b", True),
    ],
)
def test_p6_a_folder_is_locked_with_what_lies_below(track: Track, held: str, wanted: str, free: bool) -> None:
    track.start(track.queue(), locks=((held, "write"),))
    second = track.queue(session=OTHER)
    if free:
        track.start(second, locks=((wanted, "read"),))
    else:
        track.refused(lambda: track.start(second, locks=((wanted, "read"),)), "E401")


@pytest.mark.parametrize("seen", ["complete", "incomplete", "error", "asks", "cancelled", "timeout"])
def test_locks_are_released_in_reverse_when_a_run_stops(track: Track, seen: str) -> None:
    run = track.queue()
    track.start(run, locks=tuple((f"{ROOT}/{name}", "write") for name in "cab"))
    track.finish(run, seen)
    assert track.held() == []
    seqs = track.rows("SELECT path, released_seq, released_at FROM run_locks ORDER BY path")
    ended = (track.run(run).state_seq, track.run(run).state_changed_at)
    assert seqs == [(f"{ROOT}/{name}", *ended) for name in "abc"]


@pytest.mark.parametrize("state", ["running", "awaiting_response", "complete", "incomplete", "error", "cancelled"])
def test_what_is_not_queued_is_not_started(track: Track, state: str) -> None:
    run = in_state(track, state)
    track.refused(lambda: track.start(run, locks=()), "ILLEGAL_MOVE")
    track.refused(lambda: track.hold(run), "ILLEGAL_MOVE")


def test_what_waits_for_another_task_is_not_started(track: Track) -> None:
    for name, on in (("T1", ()), ("T2", ("T1",))):
        given = {"session_id": WORK, "group_id": "A", "title": name, "depends_on": on}
        operations.call(track.context, "task create", id=name, **given)
    run = track.queue(session=WORK, task="T2")
    track.refused(lambda: track.start(run), "DEPENDENCIES_OPEN")
    first = track.queue(session=WORK, task="T1")
    track.start(first)
    track.finish(first)
    track.start(run)
    assert track.task(run) == "in_progress"


def test_the_runner_has_as_many_tasks_as_places(track: Track) -> None:
    for run in [track.queue(session=session) for session in (CHAT, OTHER, CHAT)]:
        track.start(run, locks=())
    assert track.rows("SELECT DISTINCT assignee, status FROM tasks") == [("system:runner", "in_progress")]


# Choosing


def test_every_choice_of_a_provider_or_model_is_evidence(track: Track) -> None:
    for provider, model in (("openai", "m1"), ("openai", "m2"), ("claude-code", None), ("claude-code", None)):
        track.choose(provider, model)
    track.choose("anthropic", "m9", OTHER)
    found = track.rows("SELECT subject, content FROM evidence WHERE kind = 'choice' AND session_id = ?", CHAT)
    assert found == [
        ("provider", '{"from":null,"to":"openai"}'),
        ("model", '{"from":null,"to":"m1"}'),
        ("model", '{"from":"m1","to":"m2"}'),
        ("provider", '{"from":"openai","to":"claude-code"}'),
        ("model", '{"from":"m2","to":null}'),
    ]


# Two sessions


def test_a_session_is_told_again_without_the_one_that_stood_in_its_way(track: Track) -> None:
    """The track tells each session alone at the end, refusals by places, locks and ids of others included."""
    other = track.queue(session=OTHER)
    track.start(other)
    mine = track.queue()
    track.refused(lambda: track.start(mine), "E401")
    track.refused(lambda: track.start(mine, capacity=1, locks=()), "E404")
    track.finish(other)
    track.start(mine)
    track.finish(mine)
    assert track.state(mine, other) == ["complete", "complete"]
