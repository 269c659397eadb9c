"""Regular expressions that are compiled when they are first asked.

What can be said of a task are three hundred patterns, of which one process needs a few dozen; compiling all of them was
half of the time of a `run` (RUN-108).
"""

from __future__ import annotations

import re

_ASKED = ("search", "match", "fullmatch", "finditer", "findall", "sub", "split")


class _Lazy:
    """What stands for a pattern until it is asked; from then on it answers with the compiled one's own methods."""

    def __init__(self, pattern: str, flags: int) -> None:
        self.pattern = pattern
        self._flags = flags

    def __getattr__(self, name: str) -> object:
        if name not in _ASKED:
            raise AttributeError(name)
        compiled = re.compile(self.pattern, self._flags)
        self.__dict__.update((each, getattr(compiled, each)) for each in _ASKED)
        return self.__dict__[name]


def regex(pattern: str, flags: int = 0) -> re.Pattern[str]:
    """The pattern, as far as its methods that look into a text and its `pattern` are concerned."""
    return _Lazy(pattern, flags)  # type: ignore[return-value]
