"""What the mode of a file lets others do with it."""

from __future__ import annotations

_OTHERS = 0o077


def is_open_to_others(mode: int) -> bool:
    """Whether anybody but its owner (and root) may open a file of this mode.

    Args:
        mode: as `os.stat` tells it, with or without the kind of the file.
    """
    return bool(mode & _OTHERS)
