"""SHA-256 for processes that live for one call: loading OpenSSL takes such a process longer than all its hashes.

The interpreter's own implementation is as exact and needs no library; a process that stays takes OpenSSL's, which uses
the processor's instructions for it.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.hints import TYPE_CHECKING, Any

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


new: Callable[..., _Hash] = _own()
"""Makes a hash of bytes, to be gone on with or read. Called as `sha256.new`, since `quicken` puts another in place."""


def quicken() -> None:
    """Hash with OpenSSL from here on."""
    global new
    import hashlib

    new = hashlib.sha256
