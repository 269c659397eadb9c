"""Files that hold a secret, and who else may open them."""

from __future__ import annotations

import os
import stat

from orchestrator.core import filemodes
from orchestrator.doors.cli import options


def warnings(name: str, what: str) -> list[str]:
    """What is wrong with the mode of a file that holds a secret. It is taken all the same.

    Args:
        name: the file, or `-` for stdin, which a shell may have opened from one. It is not shown: what is given may be
            the secret itself.
        what: how the parameter is written that names it.
    """
    try:
        found = os.fstat(0) if name == options.STDIN else os.stat(name)
    except (OSError, ValueError):
        return []
    # A pipe, a terminal or a device is nobody's to open later.
    if not stat.S_ISREG(found.st_mode) or not filemodes.is_open_to_others(found.st_mode):
        return []
    mode = f"{stat.S_IMODE(found.st_mode):04o}"
    return [f"Other users of this machine can read {what} (mode {mode}): restrict it with chmod 600."]
