"""`certificate check`: whether a certificate is as it was made, who signed it, and whether its commits are there.

No database is needed. Nothing of a certificate is believed that its hash, its proofs and its signature do not hold.
"""

from __future__ import annotations

import bisect
import os
from collections import Counter
from collections.abc import Iterator

from orchestrator.app.kernel.context import Answer
from orchestrator.core import certificates, masking
from orchestrator.core.certificates import Certificate, Problem
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import EXIT_NEGATIVE, EXIT_OK, EnvironmentProblem
from orchestrator.runner import repository, signatures

_AT_ONCE = 500


class Checked(NamedTuple):
    """A certificate with what is wrong with it, and its signature; None where it has none."""

    certificate: Certificate
    signed: signatures.Signed | None
    problems: list[Problem]

    @property
    def is_accepted(self) -> bool:
        """Whether nothing is wrong, and the verdict is ACCEPT."""
        return not self.problems and self.certificate.body["verdict"]["verdict"] == certificates.ACCEPT

    def commits(self) -> list[str]:
        """The commits that it names, each once."""
        named = (merge["commit"] for merge in self.certificate.body["merges"])
        return list(dict.fromkeys(commit for commit in named if commit is not None))


def look(data: bytes, name: str, known: str | None = None) -> Checked:
    """Read a certificate and look for what is wrong with it, its signature included.

    Args:
        name: what the document is called in messages.
        known: the content of a file of allowed signers, or a public key: it must be signed by one of them.

    Raises:
        InvalidInput: CERTIFICATE_INVALID. EnvironmentProblem: CERTIFICATE_TOO_NEW.
    """
    found = certificates.read(data, name)
    problems = certificates.problems(found)
    if found.signature is None:
        if known is not None:
            problems.append(Problem("signature", "it is not signed"))
        return Checked(found, None, problems)
    at = str(found.body["made_at"])
    signed = signatures.check(found.signed_text(), found.signature, certificates.NAMESPACE, known, at)
    if signed.why:
        problems.append(Problem("signature", signed.why))
    return Checked(found, signed, problems)


def check(
    data: bytes, name: str, *, known: str | None = None, folder: str | None = None, ref: str = "HEAD"
) -> Answer:
    """Check a certificate.

    Args:
        known: as `look` takes it.
        folder: a repository that must contain the commits of its merges.
        ref: the branch or commit that must contain them.

    Returns:
        `ok` (nothing is wrong), `session_id`, `goal`, `verdict`, `made_at`, `head`, `events`, `proven`, `groups` (how
        many of each status), `commits`, `signature` {key, signer}, `problems` [{place, message}], `warnings`, and
        `exit_code`: 0 if nothing is wrong and the verdict is ACCEPT, else 1.

    Raises:
        InvalidInput: CERTIFICATE_INVALID. EnvironmentProblem: CERTIFICATE_TOO_NEW, NO_REPOSITORY, GIT_FAILED.
    """
    checked = look(data, name, known)
    if folder is not None:
        require_repository(folder, ref)
    problems = list(checked.problems)
    if folder is not None and not problems:
        problems += contained(checked, folder, ref)
    # What was altered may hold anything.
    body = checked.certificate.body if not checked.problems else None
    code = EXIT_OK if not problems and checked.is_accepted else EXIT_NEGATIVE
    return {
        "success": True,
        "ok": not problems,
        "file": name,
        **_told(body),
        "commits": [] if body is None else checked.commits(),
        "signature": checked.signed and {"key": checked.signed.key, "signer": checked.signed.signer},
        "problems": [{"place": each.place, "message": masking.mask(each.message)} for each in problems],
        "warnings": [*_warnings(checked, known), *(_unnamed(checked) if folder is not None else ())],
        "exit_code": code,
    }


def _told(body: dict[str, object] | None) -> Answer:
    """What a certificate says; nothing of one in which something is wrong."""
    names = ("session_id", "goal", "verdict", "made_at", "head", "events", "proven", "groups")
    if body is None:
        return dict.fromkeys(names)
    given: Answer = body
    groups = Counter(group["status"] for group in given["groups"])
    session, verdict = given["session"], given["verdict"]["verdict"]
    told = (session["id"], session["goal"], verdict, given["made_at"], given["head"], given["size"])
    return dict(zip(names, (*told, len(given["events"]), dict(groups)), strict=True))


def _warnings(checked: Checked, known: str | None) -> Iterator[str]:
    if checked.signed is None and known is None:
        yield "The certificate is not signed: whoever changes it can make its hash anew."
    elif checked.signed is not None and checked.signed.key is not None and known is None:
        yield f"It is not known whose key {checked.signed.key} is; name the known keys with --key."


def _unnamed(checked: Checked) -> Iterator[str]:
    """That a repository shows nothing of a merge: what is vouched for by it must not seem more than it is."""
    if checked.problems:
        return
    for merge in checked.certificate.body["merges"]:
        if merge["commit"] is None:
            yield f"Merge {merge['report_id']} of group {merge['group']} names no commit: none was looked for."


def require_repository(folder: str, *refs: str) -> list[str]:
    """Require that a folder is in a repository that has these commits; their ids.

    Raises:
        EnvironmentProblem: NO_REPOSITORY, GIT_FAILED.
    """
    if not os.path.isdir(folder) or repository.git(folder, "rev-parse", "--git-dir").status:
        raise EnvironmentProblem(
            "NO_REPOSITORY", sentence("{} is not a git repository.", local(folder)), "Name a clone of the repository"
        )
    found = []
    for ref in refs:
        # git would take such a name for an option.
        commit = None if ref.startswith("-") else repository.commit_of(folder, ref)
        if commit is None:
            shallow = " It is a shallow clone." if is_shallow(folder) else ""
            message = sentence("The repository {} has no commit {}.{}", local(folder), ref, shallow)
            raise EnvironmentProblem("NO_REPOSITORY", message, "Fetch it, or name another")
        if repository.is_ambiguous(folder, ref):
            # Git would take a tag of that name, which somebody else may have pushed.
            message = sentence("Several branches, tags or commits of {} are named {}.", local(folder), ref)
            way = "Name the whole commit id, or the whole name, such as refs/heads/main or refs/remotes/origin/main"
            raise EnvironmentProblem("NO_REPOSITORY", message, way)
        found.append(commit)
    return found


def is_shallow(folder: str) -> bool:
    """Whether the history of a repository is cut off."""
    return repository.git(folder, "rev-parse", "--is-shallow-repository").output == "true"


def contained(checked: Checked, folder: str, ref: str) -> Iterator[Problem]:
    """The merges of a certificate whose commits are not contained in a commit of a repository."""
    commits = checked.commits()
    there = sorted(_listed(folder, "--no-walk", commits))
    outside = set(_listed(folder, f"^{ref}", there))
    shallow = ", which is a shallow clone" if is_shallow(folder) else ": is it the right one?"
    for place, merge in enumerate(checked.certificate.body["merges"]):
        commit = merge["commit"]
        if commit is None:
            continue
        # The first id that is not less than a shortened one begins with it, if any does.
        at = bisect.bisect_left(there, commit)
        whole = there[at] if at < len(there) and there[at].startswith(commit) else None
        if whole is None:
            yield Problem(f"merges[{place}]", f"commit {commit} is not in the repository{shallow}")
        elif whole in outside:
            yield Problem(f"merges[{place}]", f"commit {commit} is not contained in {ref}")


def _listed(folder: str, option: str, commits: list[str]) -> list[str]:
    """What git lists of some commits, those that are not there left out."""
    found: list[str] = []
    for place in range(0, len(commits), _AT_ONCE):
        some = commits[place : place + _AT_ONCE]
        words = ("rev-list", "--ignore-missing", option, *some, "--")
        found += repository.must(folder, *repository.AS_MADE, *words).split()
    return found
