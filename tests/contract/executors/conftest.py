"""What the contract's tests share."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.contract.executors import making


@pytest.fixture
def provider() -> Iterator[making.Provider]:
    """Both providers' APIs on the loopback."""
    running = making.Provider()
    yield running
    running.close()
