"""The logs of turns that have ended, as files of their session beside those of tasks: `logs/turn-<ms>.json`.

Source: seed 001, Property 26.
"""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from orchestrator.runner import durable, evidence_files


def save(project: str | os.PathLike[str], session_id: str, id: str, log: Mapping[str, Any]) -> Path:
    """Write the log of a turn, whole or not at all, synced with its folder.

    Raises:
        EnvironmentProblem: OUTPUT_FAILED.
    """
    folder = durable.own_folder(evidence_files.session_folder(project, session_id), "logs")
    path = folder / f"{id}.json"
    durable.write(path, (json.dumps(log, ensure_ascii=False, indent=2) + "\n").encode())
    return path
