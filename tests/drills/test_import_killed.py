"""An import that is killed at any moment leaves its database as it was, or has imported all of it."""

from __future__ import annotations

import pathlib
import signal

import pytest

from orchestrator.app import setup
from orchestrator.app.audit import import_session, verification
from tests.conftest import LONG
from tests.drills import field
from tests.drills.field import AT, SESSION

pytestmark = pytest.mark.slow

EVERY = 7 if LONG else 5003
"""At every so-manieth statement a process is killed."""
LAST = 40 if LONG else 4
"""How many statements at the end are each tried: there the file is put in its place."""


@pytest.fixture(scope="module")
def export(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    folder = tmp_path_factory.mktemp("export")
    source = field.create(folder / "source.db", groups=1)
    file = folder / "s1.jsonl"
    with field.opened(source) as context:
        field.call(context, "route", **field.partial("G0"))
        field.call(context, "audit export", session_id=SESSION, output=str(file))
    return file


@pytest.fixture(scope="module")
def initialised(tmp_path_factory: pytest.TempPathFactory) -> pathlib.Path:
    """A database that only `init` has written to."""
    path = tmp_path_factory.mktemp("initialised") / "o.db"
    setup.create_database(str(path), AT)
    with field.opened(path) as context:
        setup.initialise(context)
    return path


@pytest.mark.parametrize("is_there", [False, True], ids=["into a new file", "into an empty database"])
def test_an_import_killed_at_any_statement_is_whole_or_absent(
    tmp_path: pathlib.Path, export: pathlib.Path, initialised: pathlib.Path, is_there: bool
) -> None:
    template = initialised if is_there else None
    wanted, whole = imported(prepared(tmp_path / "wanted", template), export)
    ends = []
    for statement in (*range(1, whole - LAST, EVERY), *range(whole - LAST, whole)):
        path = prepared(tmp_path / f"at-{statement}", template)
        before = everything(path)
        ended = field.in_child(lambda: take(path, export, statement))  # noqa: B023 - at once
        assert (ended.signal, ended.error) == (signal.SIGKILL, None)
        ends.append(everything(path) == wanted)
        assert ends[-1] or everything(path) == before
        if not ends[-1]:
            take(path, export)
        assert everything(path) == wanted
        assert field.damages(path) == []
    assert ends.count(False) >= 4
    assert ends == sorted(ends)


def prepared(folder: pathlib.Path, template: pathlib.Path | None) -> pathlib.Path:
    """The path of a database that is to take the import; a copy of the template where there is one."""
    folder.mkdir()
    path = folder / "taken.db"
    if template is not None:
        path.write_bytes(template.read_bytes())
    return path


def everything(path: pathlib.Path) -> dict[str, list[tuple[object, ...]]] | None:
    return field.everything(path) if path.exists() else None


def take(path: pathlib.Path, export: pathlib.Path, statement: int = 0) -> int:
    """Import; in a process that is killed at a statement where one is named."""
    if statement:
        field.die_at(statement)
    return int(import_session.import_file(str(path), str(export), AT)["events"])


def imported(
    path: pathlib.Path, export: pathlib.Path
) -> tuple[dict[str, list[tuple[object, ...]]], int]:
    """What an import that nothing disturbs leaves, which verifies, and how many statements it took."""

    def counted() -> int:
        count = field.counting()
        take(path, export)
        return count()

    ended = field.in_child(counted)
    assert ended.error is None
    with field.opened(path) as context:
        assert verification.verify(context, session_id=SESSION)["exit_code"] == 0
    return field.everything(path), int(ended.value)
