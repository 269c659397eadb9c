"""`orchestrator.json` is read strictly, and allows commands by how they begin."""

from __future__ import annotations

import pytest

from orchestrator.core import project_settings
from orchestrator.errors import InvalidInput


@pytest.mark.parametrize(
    ("command", "allowed"),
    [
        (["pytest"], True), (["pytest", "-q"], True), (["npm", "test"], True), (["npm", "test", "--", "x"], True),
        (["npm"], False), (["npm", "publish"], False), (["pytest-evil"], False), (["sh", "-c", "pytest"], False),
    ],
)  # fmt: skip
def test_a_command_is_allowed_by_its_first_arguments(command: list[str], allowed: bool) -> None:
    settings = project_settings.read(b'{"allowed_commands": [["pytest"], ["npm", "test"]]}')
    assert settings.allows(command) is allowed


def test_nothing_is_allowed_where_nothing_is_said() -> None:
    assert not project_settings.read(b"{}").allows(["true"])


@pytest.mark.parametrize(
    ("data", "places"),
    [
        (b"{", ["$"]),
        (b"[]", ["$"]),
        (b'{"allowed_command": []}', ["$.allowed_command"]),
        (b'{"allowed_commands": "pytest"}', ["$.allowed_commands"]),
        (b'{"allowed_commands": ["pytest"]}', ["$.allowed_commands[0]"]),
        (b'{"allowed_commands": [[]]}', ["$.allowed_commands[0]"]),
        (b'{"allowed_commands": [[" "]]}', ["$.allowed_commands[0]"]),
        (b'{"allowed_commands": [["a"], ["a", 1], [""]]}', ["$.allowed_commands[1]", "$.allowed_commands[2]"]),
    ],
)
def test_every_fault_of_the_settings_is_named(data: bytes, places: list[str]) -> None:
    with pytest.raises(InvalidInput) as caught:
        project_settings.read(data)
    assert caught.value.code == "SETTINGS_INVALID"
    assert [each["path"] for each in caught.value.data["problems"]] == places
