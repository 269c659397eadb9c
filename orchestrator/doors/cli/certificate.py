"""`certificate make` and `certificate check`: a verdict with its proofs as one document."""

from __future__ import annotations

from orchestrator.app.audit.requests import MakeCertificate
from orchestrator.core import strict_json
from orchestrator.doors.cli import coercion, invoke, output, shapes
from orchestrator.doors.cli.options import STDIN, Command, Given, Result, argument, of_operation, option
from orchestrator.doors.cli.text import layout
from orchestrator.errors import UsageError
from orchestrator.hints import Any


def _make(given: Given) -> Result:
    """Write to a file, or else to stdout, where the document itself is the answer."""
    done = invoke.operation("certificate make", given)
    if given.arguments.get("output", STDIN) != STDIN:
        return done
    output.write(f"{strict_json.canonical(done.answer['document'])}\n".encode())
    return done._replace(printed=True)


def _check(given: Given) -> Result:
    from orchestrator.app.audit import check_certificate
    from orchestrator.core import certificates

    named = given.arguments
    if "ref" in named and "repo" not in named:
        raise UsageError("USAGE", "--ref is a branch or commit of a repository: --repo is missing.", "Add --repo DIR")
    data = coercion.read_file(named["file"], "FILE", certificates.SIZE_LIMIT)
    known = signers(named.get("key"))
    answer = check_certificate.check(
        data, named["file"], known=known, folder=named.get("repo"), ref=named.get("ref", "HEAD")
    )
    return invoke.result(answer, None)


def signers(file: str | None) -> str | None:
    """The content of a file of known keys; None where none is named."""
    if file is None:
        return None
    return coercion.decoded(coercion.read_file(file, "--key", _MOST_KEYS), file, "--key")


_MOST_KEYS = 1024 * 1024


def _checked(answer: dict[str, Any]) -> str:
    problems = [f"{each['place']}: {each['message']}" for each in answer["problems"]]
    first = f"{answer['file']}: {layout.counted(len(problems), 'problem')} found."
    if not problems:
        first = f"{answer['verdict']}: session {answer['session_id']}, made {answer['made_at']}"
    groups = ", ".join(f"{number} {status}" for status, number in (answer["groups"] or {}).items())
    by = answer["signature"] or {}
    fields = (
        ("Goal", answer["goal"] or None),
        ("Groups", groups or None),
        ("Head", answer["head"]),
        ("Proven", f"{answer['proven']} of {answer['events']} events" if answer["head"] else None),
        ("Commits", ", ".join(answer["commits"][:5]) + (" ..." if len(answer["commits"]) > 5 else "") or None),
        ("Signed by", f"{by['signer'] or 'unknown'} ({by['key']})" if by.get("key") else None),
    )
    return "\n".join([shapes.visible(first), *layout.fields(fields), *layout.section("Problems", [
        shapes.visible(each) for each in problems
    ])])  # fmt: skip


def made(answer: dict[str, Any]) -> list[str]:
    """Where a certificate lies, and what it holds."""
    signed = "signed" if answer["signed"] else "not signed"
    proven = f"{answer['proven']} of {layout.counted(answer['events'], 'event')} proven"
    first = f"Certificate of session {answer['session_id']} ({answer['verdict']}): {answer['output']}"
    return [shapes.visible(first), f"{answer['bytes']} bytes, {proven}, {signed}, head {answer['head']}"]


COMMANDS = {
    "certificate make": of_operation(MakeCertificate, handler=_make)._replace(
        show=lambda answer: "\n".join(made(answer))
    ),
    "certificate check": Command(
        "certificate check",
        "Check a certificate, without a database: that nothing was altered, that its proofs and its signature hold,"
        " and in a repository, that the commits of its merges are contained. Exit 0 for an ACCEPT in which nothing is"
        " wrong, else 1.",
        "orchestrator certificate check s1.cert.json --key allowed_signers --repo .",
        (
            argument("file", "The certificate, or - for stdin."),
            option("key", "The known keys: a file of allowed signers, as git has it, or a public key.", metavar="FILE"),
            option("repo", "A repository that must contain the commits of its merges.", metavar="DIR"),
            option("ref", "The branch or commit that must contain them (default: HEAD).", metavar="REF"),
        ),
        _checked,
        _check,
        line="Check a certificate, without a database.",
        answer=("records.CheckedCertificate",),
    ),
}
