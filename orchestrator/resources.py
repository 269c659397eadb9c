"""Where the files that belong to the product lie: the workflow, the agents' files and the migrations.

A wheel carries them inside the package; in a checkout they stand beside it, where people edit them.
"""

from __future__ import annotations

import pathlib

from orchestrator import errors
from orchestrator.core.suggestions import local, sentence

DISTRIBUTION = "guarded-orchestrator"
"""What the program is called where packages are installed; the command and the package are `orchestrator`."""
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
            sentence("The installation is incomplete: {} is missing at {}.", name, local(found)),
            f"install {DISTRIBUTION} again",
            resource=name,
        )
    return found


def installing(extra: str) -> str:
    """The command that installs one of the program's extras from where the program itself came from.

    Returns:
        The folder or wheel file that it was installed from as installers record it (PEP 610), else `CHECKOUT`, for a
        folder or wheel file that the reader has.
    """
    import json
    import shlex
    from importlib import metadata
    from urllib import parse

    try:
        origin = metadata.distribution(DISTRIBUTION).read_text("direct_url.json")
        address = parse.urlsplit(json.loads(origin or "{}").get("url", ""))
    except (metadata.PackageNotFoundError, ValueError):
        address = parse.urlsplit("")
    place = parse.unquote(address.path) if address.scheme == "file" else "CHECKOUT"
    return sentence("pip install {}", local(shlex.quote(f"{place}[{extra}]"), f"'CHECKOUT[{extra}]'"))
