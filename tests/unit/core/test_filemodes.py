"""Whose file a mode says it is."""

from __future__ import annotations

import pytest

from orchestrator.core import filemodes


@pytest.mark.parametrize(
    ("mode", "open_to_others"),
    [
        (0o600, False), (0o400, False), (0o700, False), (0o100600, False), (0o040700, False),
        (0o640, True), (0o620, True), (0o610, True), (0o604, True), (0o602, True), (0o601, True), (0o100644, True),
    ],
)  # fmt: skip
def test_a_file_is_its_owner_s_alone_where_nobody_else_has_a_right(mode: int, open_to_others: bool) -> None:
    assert filemodes.is_open_to_others(mode) is open_to_others
