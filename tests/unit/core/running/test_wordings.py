"""P8, P31: whatever words stand around them, what a task mentions decides whether its run is complete."""

from __future__ import annotations

import functools
from typing import Any

import pytest

from orchestrator.core import task_types
from orchestrator.core.running import judgement, mention_outcomes, mentions, types
from orchestrator.core.running.facts import Facts, File, Verdict
from orchestrator.core.running.file_names import Tree
from tests.cases import every
from tests.unit.core.running import order_wordings, wordings

STRICT = [*wordings.ENGLISH, *wordings.JAPANESE, *wordings.FURTHER, *wordings.GUESSED]
EVERY = [*STRICT, *wordings.LOOSE]
KNOWN = [*wordings.ENGLISH, *wordings.JAPANESE, *wordings.FURTHER, *wordings.LOOSE]
BEFORE = Tree(wordings.FILES, wordings.FOLDERS)


@functools.cache
def read(text: str) -> tuple[types.Settled, tuple[mention_outcomes.Mention, ...]]:
    """The type of a task and what counts of what it mentions."""
    settled = types.settle(None, text, BEFORE)
    return settled, mentions.of_type(mentions.find(text, BEFORE), settled.type, guessed=settled.guessed)


def verdict(text: str, done: str, tests: str | None = "passed") -> Verdict:
    """The verdict on a task after what was done, by the same calls as a run makes them."""
    settled, found = read(text)
    gone = {path[1:] for path in done.split("|") if path.startswith("-")}
    made = {path for path in done.split("|") if path and not path.startswith("-")}
    touched = {path: "deleted" for path in gone if not path.endswith("/")}
    touched |= {path: "changed" if path in BEFORE.files else "new" for path in made if not path.endswith("/")}
    parents = {path.rpartition("/")[0] for path in touched if "/" in path and touched[path] == "new"}
    folders = (set(BEFORE.folders) | parents | {path[:-1] for path in made if path.endswith("/")}) - {
        path[:-1] for path in gone if path.endswith("/")
    }
    after = Tree((set(BEFORE.files) | {path for path in made if not path.endswith("/")}) - gone, folders)
    came = mention_outcomes.judged(
        found, after, touched, unnamed=mentions.deletes(text), files=mentions.deletes_files(text),
        made=folders - set(BEFORE.folders),
    )  # fmt: skip
    known: dict[str, Any] = {
        "ordered_deletions": came.deleted, "targets_unmet": came.unmet, "stray": came.stray, "unnamed": came.unnamed,
        "untouched": came.untouched, "unmentioned": came.unmentioned if found else (), "folders": came.folders,
        "settled": came.settled, "absent": came.absent,
    }  # fmt: skip
    files = tuple(File(path, True) for path, change in sorted(touched.items()) if change != "deleted")
    return judgement.judge(Facts(
        settled.type, "COMPLETE", "done", session="s", issued_session="s", verified=files, guessed=settled.guessed,
        tests_required=False, tests=tests, tests_ordered=mentions.orders_passing(text), **known,
    ))  # fmt: skip


def paths(right: str) -> str:
    """The paths of a row, of which some have blanks."""
    if right.startswith("|"):
        return right[1:]
    for name in ("my plan.md", "my notes.md"):
        if right == name:
            return name
    return right.replace(" ", "|")


@every(("text", "right"), EVERY, ids=[text for text, _ in EVERY])
def test_p8_whoever_does_what_was_ordered_is_complete(text: str, right: str) -> None:
    assert verdict(text, paths(right)).executor_status == "COMPLETE", verdict(text, paths(right)).why


@every(("text", "right"), STRICT, ids=[text for text, _ in STRICT])
def test_p8_whoever_does_something_else_is_not(text: str, right: str) -> None:
    for other in ("other.txt", "src/other.py", "-src/keep2.py"):
        found = verdict(text, other)
        assert found.executor_status != "COMPLETE", (other, mentions.find(text, BEFORE))
        named = other.lstrip("-")
        assert named in found.why or "delete" in found.why, found.why


@every(("text", "right"), KNOWN, ids=[text for text, _ in KNOWN])
def test_p8_whoever_does_nothing_is_not(text: str, right: str) -> None:
    found = verdict(text, "")
    assert found.executor_status != "COMPLETE", read(text)[0]
    assert "No file changed." in found.why or read(text)[0].type == task_types.REPORT


@pytest.mark.parametrize(("text", "right"), wordings.GUESSED, ids=[text for text, _ in wordings.GUESSED])
def test_p8_an_answer_to_a_guessed_type_names_what_it_did_not_touch(text: str, right: str) -> None:
    found = verdict(text, "")
    assert (read(text)[0], found.executor_status) == (types.Settled("READ_INFO", True), "COMPLETE")
    assert "Mentioned and not touched: " in found.why, found.why


@pytest.mark.parametrize(("text", "done"), wordings.FORBIDDEN, ids=[text for text, _ in wordings.FORBIDDEN])
def test_p8_whoever_does_what_is_forbidden_is_not(text: str, done: str) -> None:
    found = verdict(text, paths(done))
    assert (found.executor_status, "which the task forbids" in found.why) == ("INCOMPLETE", True), found.why


@pytest.mark.parametrize(("text", "done"), wordings.WRONG, ids=[text for text, _ in wordings.WRONG])
def test_p8_whoever_does_something_near_by_is_not(text: str, done: str) -> None:
    assert verdict(text, paths(done)).executor_status != "COMPLETE", read(text)


ALONE = [
    (text, right) for text, right in STRICT
    if right.lstrip("-") in BEFORE.files and not any(word in text for word in ("temporary", "一時"))
]  # fmt: skip


@every(("text", "right"), ALONE, ids=[text for text, _ in ALONE])
def test_p8_whoever_deletes_instead_of_changing_or_changes_instead_of_deleting_is_not(text: str, right: str) -> None:
    wrong = right[1:] if right.startswith("-") else f"-{right}"
    assert verdict(text, wrong).executor_status != "COMPLETE", read(text)[1]


@every(("text", "right"), STRICT, ids=[text for text, _ in STRICT])
def test_p8_what_was_done_beyond_is_named(text: str, right: str) -> None:
    found = verdict(text, f"{paths(right)}|other.txt|-src/keep2.py")
    if "src/keep2.py" in right:
        return
    assert "Touched and not mentioned: other.txt." in found.why, found.why
    assert "Deleted and not ordered: src/keep2.py." in found.why, found.why
    complete = read(text)[0].type != task_types.DANGEROUS_OP
    assert (found.executor_status == "COMPLETE") == complete


ORDERS = [(text, right, wrong) for texts, right, wrong in order_wordings.ORDERS for text in texts]


@every(("text", "right", "wrong"), ORDERS, ids=[text for text, _, _ in ORDERS])
def test_p8_an_order_is_complete_only_by_what_it_says(text: str, right: list[str], wrong: list[str]) -> None:
    for done in right:
        assert verdict(text, done).executor_status == "COMPLETE", (done, verdict(text, done).why, read(text)[1])
    others = [each for each in ("other.txt", "src/other.py", "-src/keep2.py", "") if each not in right]
    for done in (*wrong, *others):
        assert verdict(text, done).executor_status != "COMPLETE", (done, verdict(text, done).why, read(text)[1])


@every("text", ["unless config.yaml exists, create it", "config.yamlがなければ作成して"])
def test_p8_nothing_is_left_to_do_where_a_file_is_only_wanted_if_it_is_missing(text: str) -> None:
    assert verdict(text, "").why == "config.yaml was there already, so nothing was to be done."
    found = verdict(text, "other.txt")
    assert "config.yaml was there already, so that nothing was to be changed" in found.why, found.why


@every("text", ["delete gone.txt if it exists", "gone.txtがあれば削除して"])
def test_p8_a_file_that_is_only_to_go_if_it_is_there_is_said_not_to_be(text: str) -> None:
    found = verdict(text, "")
    assert (found.executor_status, "gone.txt was not there" in found.why) == ("NO_EVIDENCE", True), found.why


@every("text", ["move *.sql to sql/", "move all backups to sql/"])
def test_p8_a_new_folder_is_no_move_of_files_that_are_not_there(text: str) -> None:
    found = verdict(text, "sql/")
    assert (found.executor_status, "was not moved" in found.why) == ("INCOMPLETE", True), found.why


LUMPED = (
    "split", "merge", "archive", "アーカイブ", "except", "logs", "log files", "ログ", "empty", "in build", "in the",
    " or ",
)  # fmt: skip
"""Of what these mean nobody can tell how much was wanted."""
SEVERAL = [
    (text, right) for text, right in STRICT
    if len(paths(right).split("|")) > 1 and "/" not in right and not any(word in text for word in LUMPED)
]  # fmt: skip


@every(("text", "right"), SEVERAL, ids=[text for text, _ in SEVERAL])
def test_p8_one_of_several_is_not_all_or_the_other_is_named(text: str, right: str) -> None:
    for path in paths(right).split("|"):
        rest = "|".join(each for each in paths(right).split("|") if each != path)
        found = verdict(text, rest)
        named = path in BEFORE.files and f"Mentioned and not touched: {path}." in found.why
        assert found.executor_status != "COMPLETE" or named, rest


def test_there_are_wordings_enough() -> None:
    assert (len(STRICT) >= 200, len(wordings.JAPANESE) >= 60) == (True, True)


def test_p8_what_is_mentioned_for_a_change_is_not_ordered_to_go() -> None:
    found = verdict("delete old.txt and update a.md", "-old.txt|-a.md")
    assert "Deleted and not ordered: a.md." in found.why


@every("text", wordings.PASSING, ids=wordings.PASSING)
def test_p8_tests_that_are_ordered_to_pass_are_the_evidence(text: str) -> None:
    done = "core.py|README.md"
    assert [verdict(text, done, tests).executor_status for tests in ("passed", "failed", None, "none")] == [
        "COMPLETE", "INCOMPLETE", "NO_EVIDENCE", "NO_EVIDENCE"
    ]  # fmt: skip
    assert verdict(text, "").executor_status == "NO_EVIDENCE"


@every("text", wordings.NOT_PASSING, ids=wordings.NOT_PASSING)
def test_p8_who_only_speaks_of_tests_orders_none_to_pass(text: str) -> None:
    assert not mentions.orders_passing(text)


@every("text", ["delete all log files", "remove every log file.", "ログファイルを全部消して"])
def test_p8_each_file_of_a_kind_has_to_go_where_all_are_meant(text: str) -> None:
    assert verdict(text, "-app.log|-error.log").executor_status == "COMPLETE"
    assert verdict(text, "-app.log").executor_status != "COMPLETE"
    assert verdict("delete the old log files", "-app.log").executor_status == "COMPLETE"
    assert verdict("delete all log files older than a week", "-app.log").executor_status == "COMPLETE"


@every("text", ["delete the markdown files", "Markdownファイルを削除して"])
def test_p8_files_of_a_kind_are_known_by_its_name(text: str) -> None:
    assert verdict(text, "-a.md|-b.md").executor_status == "COMPLETE"
    assert verdict(text, "-src/keep2.py").executor_status != "COMPLETE"
