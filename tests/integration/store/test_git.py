"""Whether git tracks a database, as git's own index says in each of its versions."""

from __future__ import annotations

import os
import pathlib
import shlex
import subprocess

import pytest

from orchestrator.store import git, sqlite

SETTINGS = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}


def run(folder: pathlib.Path, *arguments: str) -> str:
    argv = ["git", "-c", "user.name=t", "-c", "user.email=t@example.org", *arguments]
    return subprocess.run(argv, cwd=folder, env=SETTINGS, check=True, capture_output=True, text=True).stdout


@pytest.fixture(params=["sha1", "sha256"])
def repository(request: pytest.FixtureRequest, tmp_path: pathlib.Path) -> pathlib.Path:
    """A repository with files whose names begin, end and go on as those of a database do."""
    root = tmp_path.resolve() / "re po"
    root.mkdir()
    run(root, "init", "-q", f"--object-format={request.param}")
    for name in ("a/.orchestrator/orchestrator.db", ".orchestrator/orchestrator.db.old", "z", ".orchestrator/a"):
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text("x")
    run(root, "add", "-A")
    return root


@pytest.mark.parametrize("version", [2, 3, 4])
@pytest.mark.parametrize("name", [".orchestrator/orchestrator.db", "z.db", f"deep/{'d' * 200}/{'e' * 100}/o.db"])
def test_a_database_is_tracked_from_the_moment_that_git_says_so(
    repository: pathlib.Path, version: int, name: str
) -> None:
    path = repository / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text("a database")
    run(repository, "update-index", "--index-version", str(version))
    assert git.untrack(str(path)) is None
    run(repository, "add", "-N" if version == 3 else "-f", name)
    command = git.untrack(str(path))
    assert command == f"git -C '{repository}' rm --cached -- {name}"
    subprocess.run(shlex.split(command), env=SETTINGS, check=True, capture_output=True)
    assert path.exists()
    assert git.untrack(str(path)) is None


def test_a_log_that_is_tracked_counts(repository: pathlib.Path) -> None:
    path = repository / "o.db"
    for end in ("", "-wal", "-shm"):
        pathlib.Path(f"{path}{end}").write_text("x")
    run(repository, "add", "o.db-wal")
    assert git.untrack(str(path)) == f"git -C '{repository}' rm --cached -- o.db-wal"


@pytest.mark.parametrize("length", [1, 0x26, 0x0FFE, 0x0FFF, 0x1000])
def test_only_flags_that_fit_the_name_make_an_entry(length: int) -> None:
    name = b"n" * length
    flags = min(length, 0xFFF).to_bytes(2, "big")
    head = b"DIRC\0\0\0\2\0\0\0\1"
    assert git._holds(head + bytes(60) + flags + name + b"\0", "/", name)
    assert git._holds(head + bytes(60) + bytes((flags[0] | 0x40, flags[1], 0, 0)) + name + b"\0", "/", name)
    assert not git._holds(head + bytes(60) + b"p" + flags[1:] + name + b"\0", "/", name)
    assert not git._holds(head + bytes(60) + flags + b"/" + name + b"\0", "/", name)
    assert not git._holds(head + bytes(60) + flags + name + b"x\0", "/", name)


@pytest.mark.parametrize("version", [2, 4])
def test_a_split_index_tracks_what_its_shared_part_lists(repository: pathlib.Path, version: int) -> None:
    (repository / "o.db").write_text("x")
    run(repository, "update-index", "--index-version", str(version))
    run(repository, "add", "o.db")
    run(repository, "update-index", "--split-index")
    (repository / "later").write_text("x")
    run(repository, "add", "later")
    assert git.untrack(str(repository / "o.db")) == f"git -C '{repository}' rm --cached -- o.db"
    assert git.untrack(str(repository / "later")) is not None
    assert git.untrack(str(repository / "never")) is None


def test_a_linked_worktree_has_an_index_of_its_own(repository: pathlib.Path, tmp_path: pathlib.Path) -> None:
    (repository / "o.db").write_text("x")
    run(repository, "add", "o.db")
    run(repository, "commit", "-qm", "first")
    run(repository, "worktree", "add", "-q", str(tmp_path / "tree"))
    run(repository, "rm", "-q", "--cached", "o.db")
    assert git.untrack(str(repository / "o.db")) is None
    assert git.untrack(str(tmp_path.resolve() / "tree" / "o.db")) is not None


@pytest.mark.parametrize("index", [b"", b"DIRC", b"o.db\0", b"o" * 4 + b"\0\0\0\2o.db\0"])
def test_an_index_that_is_none_tracks_nothing(tmp_path: pathlib.Path, index: bytes) -> None:
    (tmp_path / ".git").mkdir()
    (tmp_path / ".git" / "index").write_bytes(index)
    assert git.untrack(str(tmp_path / "o.db")) is None


def test_outside_of_a_repository_nothing_is_tracked(tmp_path: pathlib.Path) -> None:
    assert git.untrack(str(tmp_path / "o.db")) is None


def test_a_folder_of_ours_is_ignored_and_another_is_not(tmp_path: pathlib.Path) -> None:
    for name in (".orchestrator", "data"):
        sqlite.make_folder(str(tmp_path / name))
    assert (tmp_path / ".orchestrator" / ".gitignore").read_text() == "*\n"
    assert list((tmp_path / "data").iterdir()) == []


def test_what_somebody_ignores_in_it_stays(tmp_path: pathlib.Path) -> None:
    (tmp_path / ".orchestrator").mkdir()
    (tmp_path / ".orchestrator" / ".gitignore").write_text("*.log\n")
    sqlite.make_folder(str(tmp_path / ".orchestrator"))
    assert (tmp_path / ".orchestrator" / ".gitignore").read_text() == "*.log\n"
