"""Everything that can be said about a workflow file, in one run.

Cold module: `workflow check` and `workflow load` use it, never `route`.

Source: seed 004, Proposed Solution 1.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.workflow import checks_file, checks_graph, checks_names, lenient, loader, model, problems
from orchestrator.core.workflow.loader import Loaded
from orchestrator.core.workflow.problems import Finding, Problem
from orchestrator.hints import Any


class Report(NamedTuple):
    """The outcome of a check.

    problems: all of them, in the order of the file; document: what may be loaded, None when there is an error;
    ok: no error (warnings may stand); canonical_text, hash: the document's, empty when there is none;
    source: the name the file was reported by.
    """

    problems: tuple[Problem, ...]
    document: dict[str, Any] | None
    ok: bool
    canonical_text: str
    hash: str
    source: str

    @property
    def workflow(self) -> model.Workflow | None:
        """The workflow, when it may be loaded."""
        return None if self.document is None else model.parse(self.document, known_hash=self.hash)


def check(data: bytes, source: str) -> Report:
    """Check the bytes of a workflow file.

    Args:
        data: the bytes.
        source: the name to report it by.

    Returns: a report; it never raises, whatever the bytes are.
    """
    loaded = loader.load_text(data, source)
    found = (*loaded.problems, *_findings(loaded))
    ordered = tuple(sorted(dict.fromkeys(found), key=_order))
    if problems.has_errors(ordered):
        return Report(ordered, None, False, "", "", source)
    return Report(ordered, loaded.document, True, loaded.canonical_text, loaded.hash, source)


def _findings(loaded: Loaded) -> list[Problem]:
    if loaded.raw is None:
        return []
    raw = loaded.raw
    workflow = lenient.workflow(raw)
    found: list[Finding] = [*checks_file.shape(raw), *checks_names.check(workflow, raw)]
    if workflow.transitions:
        found += checks_graph.check(workflow, lenient.rules_in(raw))
    return [problems.place(finding, loaded.lines) for finding in found]


def _order(problem: Problem) -> tuple[int, str, str]:
    return problem.line or 0, problem.id, problem.path
