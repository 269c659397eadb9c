"""A check's report as text for people, as plain JSON, and as SARIF for code-review tools.

Cold module.
"""

from __future__ import annotations

from urllib.parse import quote

from orchestrator.core.workflow import problems
from orchestrator.core.workflow.checks import Report
from orchestrator.core.workflow.problems import CATALOGUE, ERROR, Problem
from orchestrator.hints import Any

SARIF_SCHEMA = "https://json.schemastore.org/sarif-2.1.0.json"


def count(report: Report) -> tuple[int, int]:
    """How many errors and how many warnings a report holds."""
    errors = sum(problem.severity == ERROR for problem in report.problems)
    return errors, len(report.problems) - errors


def to_text(report: Report) -> str:
    """The report for a terminal: one problem a paragraph, a summary at the end."""
    parts = [_paragraph(report.source, problem) for problem in report.problems]
    errors, warnings = count(report)
    verdict = "is valid" if report.ok else "has errors"
    parts.append(f"{report.source} {verdict}: {_many(errors, 'error')}, {_many(warnings, 'warning')}.")
    return "\n".join(parts) + "\n"


def to_json(report: Report) -> dict[str, Any]:
    """The report as JSON: ok, hash, problems, and how many there are of each severity."""
    errors, warnings = count(report)
    return {
        "ok": report.ok,
        "source": report.source,
        "hash": report.hash or None,
        "errors": errors,
        "warnings": warnings,
        "problems": [problem._asdict() for problem in report.problems],
    }


def to_sarif(report: Report) -> dict[str, Any]:
    """The report as a SARIF 2.1.0 log with one run."""
    used = sorted({problem.id for problem in report.problems})
    driver = {"name": "orchestrator workflow check", "rules": [_rule(rule) for rule in used]}
    results = [_result(report.source, problem, used.index(problem.id)) for problem in report.problems]
    return {
        "$schema": SARIF_SCHEMA,
        "version": "2.1.0",
        "runs": [{"tool": {"driver": driver}, "results": results, "columnKind": "unicodeCodePoints"}],
    }


def _paragraph(source: str, problem: Problem) -> str:
    # The path of a problem of an agent file is that file, in which its line counts.
    is_in = problem.path if problem.id not in CATALOGUE else source
    where = is_in if problem.line is None else f"{is_in}:{problem.line}"
    at = "" if problem.path in ("$", is_in) else f" ({problem.path})"
    return f"{where}: {problem.severity} {problem.id}: {problem.message}{at}\n    {problem.hint}"


def _many(number: int, word: str) -> str:
    return f"{number} {word}" if number == 1 else f"{number} {word}s"


def _rule(rule: str) -> dict[str, Any]:
    severity, demand = CATALOGUE[rule]
    return {"id": rule, "shortDescription": {"text": demand}, "defaultConfiguration": {"level": severity}}


def _result(source: str, problem: Problem, index: int) -> dict[str, Any]:
    place: dict[str, Any] = {"artifactLocation": {"uri": quote(source)}}
    if problem.line is not None:
        place["region"] = {"startLine": problem.line}
    return {
        "ruleId": problem.id,
        "ruleIndex": index,
        "level": "error" if problem.severity == problems.ERROR else "warning",
        "message": {"text": f"{problem.message} {problem.hint}"},
        "locations": [{"physicalLocation": place, "logicalLocations": [{"fullyQualifiedName": problem.path}]}],
    }
