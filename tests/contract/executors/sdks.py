"""The program that asks a provider's API, without the seconds in which the providers' packages are loaded.

It is the same program with the same packages in a process of its own, which the executor starts, reads and ends; a few
tests of each executor start it as a user does.
"""

from __future__ import annotations

import contextlib
import pathlib
from collections.abc import Iterator

from orchestrator.runner.executors import api
from tests import forks
from tests.contract.executors import kits

USED = {
    "anthropic": ("anthropic", "anthropic.resources.messages"),
    "openai": ("openai", "openai.resources.chat.completions"),
}
"""Per provider the package, and what of it is loaded at the first request."""


@contextlib.contextmanager
def loaded(folder: pathlib.Path) -> Iterator[pathlib.Path]:
    """A stand-in for `api_child.py` with the packages that are installed."""
    names = [name for package, used in USED.items() if api.is_installed(package) for name in used]
    made = forks.Forks(api.CHILD, kits.surroundings(), names)
    try:
        yield made.stand_in(folder / "api_child.py")
    finally:
        made.close()
