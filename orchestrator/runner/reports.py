"""The final report of a session, beside its evidence: as JSON, and as a page for people.

Source: seed 001, Property 10.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path

from orchestrator.hints import Any
from orchestrator.runner import atomic_files, evidence_files

JSON, PAGE = "report.json", "report.md"


def save(project: str | os.PathLike[str], session_id: str, report: Mapping[str, Any], page: str) -> str:
    """Write both forms of a report, each whole or not at all.

    Returns:
        The path of the page.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    folder: Path = evidence_files.session_folder(project, session_id)
    atomic_files.write(folder / JSON, f"{json.dumps(report, ensure_ascii=False, indent=2)}\n".encode())
    atomic_files.write(folder / PAGE, page.encode("utf-8", "backslashreplace"))
    return str(folder / PAGE)
