"""`gate`: whether every commit of a pull request is covered by accepted work, as text, JSON, SARIF or a summary."""

from __future__ import annotations

import json
import os
import re
from collections.abc import Iterator

from orchestrator import bootstrap
from orchestrator.app.kernel import operations
from orchestrator.app.kernel.context import Context
from orchestrator.doors.cli import certificate, coercion, invoke, shapes
from orchestrator.doors.cli.options import WORDS, Command, Given, Result, argument, option
from orchestrator.doors.cli.text import layout
from orchestrator.errors import EnvironmentProblem
from orchestrator.hints import Any

_SHORT = 12
"""Digits of a commit as people read it."""
_PLAIN = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~/"
_FORMATS = ("text", "json", "sarif", "github")
_RULE = {
    "id": "uncovered-commit",
    "shortDescription": {"text": "No certificate or session with ACCEPT covers this commit."},
    "defaultConfiguration": {"level": "error"},
}


def _gate(given: Given) -> Result:
    from orchestrator.app.audit import pull_request_gate
    from orchestrator.core import certificates

    named = given.arguments
    files = [(name, coercion.read_file(name, "FILES", certificates.SIZE_LIMIT)) for name in named.get("files", ())]
    known = certificate.signers(named.get("key"))
    context = _database(given)
    try:
        answer = pull_request_gate.gate(
            named.get("repo", "."), named["base"], named.get("head", "HEAD"), files=files, known=known,
            context=context, is_named=bool(given.db or os.environ.get("ORCHESTRATOR_DB")),
        )
    finally:
        if context is not None:
            context.connection.close()
    done = invoke.result(answer, None if context is None else context.path)
    notation = named.get("format") or ("json" if given.json else "text")
    if notation == "text":
        return done
    if notation == "json":
        return done._replace(text=json.dumps(operations.success(done.answer, done.answer["db"]), indent=2))
    made = json.dumps(sarif(answer), indent=2) if notation == "sarif" else "\n".join(summary(answer))
    return done._replace(text=made, raw=True)


def _database(given: Given) -> Context | None:
    """The database that is named or found; none is needed."""
    try:
        return bootstrap.open_context(given.db, write=False, door=invoke.DOOR)
    except EnvironmentProblem as problem:
        if given.db is not None or problem.code != "NO_DATABASE":
            raise
        return None


def _first(answer: dict[str, Any]) -> str:
    total, uncovered = len(answer["commits"]), answer["uncovered"]
    span = f"{answer['base'][:_SHORT]}..{answer['head'][:_SHORT]}"
    if not total:
        return f"No commits in {span}."
    if not uncovered:
        return f"All covered: {layout.counted(total, 'commit')} in {span}."
    return f"{uncovered} of {layout.counted(total, 'commit')} in {span} not covered by accepted work."


_WAY = (
    "Have each commit reported by a session that ends with ACCEPT: name the whole commit id in the merge report; where"
    " a group has several commits, merge with git merge --no-ff and name the merge."
)


def _shown(answer: dict[str, Any]) -> str:
    commits = sorted(answer["commits"], key=lambda each: bool(each["covered"]))
    rows = [
        (each["id"][:_SHORT], "covered" if each["covered"] else "NOT COVERED", each["by"], each["subject"])
        for each in commits
    ]
    table = layout.table(("COMMIT", "", "BY", "SUBJECT"), rows) if rows else []
    lines = [_first(answer), *layout.section("Commits", table)]
    return "\n".join([*lines, *layout.section("Certificates that do not count", [*_uncounted(answer)]),
                      *([f"try: {_WAY}"] if answer["uncovered"] else [])])  # fmt: skip


def _uncounted(answer: dict[str, Any]) -> Iterator[str]:
    for each in answer["certificates"]:
        for problem in each["problems"]:
            yield shapes.visible(f"{each['file']}: {problem}")


def sarif(answer: dict[str, Any]) -> dict[str, Any]:
    """The uncovered commits as SARIF, each at the first file that it changes."""
    results = [
        {
            "ruleId": _RULE["id"],
            "level": "error",
            "message": {"text": f"Commit {each['id']} ({each['subject']}): {each['by']}."},
            "locations": [{"physicalLocation": {
                "artifactLocation": {"uri": _uri((each["files"] or ["."])[0])}, "region": {"startLine": 1},
            }}],
            "partialFingerprints": {"commit": each["id"]},
        }
        for each in answer["commits"]
        if not each["covered"]
    ]  # fmt: skip
    driver = {"name": "orchestrator gate", "rules": [_RULE]}
    return {
        "$schema": "https://json.schemastore.org/sarif-2.1.0.json",
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results}],
    }


def _uri(path: str) -> str:
    """A path as a reference: a colon would end a scheme, and what stands behind ? or # would be no part of it."""
    return "".join(chr(byte) if byte in _PLAIN else f"%{byte:02X}" for byte in path.encode())


def summary(answer: dict[str, Any]) -> Iterator[str]:
    """The answer as Markdown, for the summary of a job of GitHub Actions."""
    yield f"### {'Gate passed' if answer['ok'] else 'Gate failed'}"
    yield ""
    yield _first(answer)
    if answer["commits"]:
        yield from ("", "| commit | | by | subject |", "| --- | --- | --- | --- |")
    for each in answer["commits"]:
        sign = ":white_check_mark:" if each["covered"] else ":x:"
        yield f"| {each['id'][:_SHORT]} | {sign} | {_cell(each['by'])} | {_cell(each['subject'])} |"
    uncounted = [*_uncounted(answer), *answer["warnings"]]
    if uncounted:
        yield ""
        yield from (f"- {_cell(each)}" for each in uncounted)


def _cell(text: str) -> str:
    """A text that says nothing to Markdown or HTML."""
    return re.sub(r"([\\`*_{}\[\]<>()#+!|~@&])", r"\\\1", shapes.visible(text))


COMMANDS = {
    "gate": Command(
        "gate",
        "Require that every commit between two is covered by a certificate, or by a session of the database, with"
        " ACCEPT. Exit 0 if so, else 1. A merged commit that a session reports covers itself and what its merge"
        " brought.",
        "orchestrator gate certificates/s1.json --base origin/main --head HEAD --key allowed_signers",
        (
            argument("files", "Certificates.", required=False, kind=WORDS),
            option("base", "The commit or branch that is merged into.", required=True, metavar="REF"),
            option("head", "The commit or branch to merge (default: HEAD).", metavar="REF"),
            option("key", "The known keys: a file of allowed signers, as git has it, or a public key.", metavar="FILE"),
            option("repo", "The repository (default: the current folder).", metavar="DIR"),
            option("format", "How to print it (default: text); github is Markdown for a job summary.",
                   choices=_FORMATS),
        ),
        _shown,
        _gate,
        line="Require accepted work for every commit of a pull request.",
        answer=("records.Gate",),
    ),
}  # fmt: skip
