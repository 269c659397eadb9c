"""Where the files that belong to the product lie: the workflow, the agents' files and the migrations.

A wheel carries them inside the package; in a checkout they stand beside it, where people edit them.
"""

from __future__ import annotations

import pathlib

from orchestrator import errors

NAMES = ("workflow", "agents", "migrations", "alembic.ini")

_PACKAGE = pathlib.Path(__file__).resolve().parent


def path(name: str) -> pathlib.Path:
    """Find a folder or file that ships with the product.

    Args:
        name: one of `NAMES`.

    Returns:
        The absolute path; it exists.

    Raises:
        ValueError: the product ships nothing of that name.
        EnvironmentProblem: RESOURCE_MISSING, the installation is incomplete.
    """
    if name not in NAMES:
        raise ValueError(f"no such resource: {name!r}; there are {', '.join(NAMES)}")
    packed = _PACKAGE / "_data"
    found = (packed if packed.is_dir() else _PACKAGE.parent) / name
    if not found.exists():
        raise errors.EnvironmentProblem(
            "RESOURCE_MISSING",
            f"The installation lacks {name} at {found}.",
            "install agent-orchestrator again",
            resource=name,
        )
    return found
