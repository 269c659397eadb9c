"""A git repository in which agents work: its branches, worktrees, commits and merges, by git itself.

Git runs without a terminal, without an editor, with the allowed variables alone, and with a time limit, since the
hooks of the repository run as well.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator, Mapping, Sequence

from orchestrator import worktrees
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, reason, sentence
from orchestrator.errors import EnvironmentProblem
from orchestrator.runner import commands

TIMEOUT_S = 300.0
"""Seconds that one git command may take, hooks of the repository among them."""
_QUIET = {"GIT_TERMINAL_PROMPT": "0", "GIT_EDITOR": "true", "GIT_MERGE_AUTOEDIT": "no", "LC_ALL": "C"}
_ELSEWHERE = "ref: refs/heads/.invalid"
"""What stands in HEAD where git keeps its refs in tables of their own."""
AS_MADE = ("--no-replace-objects",)
"""Put before a command that must see commits as they were made, not what `git replace` shows in their place."""
PATCH_LIMIT = 16 * 1024 * 1024
TEXT_LIMIT, BLOB_LIMIT = 4 * 1024 * 1024, 64 * 1024
"""Bytes of a patch that is kept as evidence, and of one file in it: of a text, and of what is none."""
_LOOKED_AT = 8000
"""Bytes at whose beginning git looks for a NUL to tell whether a file is a text."""
_OWN = (".", ":(exclude).orchestrator")
"""What counts as a change: everything but the program's own folder."""


class Ran(NamedTuple):
    """How a git command ended: its exit status, and what it printed on stdout and stderr."""

    status: int
    output: str
    errors: str


def git(folder: str, *words: str) -> Ran:
    """Run git in a folder.

    Raises:
        EnvironmentProblem: GIT_FAILED, it cannot be started or takes too long.
    """
    done = _run(folder, words, {})
    return Ran(done.returncode, _text(done.stdout), _text(done.stderr))


def _run(folder: str, words: Sequence[str], more: Mapping[str, str]) -> subprocess.CompletedProcess[bytes]:
    variables = {**commands.environment(os.environ), **_QUIET, **more}
    try:
        return subprocess.run(  # noqa: S603 - an argument list; there is no shell
            # Automatic collection would go on in the background after the command and its time limit have ended.
            ["git", "-c", "gc.auto=0", "-c", "advice.detachedHead=false", *words],  # noqa: S607 - as the PATH has it
            cwd=folder, env=variables, stdin=subprocess.DEVNULL, capture_output=True, timeout=TIMEOUT_S, check=False,
        )  # fmt: skip
    except (OSError, subprocess.SubprocessError) as error:
        what = sentence("git {} in {}: {}.", ' '.join(words[:2]), local(folder), reason(error))
        raise EnvironmentProblem("GIT_FAILED", what, "Check that git is installed") from None


def _text(data: bytes) -> str:
    return data.decode("utf-8", "surrogateescape").rstrip("\n")


def must(folder: str, *words: str) -> str:
    """What a git command prints that has to succeed.

    Raises:
        EnvironmentProblem: GIT_FAILED, with the end of what git said.
    """
    ran = git(folder, *words)
    _require(ran, folder, words)
    return ran.output


def _require(ran: Ran, folder: str, words: Sequence[str]) -> None:
    if ran.status:
        said = (ran.errors or ran.output)[-500:]
        what = sentence("git {} in {}: {}", ' '.join(words[:3]), local(folder), local(said))
        raise EnvironmentProblem("GIT_FAILED", what, "Fix what git reports")


def head(folder: str) -> str | None:
    """The commit that is checked out; None where there is none, or no repository."""
    with contextlib.suppress(EnvironmentProblem):
        ran = git(folder, "rev-parse", "--verify", "--quiet", "HEAD^{commit}")
        return ran.output if ran.status == 0 else None
    return None


def has_branch(folder: str) -> bool:
    """Whether a branch is checked out; with a detached HEAD none is."""
    return git(folder, "symbolic-ref", "--quiet", "HEAD").status == 0


def is_top(folder: str) -> bool:
    """Whether a folder is the root of a worktree."""
    with contextlib.suppress(EnvironmentProblem):
        ran = git(folder, "rev-parse", "--show-toplevel")
        return ran.status == 0 and os.path.realpath(ran.output) == os.path.realpath(folder)
    return False


def commit_of(folder: str, name: str) -> str | None:
    """The commit of a branch or other name; None where there is none."""
    ran = git(folder, "rev-parse", "--verify", "--quiet", f"{name}^{{commit}}")
    return ran.output if ran.status == 0 else None


def is_ambiguous(folder: str, name: str) -> bool:
    """Whether more than one branch, tag or commit has a name; git takes the first by an order of its own."""
    ran = git(folder, "-c", "core.warnAmbiguousRefs=true", "rev-parse", "--verify", f"{name}^{{commit}}")
    return "is ambiguous" in ran.errors


def tip(folder: str) -> str:
    """The commit that a worktree has checked out, from git's own files where these hold it.

    Raises:
        EnvironmentProblem: GIT_FAILED, there is none.
    """
    head, commit = checked_out(folder)
    found = commit or head
    return found if re.fullmatch(r"[0-9a-f]{40,64}", found) else must(folder, "rev-parse", "--verify", "HEAD^{commit}")


def checked_out(folder: str) -> tuple[str, str]:
    """What a worktree has checked out and the commit of that branch, from git's own files where these hold it.

    Where git keeps its refs in tables of their own it is asked.
    """
    head, commit = worktrees.checked_out(folder)
    if head != _ELSEWHERE:
        return head, commit
    branch = git(folder, "symbolic-ref", "--quiet", "HEAD").output
    found = git(folder, "rev-parse", "--verify", "--quiet", "HEAD").output
    return (f"ref: {branch}", found) if branch else (found, "")


def branch_of(folder: str) -> str | None:
    """The branch that a worktree has checked out; None with a detached HEAD."""
    head = checked_out(folder)[0]
    return head.removeprefix("ref: refs/heads/") if head.startswith("ref: refs/heads/") else None


def worktree(root: str, path: str, branch: str, start: str) -> None:
    """Have a worktree of a branch at a path; branch and worktree are made where they are not there.

    Args:
        start: where the branch begins.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with alone(os.path.dirname(path)):
        _worktree(root, path, branch, start)


@contextlib.contextmanager
def alone(folder: str) -> Iterator[None]:
    """Let one process or thread at a time make worktrees in a folder, or see to what is left in one of them."""
    descriptor = os.open(os.path.join(folder, ".lock"), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX)
        yield
    finally:
        os.close(descriptor)


def _worktree(root: str, path: str, branch: str, start: str) -> None:
    if os.path.lexists(os.path.join(path, ".git")):
        return
    # A tree whose folder somebody deleted stays registered, and git refuses to add it again until it is pruned.
    git(root, "worktree", "prune")
    if commit_of(root, f"refs/heads/{branch}") is None:
        must(root, "worktree", "add", "--quiet", "-b", branch, path, start)
    else:
        must(root, "worktree", "add", "--quiet", path, branch)


def changed(folder: str) -> list[str]:
    """The paths that differ from the commit that is checked out; ignored files and our own are left out."""
    ran = git(folder, "status", "--porcelain", "-z", "--untracked-files=all", "--no-renames", "--", *_OWN)
    return [each[3:] for each in ran.output.split("\0") if each[3:]]


class Patch(NamedTuple):
    """What a worktree has besides a commit.

    data: the patch, as git applies it again. left_out: paths whose content is not in it. is_cut: it ends early.
    """

    data: bytes
    left_out: tuple[str, ...] = ()
    is_cut: bool = False


def patch(folder: str, since: str = "HEAD") -> Patch:
    """All that a worktree has besides a commit, new files among it.

    Large files and what is no text are left out, and so are files beyond `PATCH_LIMIT` in all. The worktree's own
    index, which may hold a merge, stays as it is.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    kept, left_out = _worth_keeping(folder, sorted({*changed(folder), *changed_since(folder, since)}))
    with tempfile.TemporaryDirectory(prefix="orchestrator-index-") as own:
        index = {"GIT_INDEX_FILE": os.path.join(own, "index"), "GIT_LITERAL_PATHSPECS": "1"}
        for step in (("read-tree", since), *_staging(folder, own, kept)):
            done = _run(folder, step, index)
            if done.returncode:
                said = _text(done.stderr)[-500:]
                what = sentence("git {} in {}: {}", step[0], local(folder), local(said))
                raise EnvironmentProblem("GIT_FAILED", what, "Fix what git reports")
        # What a deleted file held stands in the commit.
        compare = ("diff", "--cached", "--binary", "--irreversible-delete", "--no-ext-diff", since)
        data = _run(folder, compare, index).stdout
    return Patch(data[:PATCH_LIMIT], left_out, len(data) > PATCH_LIMIT)


def _staging(folder: str, own: str, paths: Sequence[str]) -> Iterator[tuple[str, ...]]:
    """The commands that bring paths into an index as they are in the worktree.

    Args:
        own: a folder for their lists, which may be longer than a command line.
    """
    there = [each for each in paths if os.path.lexists(os.path.join(folder, each))]
    for words, named in (
        (("add", "--all", "--force"), there),
        (("rm", "--cached", "--quiet", "--ignore-unmatch"), sorted({*paths} - {*there})),
    ):
        if named:
            listed = os.path.join(own, words[0])
            with open(listed, "wb") as file:
                file.write(b"".join(os.fsencode(each) + b"\0" for each in named))
            yield (*words, f"--pathspec-from-file={listed}", "--pathspec-file-nul")


def _worth_keeping(folder: str, paths: Sequence[str]) -> tuple[list[str], tuple[str, ...]]:
    """The paths whose content goes into a patch, and those that are left out of it."""
    kept, left_out, room = list[str](), list[str](), PATCH_LIMIT // 2
    for path in paths:
        size = _size(os.path.join(folder, path))
        if size > room:
            left_out.append(path)
        else:
            room -= size
            kept.append(path)
    return kept, tuple(left_out)


def _size(path: str) -> int:
    """How much of a patch a file takes; more than any has room for, where it is large or no text."""
    try:
        size = os.lstat(path).st_size
        if not os.path.isfile(path) or os.path.islink(path):
            return size
        with open(path, "rb") as file:
            is_text = b"\0" not in file.read(_LOOKED_AT)
    except OSError:
        return 0
    return size if size <= (TEXT_LIMIT if is_text else BLOB_LIMIT) else PATCH_LIMIT


def changed_since(folder: str, since: str) -> list[str]:
    """The paths in which the commit that is checked out differs from another one; our own are left out."""
    ran = git(folder, "diff", "--name-only", "--no-renames", "-z", since, "HEAD", "--", *_OWN)
    return [each for each in ran.output.split("\0") if each]


def has_merges(folder: str, since: str) -> bool:
    """Whether what is checked out has merges that a commit has not."""
    return git(folder, "rev-list", "--merges", "--first-parent", "--max-count=1", f"{since}..HEAD").output != ""


def commit(folder: str, message: str, author: str) -> bool:
    """Commit everything in a worktree but our own files; whether there was anything.

    Args:
        author: name and address, as git writes them.

    Raises:
        EnvironmentProblem: GIT_FAILED, a hook of the repository refused it, or it cannot be signed.
    """
    merging = is_merging(folder)
    if not merging and not changed(folder):
        return False
    # Left out by name the folder would be an error where it is ignored.
    must(folder, "add", "--all", "--", ".")
    if os.path.lexists(os.path.join(folder, ".orchestrator")):
        must(folder, "reset", "--quiet", "--", ".orchestrator")
    words = (*_identity(folder), "commit", "--quiet", "--author", author, "-m", message)
    ran = git(folder, *words)
    # Line ends alone, say, are a change of the file and none of the commit.
    if ran.status and not merging and git(folder, "diff", "--cached", "--quiet").status == 0:
        return False
    _require(ran, folder, words)
    return True


_identified: set[str] = set()
"""Repositories in which somebody has set a committer, as far as this process has asked."""


def _identity(folder: str) -> tuple[str, ...]:
    """A committer where nobody has set one."""
    common = worktrees.common_folder(folder) or folder
    if common in _identified:
        return ()
    if git(folder, "var", "GIT_COMMITTER_IDENT").status == 0:
        _identified.add(common)
        return ()
    return ("-c", "user.name=orchestrator", "-c", "user.email=orchestrator@localhost")


def undo(folder: str, branch: str, start: str) -> None:
    """Put a worktree back to a branch at a commit; ignored files stay.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    # HEAD first: a reset of whatever the agent has checked out would move that other branch.
    must(folder, "symbolic-ref", "HEAD", f"refs/heads/{branch}")
    must(folder, "reset", "--quiet", "--hard", start)
    must(folder, "clean", "--quiet", "-d", "--force")


def put_back(folder: str, start: str, path: str) -> bool:
    """Give a file in a worktree the content that a commit has, or take it away where the commit has none.

    Returns:
        Whether there was anything to undo.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    place = os.path.join(folder, path)
    differs = git(folder, "diff", "--quiet", start, "--", path).status != 0
    if not differs and not os.path.lexists(place):
        return False
    if git(folder, "cat-file", "-e", f"{start}:{path}").status == 0:
        if not differs:
            return False
        must(folder, "checkout", "--quiet", start, "--", path)
        return True
    must(folder, "rm", "--quiet", "--force", "--ignore-unmatch", "--", path)
    with contextlib.suppress(FileNotFoundError):
        os.unlink(place)
    return True


def is_merging(folder: str) -> bool:
    """Whether a merge is under way in a worktree."""
    return os.path.lexists(os.path.join(worktrees.git_folder(folder), "MERGE_HEAD"))


def conflicts(folder: str) -> list[str]:
    """The paths with conflicts that are not resolved."""
    ran = git(folder, "diff", "--name-only", "--diff-filter=U", "-z")
    return [each for each in ran.output.split("\0") if each]


def merge(folder: str, name: str, message: str, *, keeps_commit: bool = False) -> list[str]:
    """Merge a commit or branch into what a worktree has checked out.

    Args:
        keeps_commit: whether a commit is made even where the branch could just move on.

    Returns:
        The paths in conflict, which are left in the worktree; empty where it is merged.

    Raises:
        EnvironmentProblem: GIT_FAILED, for another reason than a conflict.
    """
    # `--ff` is given explicitly, because `merge.ff` in the user's configuration may ask for the opposite.
    kind = "--no-ff" if keeps_commit else "--ff"
    ran = git(folder, *_identity(folder), "merge", "--quiet", kind, "-m", message, name)
    if ran.status == 0:
        return []
    found = conflicts(folder)
    if not found:
        said = (ran.errors or ran.output)[-500:]
        what = sentence("git merge {} in {}: {}", name, local(folder), local(said))
        raise EnvironmentProblem("GIT_FAILED", what, "Fix what git reports")
    return found


def contains(folder: str, name: str, commit: str) -> bool:
    """Whether a branch contains a commit."""
    return git(folder, "merge-base", "--is-ancestor", commit, name).status == 0


def count(folder: str, since: str, name: str) -> int:
    """How many commits a branch has that another one has not, those of merges left out."""
    ran = git(folder, "rev-list", "--count", "--no-merges", f"{since}..{name}")
    return int(ran.output) if ran.status == 0 else 0


def differs(folder: str, first: str, second: str) -> bool:
    """Whether two commits hold different files."""
    return git(folder, "diff", "--quiet", first, second).status != 0


def remove(root: str, path: str, branch: str) -> bool:
    """Remove a worktree without changes, and its branch where it is merged into what is checked out; whether both went.

    Raises:
        EnvironmentProblem: GIT_FAILED.
    """
    if os.path.isdir(path) and git(root, "worktree", "remove", path).status:
        return False
    git(root, "worktree", "prune")
    # `-d` and not `-D`: git itself then refuses a branch with unmerged commits, whatever was checked before.
    return commit_of(root, f"refs/heads/{branch}") is None or git(root, "branch", "--quiet", "-d", branch).status == 0


def branches(root: str, prefix: str) -> Sequence[str]:
    """The branches below a prefix."""
    ran = git(root, "for-each-ref", "--format=%(refname:short)", f"refs/heads/{prefix}")
    return ran.output.split() if ran.status == 0 else ()
