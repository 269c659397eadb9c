"""Where agents work: a worktree for each group, and one for the session, into which groups are merged.

A builder's changes are committed by the driver; what somebody else writes is undone and named. The branch, the index
and the files that the user has checked out are never touched, except by `--land` after ACCEPT.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterable

from orchestrator.core import project_settings, refs
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.routing.facts import BUILDERS, QA
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.runner import repository
from orchestrator.store.queries import Row

NONE, WORKTREE = "none", "worktree"
Tell = Callable[..., None]
"""Takes the name of an event of the driver, and what belongs to it by name."""
MERGE_ACTION = "spawn_merge"
MERGED = "merge"
"""The effect of a report that says that a group is merged."""
SUBMITTED = ("submit_test", "submit_review")
"""The effects of reports that hand work on."""
UNCHANGED, NOTHING = "NOTHING_CHANGED", "nothing_to_merge"
COMMITS = (*BUILDERS, QA)
"""The roles whose changes are committed."""


def usual(root: str) -> str:
    """The isolation where none is asked for: worktrees in a git repository that has a commit."""
    return WORKTREE if repository.is_top(root) and repository.head(root) else NONE


class Tree(NamedTuple):
    """The folder of one turn, as it was when the turn began.

    branch, begun: what is checked out in it. note: what its agent is told of it besides the hand-off.
    """

    root: str
    session: str
    group: str | None
    role: str
    turn: int
    path: str
    branch: str
    begun: str
    merges: bool
    note: str = ""


def prepare(root: str, start: Row, action: str | None, tell: Tell) -> Tree:
    """Have the worktree of a turn ready; that of a merge has what is merged already in it.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    session, group = start["session_id"], start["group_id"]
    whole = os.path.join(root, refs.folder(session))
    repository.worktree(root, whole, refs.branch(session), "HEAD")
    if group is None:
        path, branch = whole, refs.branch(session)
    else:
        path, branch = os.path.join(root, refs.folder(session, group)), refs.branch(session, group)
        # From the integration branch: a group that begins later builds on what other groups have merged.
        repository.worktree(root, path, branch, refs.branch(session))
    merges, note = action == MERGE_ACTION and group is not None, ""
    if merges:
        _follow_base(root, whole, tell)
        note = _bring_in(path, session, start)
    begun = repository.tip(path)
    return Tree(root, session, group, start["role"], start["turn"], path, branch, begun, merges, note)


def _follow_base(root: str, whole: str, tell: Tell) -> None:
    """Merge into the integration branch what the user's branch has got meanwhile."""
    base = repository.head(root)
    if base is None or repository.contains(whole, "HEAD", base):
        return
    if repository.merge(whole, base, "Merge what the base has got meanwhile"):
        repository.must(whole, "merge", "--abort")
        tell("warning", reason="the checked-out branch has moved on and conflicts with the work; it was not merged")


def _bring_in(path: str, session: str, start: Row) -> str:
    """Merge the integration branch into the group's; what its agent is told of it."""
    if not repository.is_merging(path):
        left = repository.changed(path)
        if left:
            repository.commit(path, f"Keep what was left of {start['group_id']}", _author(start["role"]))
        message = f"Merge {refs.branch(session)} into {start['group_id']}"
        if not repository.merge(path, refs.branch(session), message):
            return (
                f"The integration branch `{refs.branch(session)}` is already merged into this folder, without"
                f" conflicts. Check that everything still works here, then report; the rest of the merge is done for"
                f" you."
            )
    files = ", ".join(repository.conflicts(path)) or "none is left"
    return (
        f"Merging the integration branch `{refs.branch(session)}` into this folder has conflicts: {files}. Resolve them"
        " in the files, check that everything works, and report. Do not commit; that is done for you."
    )


def alone(root: str, session: str) -> contextlib.AbstractContextManager[None]:
    """Let one driver at a time see to what was left in the trees of a session."""
    folder = os.path.dirname(os.path.join(root, refs.folder(session)))
    return repository.alone(folder) if os.path.isdir(folder) else contextlib.nullcontext()


def left_by(root: str, start: Row, begun: str | None) -> Tree | None:
    """The tree of a start whose agent was killed in it, where it has left anything there.

    Args:
        begun: what was checked out when the agent began, where that is known.
    """
    session, group = start["session_id"], start["group_id"]
    path = os.path.join(root, refs.folder(session, group))
    if not os.path.lexists(os.path.join(path, ".git")):
        return None
    tip, branch = repository.tip(path), refs.branch(session, group)
    if begun is None or repository.commit_of(path, begun) is None or (
        # Into the branch of the session other drivers may have merged meanwhile.
        group is None and repository.has_merges(path, begun)
    ):
        begun = tip
    if tip == begun and repository.branch_of(path) == branch and not repository.changed(path):
        return None
    merges = repository.is_merging(path)
    return Tree(root, session, group, start["role"], start["turn"], path, branch, begun, merges)


def commits(tree: Tree) -> bool:
    """Whether what its agent changes in a tree is committed; else it is undone."""
    return tree.role in COMMITS and tree.group is not None


def finish(tree: Tree, tell: Tell, *, settings_changed: bool = True) -> None:
    """Keep what a turn's agent may write, and undo what it may not.

    Args:
        settings_changed: whether the agent may have changed the project's settings in its tree.

    Raises:
        EnvironmentProblem: GIT_FAILED, such as by a hook of the repository. Refused: MERGE_UNPROVEN, the agent has left
            its branch for one that does not hold it.
    """
    if commits(tree):
        # A commit now would put conflict markers into the branch; the merge stays open, and `prove` refuses the
        # report.
        if tree.merges and repository.conflicts(tree.path) and _has_markers(tree.path):
            return
        # A merge brings in what the integration branch has.
        start = refs.branch(tree.session) if tree.merges else tree.begun
        if settings_changed and repository.put_back(tree.path, start, project_settings.FILE):
            tell("warning", reason=f"{tree.role} may not change {project_settings.FILE}; undone")
        message = f"{tree.role} on {tree.group}, turn {tree.turn}"
        repository.commit(tree.path, message, _author(tree.role))
        _return_to_branch(tree, tell)
        return
    left = repository.changed(tree.path)
    if left or repository.branch_of(tree.path) != tree.branch or repository.tip(tree.path) != tree.begun:
        named = sorted({*left, *repository.changed_since(tree.path, tree.begun)})
        repository.undo(tree.path, tree.branch, tree.begun)
        names = ", ".join(named[:20]) or "commits"
        tell("warning", reason=f"{tree.role} may not write here; reverted: {names}")


def _return_to_branch(tree: Tree, tell: Tell) -> None:
    """Bring the work of an agent that has checked out something else to the branch that is merged later."""
    if repository.branch_of(tree.path) == tree.branch:
        return
    if not repository.contains(tree.path, "HEAD", tree.branch):
        what = sentence(
            "{} has checked out something in {} that does not contain {}.", tree.role, local(tree.path), tree.branch
        )
        raise Refused("MERGE_UNPROVEN", what, "Work on the branch that was checked out")
    repository.must(tree.path, "checkout", "--quiet", "-B", tree.branch)
    tell("warning", reason=f"{tree.role} had checked out another branch; its work was moved to {tree.branch}")


def _has_markers(path: str) -> bool:
    """Whether a file in conflict still holds both sides."""
    return repository.git(path, "diff", "--check").status != 0


def _author(role: str) -> str:
    return f"{role} <{role}@orchestrator.localhost>"


def measure(tree: Tree, effect: str, *, asks: bool, tell: Tell) -> dict[str, Any] | None:
    """Compare what a report claims with the tree; None if its status claims nothing that a tree shows.

    Args:
        asks: whether the agent can be asked why nothing has changed.

    Raises:
        Refused: MERGE_UNPROVEN, as `prove`; NOTHING_CHANGED: work is handed on, and the tree is as it was.
        EnvironmentProblem: GIT_FAILED.
    """
    if effect == MERGED:
        return {"merge": prove(tree, tell), "commit": repository.commit_of(tree.path, tree.branch)}
    if effect not in SUBMITTED or tree.role not in BUILDERS:
        return None
    commit = repository.tip(tree.path)
    changed = commit != tree.begun and repository.differs(tree.path, tree.begun, commit)
    if asks and not changed:
        what = "You submit work, but nothing in your folder has changed in this turn."
        raise Refused(UNCHANGED, what, "Do the work, or send the same report again if nothing needs to change")
    if not changed:
        tell("warning", reason=f"{tree.group} was submitted, but nothing has changed in its folder in this turn")
    return {"changed": changed, "commit": commit}


def prove(tree: Tree, tell: Tell) -> str:
    """Put a group's branch into the integration branch, and require that it is there.

    Returns:
        `merged`, or `nothing_to_merge` where the group has no commit of its own.

    Raises:
        Refused: MERGE_UNPROVEN, with what is missing. EnvironmentProblem: GIT_FAILED.
    """
    whole = os.path.join(tree.root, refs.folder(tree.session))
    if repository.is_merging(tree.path) or repository.conflicts(tree.path):
        what = sentence(
            "the merge in {} is not finished: {}", local(tree.path), ', '.join(repository.conflicts(tree.path))
        )
        raise _unproven(what)
    into = refs.branch(tree.session)
    if repository.count(tree.path, into, tree.branch) == 0:
        if not repository.contains(whole, into, repository.must(tree.path, "rev-parse", tree.branch)):
            raise _unproven(f"{tree.branch} is not contained in {into}")
        tell("warning", reason=f"{tree.group} has no commit of its own: {NOTHING}")
        return NOTHING
    if repository.branch_of(whole) != into or repository.changed(whole):
        repository.undo(whole, into, into)
    # A merge commit even where the branch could just move on: `left_by` tells merges from an agent's commits by it.
    if repository.merge(whole, tree.branch, f"Merge {tree.group}", keeps_commit=True):
        repository.must(whole, "merge", "--abort")
        raise _unproven(f"{tree.branch} conflicts with {into}, which has moved on")
    if not repository.contains(whole, into, tree.branch):
        raise _unproven(f"{tree.branch} is not contained in {into}")
    return "merged"


def _unproven(what: str) -> Refused:
    said = sentence("The merge was reported, but {}.", what)
    return Refused("MERGE_UNPROVEN", said, "Finish the merge, then report again")


def land(root: str, session: str) -> str | None:
    """Move the user's branch to the integration branch where that is a mere step forward of a clean tree.

    Returns:
        Why it was not done; None where it was.
    """
    branch = refs.branch(session)
    if repository.commit_of(root, branch) is None:
        return f"no branch {branch}"
    if not repository.has_branch(root):
        return "no branch is checked out (detached HEAD)"
    if repository.changed(root):
        return "the working tree has uncommitted changes"
    # A real merge could leave conflicts in the user's own checkout.
    ran = repository.git(root, "merge", "--ff-only", "--quiet", branch)
    return None if ran.status == 0 else (ran.errors or ran.output)[-300:]


def left(root: str, sessions: Iterable[str]) -> dict[str, list[str]]:
    """The branches that sessions have left in a project, by session; those that have left none are not named."""
    if not os.path.isdir(os.path.join(root, ".orchestrator", "worktrees")):
        return {}
    names = repository.branches(root, refs.PREFIX)
    found = {id_: [each for each in names if each.split("/")[1:2] == [refs.part(id_)]] for id_ in sessions}
    return {id_: branches for id_, branches in found.items() if branches}


def clean(root: str, session: str, *, in_use: bool) -> dict[str, list[str]]:
    """Remove the worktrees and branches of a session that are merged into the branch that is checked out.

    Args:
        in_use: whether an agent may be at work in one of them, so that all are kept: a branch without a commit of its
            own is always merged, whatever lies in its folder.

    Returns:
        `removed`, `kept` (not merged) and `in_use`, by branch.
    """
    prefix = f"{refs.PREFIX}/{refs.part(session)}"
    found = {"removed": list[str](), "kept": list[str](), "in_use": list[str]()}
    on_branch = repository.has_branch(root)
    for branch in repository.branches(root, prefix):
        if in_use:
            found["in_use"].append(branch)
            continue
        path = os.path.join(root, ".orchestrator", "worktrees", *branch.split("/")[1:])
        merged = on_branch and repository.contains(root, "HEAD", branch)
        found["removed" if merged and repository.remove(root, path, branch) else "kept"].append(branch)
    return found


