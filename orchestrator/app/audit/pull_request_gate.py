"""`gate`: whether every commit of a pull request is covered by a certificate, or by a session, with ACCEPT.

Source: the certificate's commits are those of its merges; which commits they cover says `core.gated_commits`.
"""

from __future__ import annotations

import os
from collections.abc import Iterator, Sequence, Set

from orchestrator.app.audit import check_certificate, make_certificate
from orchestrator.app.kernel.context import Answer, Context
from orchestrator.core import certificates, gated_commits, masking, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import again, local, options, sentence
from orchestrator.core.validation import checks
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, EnvironmentProblem, OrchestratorError, UsageError
from orchestrator.hints import Any
from orchestrator.runner import repository
from orchestrator.store import git, snapshot

CERTIFICATE_ONLY = "holds certificates alone"
_WHOLE = (40, 64)
"""Digits of a whole commit id. A shortened one could be that of another commit, which somebody makes on purpose."""
_MERGED = "merged"
_ACCEPTED = """SELECT r.session_id, r.details, e.content FROM agent_reports r
    JOIN sessions s ON s.id = r.session_id AND s.outcome = 'accepted'
    LEFT JOIN evidence e INDEXED BY ix_evidence_merge ON e.session_id = r.session_id AND e.seq = r.seq
    AND e.subject = r.group_id AND e.kind = 'merge' WHERE r.effect = 'merge'"""


class Commit(NamedTuple):
    """A commit of the range."""

    id: str
    parents: tuple[str, ...]
    subject: str


class Source(NamedTuple):
    """What covers commits: a certificate or a session, with the commits of its merges."""

    name: str
    commits: Sequence[str]
    measured: Set[str]
    """Those of them that a worktree was seen to have merged."""
    older: Sequence[str]
    """What its merges name besides: commits from before the session began, which show nothing of its work."""


def gate(
    folder: str, base: str, head: str, *, files: Sequence[tuple[str, bytes]] = (), known: str | None = None,
    context: Context | None = None, is_named: bool = True,
) -> Answer:  # fmt: skip
    """Look for the commits between two that no accepted work covers.

    Args:
        folder: the repository, or a folder in it.
        base, head: commits, branches or tags; asked for is what `git log BASE..HEAD` lists.
        files: certificates, each with its name.
        known: as `check_certificate.look` takes it; certificates must be signed by one of these keys.
        context: a database whose accepted sessions count as well.
        is_named: whether somebody named that database; one that was found must not be tracked by git.

    Returns:
        `ok`, `base`, `head` (whole ids), `commits` [{id, subject, covered, by, files}], `uncovered` (how many),
        `certificates` [{file, session_id, counts, problems}], `sessions`, `warnings`; `exit_code` 0 if all commits are
        covered, else 1. `by` says by what, or why a commit is not; `files` are those that an uncovered one changes.

    Raises:
        UsageError: USAGE, there are certificates and no known keys: whoever asks for a merge can make one of their own.
        EnvironmentProblem: NO_REPOSITORY, SHALLOW_CLONE, GIT_FAILED.
    """
    if files and known is None:
        what = "The gate counts only certificates that are signed by a known key."
        raise UsageError("USAGE", what, again(key="FILE"))
    first, last = check_certificate.require_repository(folder, base, head)
    if check_certificate.is_shallow(folder):
        message = sentence("{} is a shallow clone, so commits of the range may be missing.", local(folder))
        raise EnvironmentProblem("SHALLOW_CLONE", message, "git fetch --unshallow")
    commits = {each.id: each for each in _between(folder, first, last)}
    certificates, sources, own = _certificates(folder, last, files, known)
    warnings: list[str] = []
    if context is not None and (is_named or _is_own(context, warnings)):
        sources += _sessions(context, commits.keys(), warnings)
    reported = {commit: each.name for each in reversed(sources) for commit in each.commits}
    measured = {commit for each in sources for commit in each.measured}
    found = gated_commits.covered(
        {each.id: each.parents for each in commits.values()}, reported, measured,
        lambda commit: _adds_nothing(folder, commits[commit]),
    )  # fmt: skip
    shown = [_shown(folder, each, found.get(each.id), own) for each in commits.values()]
    uncovered = sum(not each["covered"] for each in shown)
    return {
        "success": True,
        "ok": not uncovered,
        "base": first,
        "head": last,
        "commits": shown,
        "uncovered": uncovered,
        "certificates": certificates,
        "sessions": [each.name for each in sources if each.name.startswith("session")],
        "warnings": [*warnings, *_shortened(sources), *_older(sources)],
        "exit_code": EXIT_NEGATIVE if uncovered else EXIT_OK,
    }


def _between(folder: str, base: str, head: str) -> Iterator[Commit]:
    # What `git log` prints depends on settings of the user.
    text = _must(folder, "rev-list", "--format=%H%x09%P%x09%s", "--topo-order", f"{base}..{head}", "--")
    for line in text.split("\n"):
        id_, tab, rest = line.partition("\t")
        if tab and not line.startswith("commit "):
            parents, _, subject = rest.partition("\t")
            yield Commit(id_, tuple(parents.split()), _text(subject))


def _must(folder: str, *words: str) -> str:
    return repository.must(folder, *repository.AS_MADE, *words)


def _text(said: str) -> str:
    return masking.mask(said.encode("utf-8", "replace").decode())


def _certificates(
    folder: str, head: str, files: Sequence[tuple[str, bytes]], known: str | None
) -> tuple[list[Answer], list[Source], set[str]]:
    """What each file says, those that count, and the paths of these in the repository."""
    told, sources, own = list[Answer](), list[Source](), set[str]()
    for name, data in files:
        try:
            checked = check_certificate.look(data, "it", known)
        except OrchestratorError as problem:
            told.append({"file": name, "session_id": None, "counts": False, "problems": [problem.message]})
            continue
        problems = [f"{each.place}: {each.message}" for each in checked.problems]
        if not problems and not checked.is_accepted:
            problems = ["the verdict is not ACCEPT"]
        session = None if checked.problems else str(checked.certificate.body["session"]["id"])
        told.append({"file": name, "session_id": session, "counts": not problems, "problems": problems})
        if not problems:
            sources.append(_source(f"certificate {name} of session {session}", checked.certificate.body))
            own |= _tracked(folder, head, name, data)
    return told, sources, own


def _tracked(folder: str, head: str, name: str, data: bytes) -> set[str]:
    """The path of a file in the repository, where it is there as it was given."""
    top = repository.git(folder, "rev-parse", "--show-toplevel")
    if top.status:
        # A repository without a worktree has none of the files that are given.
        return set()
    path = os.path.relpath(os.path.realpath(name), os.path.realpath(top.output))
    if path.startswith(".."):
        return set()
    there = repository.git(folder, *repository.AS_MADE, "cat-file", "blob", f"{head}:{path}")
    is_same = there.status == 0 and there.output == data.decode("utf-8", "surrogateescape").rstrip("\n")
    return {path} if is_same else set()


def _is_own(context: Context, warnings: list[str]) -> bool:
    """Whether a database that was found did not come with a checkout, as one that a pull request brings."""
    if git.untrack(os.path.realpath(context.path)) is None:
        return True
    what = "Sessions of {} do not count: git tracks it, so a commit may have brought it. Name it with {} to count them."
    warnings.append(sentence(what, local(context.path), options(db="FILE")))
    return False


def _sessions(context: Context, commits: Any, warnings: list[str]) -> list[Source]:
    """The accepted sessions of a database that report commits of the range, each certified anew."""
    found: dict[str, None] = {}
    for session, details, proven in context.connection.execute(_ACCEPTED):
        named = snapshot.commit_id(proven or strict_json.stored(details).get("commit"))
        if named is not None and (named in commits or _shortens(named, commits)):
            found[session] = None
    sources = []
    for session in found:
        try:
            # The outcome in a row proves nothing by itself; making the certificate verifies the session's record.
            body = make_certificate.body(context, session)
        except OrchestratorError as problem:
            warnings.append(problem.message)
            continue
        if body["verdict"]["verdict"] != certificates.ACCEPT:
            warnings.append(f"The newest verdict of session {session} is not ACCEPT.")
            continue
        sources.append(_source(f"session {session}", body))
    return sources


def _source(name: str, body: Answer) -> Source:
    doubted = {
        each["subject"] for each in body["verdict"]["checks"]
        if each["id"] == "V16" and each["message"].startswith(f"{checks.BEFORE_SESSION}:")
    }  # fmt: skip
    merges = [each for each in body["merges"] if each["commit"] is not None]
    judged = [each for each in merges if each["group"] not in doubted]
    measured = {each["commit"] for each in judged if each.get("proof") == _MERGED}
    older = [each["commit"] for each in merges if each["group"] in doubted]
    return Source(name, list(dict.fromkeys(each["commit"] for each in judged)), measured, older)


def _shortens(named: str, commits: Any) -> bool:
    return len(named) not in _WHOLE and any(commit.startswith(named) for commit in commits)


def _adds_nothing(folder: str, merge: Commit) -> bool:
    """Whether a merge of two commits is what git itself makes of them."""
    if len(merge.parents) != 2:
        return False
    # In any other merge something could have been hidden by hand (AUD-33).
    made = repository.git(folder, *repository.AS_MADE, "merge-tree", "--write-tree", *merge.parents)
    tree = repository.git(folder, *repository.AS_MADE, "rev-parse", "--verify", "--quiet", f"{merge.id}^{{tree}}")
    return made.status == 0 and made.output == tree.output


def _shown(folder: str, commit: Commit, by: str | None, own: set[str]) -> Answer:
    changed: list[str] = []
    if by is None:
        trees = (*commit.parents[:1], commit.id)
        # A .gitmodules of the repository may ask git to pass over changes of submodules.
        seen = ("--ignore-submodules=none", "--no-renames", "--no-relative", "--name-only", "-r", "-z")
        words = ("diff-tree", "--root", "--no-commit-id", *seen, *trees)
        changed = [each for each in _must(folder, *words).split("\0") if each]
        is_own = len(commit.parents) == 1 and changed and own.issuperset(changed)
        by = CERTIFICATE_ONLY if is_own else None
    why = "it is a merge with changes of its own" if len(commit.parents) > 1 else "no accepted work covers it"
    return {
        "id": commit.id,
        "subject": commit.subject,
        "covered": by is not None,
        "by": by or why,
        "files": [] if by else [_text(each) for each in changed],
    }


def _shortened(sources: Sequence[Source]) -> Iterator[str]:
    for each in sources:
        short = [commit for commit in each.commits if len(commit) not in _WHOLE]
        if short:
            yield f"{each.name} names shortened commit ids, which cover nothing: {', '.join(short[:3])}"


def _older(sources: Sequence[Source]) -> Iterator[str]:
    for each in sources:
        if each.older:
            shown = ", ".join(commit[:12] for commit in each.older[:3])
            yield f"{each.name} names commits from before it began, which cover nothing: {shown}"
