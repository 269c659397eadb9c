"""The variables that a started program sees: an allow-list, so that a new secret stays out by itself."""

from __future__ import annotations

from collections.abc import Mapping

from orchestrator.core.running.program_variables import chosen

ALLOWED = ("PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR")
"""Variables that every program gets."""
ALLOWED_PREFIXES = ("LC_", "XDG_")
"""Beginnings of further ones."""


def child(variables: Mapping[str, str], *, needs: tuple[str, ...] = ()) -> dict[str, str]:
    """Those variables that a program may see.

    Args:
        variables: all that there are.
        needs: names of what this program needs besides, such as its provider's key, as in
            `core.running.program_variables`; blank ones are left out.

    Returns:
        A new mapping; a name that is not set is not in it.

    Source: seed 001, Property 24.
    """
    common = {
        name: value for name, value in variables.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }  # fmt: skip
    return common | chosen(variables, needs)
