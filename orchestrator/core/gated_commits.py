"""Which commits of a range the accepted work of sessions covers.

A commit is covered if a session reports it as merged. A reported merge covers all that it brought. So does a merge that
nobody reports, by a reported commit that was measured to be merged; one that was merely said to be covers itself alone,
since anybody can make a merge that brings what lies beneath it. A merge covers itself where it adds nothing of its own.
Nothing else is covered: what lies beneath a reported commit may be anybody's.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence, Set

Parents = Mapping[str, Sequence[str]]
"""The commits of a range with their parents, which may lie outside of it."""
MERGES_ONLY = "merges and adds nothing"


def covered(
    commits: Parents, reported: Mapping[str, str], measured: Set[str], adds_nothing: Callable[[str], bool]
) -> dict[str, str]:
    """The commits that are covered, and by what.

    Args:
        reported: whole ids of commits that sessions report as merged, and by which session that is.
        measured: those of them that were seen to be merged.
        adds_nothing: whether a merge of two commits holds what merging them gives, and no more.
    """
    found = {commit: by for commit, by in reported.items() if commit in commits}
    for merge, parents in commits.items():
        if len(parents) < 2:
            continue
        if merge in reported:
            _cover(found, _brought(commits, parents[1:], parents[:1]), reported[merge])
        elif adds_nothing(merge):
            found.setdefault(merge, MERGES_ONLY)
            for parent in parents[1:]:
                if parent in reported and parent in measured:
                    _cover(found, _brought(commits, [parent], parents[:1]), reported[parent])
    return found


def _cover(found: dict[str, str], commits: set[str], by: str) -> None:
    for commit in commits:
        found.setdefault(commit, by)


def _brought(commits: Parents, tips: Sequence[str], onto: Sequence[str]) -> set[str]:
    """What a merge of tips brings onto a commit."""
    return _history(commits, tips) - _history(commits, onto)


def _history(commits: Parents, tips: Sequence[str]) -> set[str]:
    found, waiting = set[str](), list(tips)
    while waiting:
        commit = waiting.pop()
        if commit in commits and commit not in found:
            found.add(commit)
            waiting += commits[commit]
    return found
