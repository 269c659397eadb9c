"""Which commits reported ones cover; a history is written as `commit: parents`, the range's base is left out."""

from __future__ import annotations

from orchestrator.core import gated_commits
from tests.cases import every

CASES = [
    ("a", "", ""),
    ("a b:a", "b", "b"),
    ("a b:a", "a b", "a b"),
    # A merge that is reported covers what it brought, and not what lay beneath.
    ("x a b:a M:x,b", "M", "M a b"),
    ("x a b:a m:x,b", "m", "m a b"),
    # A merge of a reported tip, with nothing of its own.
    ("x a b:a m:x,b", "b", "m a b"),
    ("x a b:a M:x,b", "b", "b"),
    # Of a tip that is reported, only what its merge brought.
    ("x a:x b:a m:x,b", "b", "m a b"),
    ("x a:x b:a m:b,x", "b", "m b"),
    # What the base's branch brings into a branch.
    ("a m:a,base", "a", "a m"),
    ("a m:a,x x", "a", "a m"),
    # Three branches merged at once are believed only if that is reported.
    ("a b c M:a,b,c", "b c", "b c"),
    ("a b c M:a,b,c", "M", "M b c"),
    # One group's branch took in another's.
    ("a m:base,a b n:b,m o:m,n", "a n", "a m n b o"),
]


@every("history, reported, covered", CASES)
def test_what_reported_commits_cover(history: str, reported: str, covered: str) -> None:
    """A merge in small letters adds nothing of its own."""
    parts = (each.partition(":") for each in history.split())
    commits = {name: tuple(parents.split(",")) if parents else ("base",) for name, _, parents in parts}
    found = gated_commits.covered(commits, dict.fromkeys(reported.split(), "S1"), set(commits), str.islower)
    assert found.keys() == set(covered.split())


def test_a_commit_is_covered_by_the_session_that_reports_it() -> None:
    commits = {"m": ("base", "b"), "b": ("a",), "a": ("base",)}
    found = gated_commits.covered(commits, {"a": "S1", "b": "S2"}, {"a", "b"}, lambda merge: True)
    assert found == {"a": "S1", "b": "S2", "m": gated_commits.MERGES_ONLY}


def test_what_was_merely_said_to_be_merged_covers_nothing_beneath_it() -> None:
    """Anybody can merge it anew, onto what lies beneath the work of somebody else."""
    commits = {"m": ("base", "b"), "b": ("a",), "a": ("base",)}
    assert gated_commits.covered(commits, {"b": "S1"}, set(), lambda merge: True).keys() == {"b", "m"}
    assert gated_commits.covered(commits, {"m": "S1"}, set(), lambda merge: True).keys() == {"a", "b", "m"}
