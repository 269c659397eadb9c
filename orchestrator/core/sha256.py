"""SHA-256 for processes that live for one call: loading OpenSSL takes such a process longer than all its hashes.

The interpreter's own implementation is as exact and needs no library; a process that stays takes OpenSSL's, which uses
the processor's instructions for it.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from hashlib import _Hash


def _own() -> Any:
    try:
        from _sha2 import sha256  # type: ignore[import-not-found]  # since 3.12
    except ImportError:
        try:
            from _sha256 import sha256  # type: ignore[import-not-found]  # until 3.11
        except ImportError:
            from hashlib import sha256
    return sha256


_new: Callable[[bytes], _Hash] = _own()


def new(data: bytes = b"") -> _Hash:
    """A hash of these bytes, to be gone on with or read."""
    return _new(data)


def quicken() -> None:
    """Hash with OpenSSL from here on."""
    global _new
    import hashlib

    _new = hashlib.sha256
