"""The files that ship with the product are found in a checkout and in an installation."""

from __future__ import annotations

import pathlib

import pytest

from orchestrator import errors, resources


@pytest.mark.parametrize("name", resources.NAMES)
def test_a_checkout_uses_the_files_beside_the_package(repository: pathlib.Path, name: str) -> None:
    assert resources.path(name) == repository / name


@pytest.mark.parametrize("name", resources.NAMES)
def test_an_installation_uses_the_files_inside_the_package(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, name: str
) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    expected = tmp_path / "_data" / name
    expected.mkdir(parents=True)
    assert resources.path(name) == expected


def test_a_name_that_is_not_shipped_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ValueError, match="no such resource"):
        resources.path("../secrets")


def test_an_incomplete_installation_is_named(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(resources, "_PACKAGE", tmp_path)
    (tmp_path / "_data").mkdir()
    with pytest.raises(errors.EnvironmentProblem) as caught:
        resources.path("workflow")
    assert (caught.value.code, caught.value.data) == ("RESOURCE_MISSING", {"resource": "workflow"})


@pytest.mark.parametrize(
    ("origin", "command"),
    [
        ('{"url": "file:///srv/a%20b", "dir_info": {}}', "pip install '/srv/a b[web]'"),
        ('{"url": "file:///srv/x.whl", "archive_info": {}}', "pip install '/srv/x.whl[web]'"),
        ('{"url": "https://example.org/x.whl"}', "pip install 'CHECKOUT[web]'"),
        (None, "pip install 'CHECKOUT[web]'"),
        ("no JSON", "pip install 'CHECKOUT[web]'"),
    ],
)
def test_an_extra_is_installed_from_where_the_program_came_from(
    monkeypatch: pytest.MonkeyPatch, origin: str | None, command: str
) -> None:
    class Installed:
        def read_text(self, _name: str) -> str | None:
            return origin

    monkeypatch.setattr("importlib.metadata.distribution", lambda _name: Installed())
    assert resources.installing("web") == command
