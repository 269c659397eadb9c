"""A brand on all that a command starts, which none of it sheds by cleaning its variables or leaving its session.

It is the hard limit on file locks, which Linux has not looked at since 2.4.25: children and programs inherit it, and
who is not root can lower it and never lift it again. So it tells whose an orphan is, in a process that runs several
commands at once, and that whoever has it was started by a run, also when that run and its runner are long gone.
Elsewhere there is none, and nothing changes.

The limit that a new process begins with is inherited from a soft one of ours, so that no child comes before it.
"""

from __future__ import annotations

import contextlib
import hashlib
import secrets as chance
import sys
from collections.abc import Iterator

if sys.platform == "linux":
    import resource
else:
    resource = None

_LOCKS = 10  # RLIMIT_LOCKS
_BRANDED = 1 << 61
"""Lower numbers may be an administrator's, for a system of long ago."""
_BITS = 30


def new(tag: str | None) -> int:
    """A new brand for one command.

    Args:
        tag: of the run that it belongs to; brands of one run begin alike.
    """
    return _run(tag or chance.token_hex(8)) << _BITS | chance.randbits(_BITS)


def _run(tag: str) -> int:
    return _BRANDED >> _BITS | int.from_bytes(hashlib.sha256(tag.encode("utf-8", "replace")).digest()[:4], "big") >> 2


def is_of(number: int, tag: str) -> bool:
    """Whether a process has a brand of a run."""
    limits = _limits(number)
    return limits is not None and limits[1] >= _BRANDED and limits[1] >> _BITS == _run(tag)


def of(number: int) -> int | None:
    """The limit that a process has and cannot lift; None where there is none, or that is not told."""
    limits = _limits(number)
    return None if limits is None or limits[1] < 0 else limits[1]


def has(number: int, brand: int) -> bool:
    """Whether a process has a brand."""
    limits = _limits(number)
    return limits is not None and brand in limits


@contextlib.contextmanager
def given(brand: int) -> Iterator[int | None]:
    """Give what is started meanwhile a brand that it could still lift; None where there is none to be given.

    Where this process was itself started by a run, everybody keeps the brand of that one.
    """
    limits = _limits(0)
    if limits is None or limits[1] >= 0 or not _set(0, (brand, limits[1])):
        yield None
        return
    try:
        yield brand
    finally:
        _set(0, limits)


def fix(number: int, brand: int) -> None:
    """Take from a process that has a brand the means to lift it."""
    _set(number, (brand, brand))


def _limits(number: int) -> tuple[int, int] | None:
    if resource is None:
        return None
    try:
        return resource.prlimit(number, _LOCKS)
    except (OSError, ValueError):
        return None


def _set(number: int, limits: tuple[int, int]) -> bool:
    try:
        resource.prlimit(number, _LOCKS, limits)
    except (OSError, ValueError):
        return False
    return True
