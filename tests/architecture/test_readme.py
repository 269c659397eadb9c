"""The README speaks of files that exist."""

from __future__ import annotations

import re

import pytest

from tests.architecture import source

PATH = re.compile(r"(?<![\w./-])(?:orchestrator|workflow|agents|migrations|tests|docs)/[\w./-]*\w|(?<![\w./-])\.ci/\w+")


def missing(text: str) -> list[str]:
    """The paths of the project in a text that lead nowhere."""
    return [path for path in PATH.findall(text) if not (source.ROOT / path).exists()]


def test_every_path_in_the_readme_exists() -> None:
    assert missing((source.ROOT / "README.md").read_text("utf-8")) == []


@pytest.mark.parametrize(
    ("text", "found"),
    [
        pytest.param("see `orchestrator/core/` and orchestrator/errors.py.", [], id="there"),
        pytest.param("see `orchestrator/nowhere/`", ["orchestrator/nowhere"], id="no such folder"),
        pytest.param("see agents/nobody.md, written by hand", ["agents/nobody.md"], id="no such file"),
        pytest.param("at .orchestrator/orchestrator.db", [], id="not a path of the project"),
    ],
)
def test_a_path_that_leads_nowhere_is_found(text: str, found: list[str]) -> None:
    assert missing(text) == found
