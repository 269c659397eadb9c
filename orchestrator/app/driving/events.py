"""What a driver tells while it works."""

from __future__ import annotations

from collections.abc import Callable

Tell = Callable[..., None]
"""Takes the name of an event, and what belongs to it by name."""
