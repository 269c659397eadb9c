"""P25: a summary unless all is asked for, always masked; and the tree of threads, runs and tasks."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import visibility
from orchestrator.core.running.visibility import Entry, Logged
from orchestrator.errors import Refused

ENTRIES = [
    Entry("1", "user", "summary", "hello"),
    Entry("2", "executor", "full", "output"),
    Entry("3", "runner", "summary", "done SECRET"),
]


def mask(text: str) -> str:
    if "BROKEN" in text:
        raise RuntimeError("no mask")
    return text.replace("SECRET", "[MASKED]")


@pytest.mark.parametrize(
    ("asked", "expected"),
    [
        ("summary", "summary"), ("full", "full"), ("verbose", "summary"), ("FULL", "summary"), (None, "summary"),
        (True, "summary"), ("", "summary"),
    ],
)  # fmt: skip
def test_p25_an_unknown_level_means_summary(asked: object, expected: str) -> None:
    assert visibility.level(asked) == expected


@pytest.mark.parametrize(("asked", "times"), [("summary", "13"), ("full", "123"), ("verbose", "13")])
def test_p25_each_level_shows_its_entries(asked: str, times: str) -> None:
    assert "".join(entry.at for entry in visibility.shown(ENTRIES, asked, mask)) == times


def test_p25_every_level_is_masked_and_the_record_is_not_altered() -> None:
    shown = visibility.shown(ENTRIES, "full", mask)
    assert (shown[-1].text, ENTRIES[-1].text) == ("done [MASKED]", "done SECRET")


def test_p25_an_entry_that_cannot_be_masked_is_hidden() -> None:
    broken = Entry("4", "runner", "summary", "BROKEN SECRET")
    assert visibility.shown([*ENTRIES, broken], "full", mask)[-1].at == "3"


def test_p25_a_secret_that_survives_its_masking_is_an_error() -> None:
    with pytest.raises(Refused) as problem:
        visibility.shown(ENTRIES, "summary", lambda text: text[1:] if "SECRET" in text else text)
    assert problem.value.code == "MASKING_FAILED"


TASKS = [
    Logged("s1", "r1", "t1", None, "complete", "Create\nREADME.md"),
    Logged("s1", "r1", "t2", "t1", "error", "SECRET"),
    Logged("s1", "r1", "t3", "t2", "awaiting_response", "BROKEN"),
    Logged("s1", "r1", "t4", "t1", "cancelled"),
    Logged("s1", "r2", "t5", "t1", "queued"),
    Logged("s2", "r3", "t6", "t7", "running"),
    Logged("s2", "r3", "t7", "t6", "running"),
    Logged("s2", "r3", "t8", "t7", "running"),
]


def test_p25_the_tree_shows_threads_runs_and_tasks_below_their_parents() -> None:
    assert visibility.lines(visibility.tree(TASKS), mask) == [
        "thread s1",
        "├─ run r1",
        "│  └─ task t1 [COMPLETE] Create README.md",
        "│     ├─ task t2 [ERROR] [MASKED]",
        "│     │  └─ task t3 [AWAITING_RESPONSE]",
        "│     └─ task t4 [CANCELLED]",
        "└─ run r2",
        "   └─ task t5 [QUEUED]",
        "thread s2",
        "└─ run r3",
        "   ├─ task t6 [RUNNING]",
        "   └─ task t7 [RUNNING]",
        "      └─ task t8 [RUNNING]",
    ]


def test_p25_no_tasks_give_no_tree() -> None:
    assert visibility.lines(visibility.tree([]), mask) == []


names = st.sampled_from("abcdef")
logged = st.lists(
    st.builds(
        Logged,
        st.sampled_from("xy"),
        st.sampled_from("12"),
        names,
        st.none() | names,
        st.just("queued"),
        st.just(""),
    ),
    unique_by=lambda task: (task.thread, task.run, task.task),
    max_size=10,
)


@given(logged)
def test_p25_the_tree_shows_every_task_once_whatever_its_parents(tasks: list[Logged]) -> None:
    lines = visibility.lines(visibility.tree(tasks), mask)
    assert sum(line.endswith("[QUEUED]") for line in lines) == len(tasks)


@given(st.lists(st.builds(Entry, st.just("1"), st.just("k"), st.sampled_from(["summary", "full", "odd"]), st.text())))
def test_p25_a_summary_shows_no_more_than_all(entries: list[Entry]) -> None:
    brief = visibility.shown(entries, "odd", mask)
    assert [entry for entry in visibility.shown(entries, "full", mask) if entry.level == "summary"] == brief
