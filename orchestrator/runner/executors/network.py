"""What a program needs to reach its service: the way out through a proxy, and whom to trust."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Final

VARIABLES: Final = (
    "HTTPS_PROXY",
    "HTTP_PROXY",
    "ALL_PROXY",
    "NO_PROXY",
    "https_proxy",
    "http_proxy",
    "all_proxy",
    "no_proxy",
    "SSL_CERT_FILE",
    "SSL_CERT_DIR",
    "NODE_EXTRA_CA_CERTS",
)


def secrets(variables: Mapping[str, str], names: Iterable[str]) -> tuple[str, ...]:
    """The values of those variables that are set, to be masked wherever they occur."""
    return tuple(variables[name] for name in names if variables.get(name, "").strip())
