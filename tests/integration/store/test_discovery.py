"""Which file a command means."""

from __future__ import annotations

import os
import pathlib
import shutil
import subprocess
from collections.abc import Callable

import pytest

from orchestrator import errors
from orchestrator.store import discovery


def database(folder: pathlib.Path) -> pathlib.Path:
    path = folder / ".orchestrator" / "orchestrator.db"
    path.parent.mkdir(parents=True)
    path.touch()
    return path


@pytest.fixture
def home(tmp_path: pathlib.Path) -> pathlib.Path:
    folder = tmp_path / "home"
    folder.mkdir()
    return folder


@pytest.fixture
def env(home: pathlib.Path) -> dict[str, str]:
    return {"HOME": str(home)}


@pytest.fixture
def project(home: pathlib.Path) -> pathlib.Path:
    """A repository in the home folder."""
    folder = home / "project"
    (folder / ".git").mkdir(parents=True)
    return folder


def below(folder: pathlib.Path) -> pathlib.Path:
    deep = folder / "sub" / "dir"
    deep.mkdir(parents=True)
    return deep


def is_missing(env: dict[str, str], cwd: pathlib.Path) -> bool:
    with pytest.raises(errors.EnvironmentProblem) as caught:
        discovery.find(None, env, cwd)
    return caught.value.code == "NO_DATABASE" and caught.value.suggestion.startswith("orchestrator init")


def test_the_option_comes_before_the_variable_and_the_variable_before_the_folder(
    project: pathlib.Path, env: dict[str, str], tmp_path: pathlib.Path
) -> None:
    nearest, by_variable, by_option = (database(folder) for folder in (project, tmp_path / "a", tmp_path / "b"))
    env_with = env | {"ORCHESTRATOR_DB": str(by_variable)}
    assert discovery.find(str(by_option), env_with, project) == str(by_option)
    assert discovery.find(None, env_with, project) == str(by_variable)
    assert discovery.find(None, env | {"ORCHESTRATOR_DB": ""}, project) == str(nearest)


def test_relative_paths_start_at_the_current_folder(project: pathlib.Path, env: dict[str, str]) -> None:
    path = database(project)
    assert discovery.find(".orchestrator/orchestrator.db", env, project) == str(path)
    assert discovery.find("../../.orchestrator/orchestrator.db", env, below(project)) == str(path)


@pytest.mark.parametrize("name", ["absent.db", "."], ids=["absent", "a folder"])
def test_a_named_file_that_is_none_is_an_error_that_names_it(
    project: pathlib.Path, env: dict[str, str], name: str
) -> None:
    database(project)
    for explicit, variables in ((name, env), (None, env | {"ORCHESTRATOR_DB": name})):
        with pytest.raises(errors.EnvironmentProblem) as caught:
            discovery.find(explicit, variables, project)
        assert caught.value.code == "NO_DATABASE"
        assert str(project / name if name != "." else project) in caught.value.message
        assert "orchestrator init --db" in caught.value.suggestion


def test_an_empty_option_is_wrong_usage(project: pathlib.Path, env: dict[str, str]) -> None:
    with pytest.raises(errors.UsageError, match="--db is empty"):
        discovery.find("", env, project)


def test_the_nearest_upwards_is_found_from_anywhere_inside(project: pathlib.Path, env: dict[str, str]) -> None:
    outer = database(project)
    deep = below(project)
    assert discovery.find(None, env, deep) == str(outer)
    inner = database(project / "sub")
    assert discovery.find(None, env, deep) == str(inner)
    assert discovery.find(None, env, project) == str(outer)


def test_the_search_ends_at_the_repository(home: pathlib.Path, project: pathlib.Path, env: dict[str, str]) -> None:
    database(home)
    assert is_missing(env, below(project))


def test_without_a_repository_the_search_ends_at_the_home_folder(
    tmp_path: pathlib.Path, home: pathlib.Path, env: dict[str, str]
) -> None:
    database(tmp_path)
    deep = below(home)
    assert is_missing(env, deep)
    path = database(home)
    assert discovery.find(None, env, deep) == str(path)


def test_outside_of_both_only_the_folder_itself_is_looked_at(tmp_path: pathlib.Path, env: dict[str, str]) -> None:
    path = database(tmp_path / "shared")
    assert discovery.find(None, env, tmp_path / "shared") == str(path)
    assert is_missing(env, below(tmp_path / "shared"))


def test_without_a_home_folder_the_repository_is_enough(project: pathlib.Path) -> None:
    path = database(project)
    assert discovery.find(None, {}, below(project)) == str(path)


def test_the_root_folder_is_searched_without_harm(env: dict[str, str]) -> None:
    assert is_missing(env, pathlib.Path("/"))


def test_symbolic_links_lead_to_the_file_itself(
    tmp_path: pathlib.Path, project: pathlib.Path, env: dict[str, str]
) -> None:
    path = database(project)
    (tmp_path / "link").symlink_to(project)
    (tmp_path / "link.db").symlink_to(path)
    assert discovery.find(None, env, tmp_path / "link") == str(path)
    assert discovery.find(str(tmp_path / "link.db"), env, tmp_path) == str(path)


def git(cwd: pathlib.Path, *arguments: str) -> None:
    settings = {"GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull, "PATH": os.environ["PATH"]}
    author = ("-c", "user.name=t", "-c", "user.email=t@example.org")
    subprocess.run(["git", *author, *arguments], cwd=cwd, env=settings, check=True, capture_output=True)


@pytest.fixture
def worktree(home: pathlib.Path, project: pathlib.Path) -> pathlib.Path:
    """A worktree that git itself linked to the project."""
    if shutil.which("git") is None:
        pytest.skip("git is not installed")
    (project / ".git").rmdir()
    git(project, "init", "--quiet")
    git(project, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(project, "worktree", "add", "--quiet", str(home / "linked"))
    return home / "linked"


def test_a_linked_worktree_finds_that_of_the_main_worktree(
    project: pathlib.Path, worktree: pathlib.Path, env: dict[str, str]
) -> None:
    assert is_missing(env, worktree)
    main = database(project)
    deep = below(worktree)
    assert discovery.find(None, env, deep) == str(main)
    assert discovery.locate(None, env, deep).why == f"of {project}, which all worktrees share"


def test_a_copy_in_a_linked_worktree_never_stands_before_the_main_worktrees_database(
    project: pathlib.Path, worktree: pathlib.Path, env: dict[str, str]
) -> None:
    copy, deep = database(worktree), below(worktree)
    assert discovery.find(None, env, deep) == str(copy)
    main = database(project)
    assert discovery.find(None, env, deep) == str(main)


def test_a_folder_of_a_linked_worktree_stands_for_the_same_one_of_the_main_worktree(
    project: pathlib.Path, worktree: pathlib.Path, env: dict[str, str]
) -> None:
    database(project)
    (worktree / "sub" / "dir").mkdir(parents=True)
    nested = database(project / "sub")
    assert discovery.find(None, env, worktree / "sub" / "dir") == str(nested)


ADDRESSES = ("postgresql://app:hunter2@host/db", "mysql://h/d", "sqlite:///x.db", "postgresql+psycopg://h/d", "https://h",
             " postgresql://h/d", "\tmysql://h/d", "POSTGRES://h", "a.b://h", "my_sql://h", "jdbc:postgresql://h/hunter2",
             "jdbc:sqlite:x.db", "postgresql:/h/hunter2", "postgresql+psycopg:/h", "Sqlite:/x.db", "file:/x.db",
             " mysql:/h", ":memory:")


@pytest.mark.parametrize("address", ADDRESSES)
@pytest.mark.parametrize("by", ["--db", discovery.VARIABLE])
@pytest.mark.parametrize("ask", [discovery.find, discovery.place])
def test_an_address_is_no_path(
    project: pathlib.Path, env: dict[str, str], address: str, by: str, ask: Callable[..., str]
) -> None:
    given = (address, env) if by == "--db" else (None, env | {by: address})
    with pytest.raises(errors.EnvironmentProblem) as caught:
        ask(*given, project)
    assert (caught.value.code, caught.value.exit_code) == ("DATABASE_UNSUPPORTED", 5)
    assert by in caught.value.message
    assert "hunter2" not in caught.value.message + caught.value.suggestion


@pytest.mark.parametrize("blank", [" ", "\t\n", "\u00a0"])
@pytest.mark.parametrize("by", ["--db", discovery.VARIABLE])
@pytest.mark.parametrize("ask", [discovery.find, discovery.place])
def test_a_blank_is_no_path(
    project: pathlib.Path, env: dict[str, str], blank: str, by: str, ask: Callable[..., str]
) -> None:
    given = (blank, env) if by == "--db" else (None, env | {by: blank})
    with pytest.raises(errors.UsageError, match=f"{by} is blank") as caught:
        ask(*given, project)
    assert (caught.value.code, caught.value.exit_code) == ("INVALID_PATH", 64)


@pytest.mark.parametrize("name", ["a:b", "C:x.db", "C://x.db", "postgresql:x", "1a://b", "://x", "a b://c", "x:/y",
                                  "file:x.db", "x?mode=memory", "./sqlite:/x", "sub/a://b", "notes:/y", "é://x",
                                  ":memory"])
def test_a_path_with_a_colon_is_a_path(project: pathlib.Path, env: dict[str, str], name: str) -> None:
    assert discovery.place(name, env, project) == os.path.realpath(project / name)


def test_a_log_without_its_database_is_found_and_named(project: pathlib.Path, env: dict[str, str]) -> None:
    path = database(project / "sub")
    database(project)
    path.rename(path.with_name("moved.db"))
    pathlib.Path(f"{path}-wal").write_bytes(b"steps")
    for ask in (lambda: discovery.find(None, env, path.parent), lambda: discovery.find(str(path), env, project)):
        with pytest.raises(errors.EnvironmentProblem, match="missing or empty") as caught:
            ask()
        assert caught.value.code == "NO_DATABASE"
        assert f"{path}-wal" in caught.value.message
        assert f"db restore FILE --db {path}" in caught.value.suggestion
    assert discovery.place(None, env, path.parent) == str(path)


def bare(home: pathlib.Path, project: pathlib.Path) -> pathlib.Path:
    git(home, "clone", "--quiet", "--bare", str(project), str(home / "bare.git"))
    return home / "bare.git"


def submodule(home: pathlib.Path, project: pathlib.Path) -> pathlib.Path:
    git(home, "init", "--quiet", "super")
    added = ("submodule", "--quiet", "add", str(project), "inner")
    git(home / "super", "-c", "protocol.file.allow=always", *added)
    return home / "super" / "inner"


@pytest.mark.parametrize("made", [bare, submodule], ids=lambda made: made.__name__)
@pytest.mark.usefixtures("worktree")
def test_all_worktrees_of_a_repository_share_one_database_whatever_the_repository(
    home: pathlib.Path, project: pathlib.Path, env: dict[str, str], made: Callable[..., pathlib.Path]
) -> None:
    shared = made(home, project)
    for name in ("a", "b"):
        git(shared, "worktree", "add", "--quiet", "-b", name, str(home / "trees" / name))
    path = shared / ".orchestrator" / "orchestrator.db"
    for name in ("a", "b"):
        assert is_missing(env, home / "trees" / name)
        assert discovery.place(None, env, below(home / "trees" / name)) == str(path)
    database(shared)
    for name in ("a", "b"):
        assert discovery.find(None, env, home / "trees" / name / "sub") == str(path)
    assert discovery.find(None, env, shared) == str(path)


@pytest.mark.usefixtures("worktree")
def test_where_git_does_not_record_the_main_worktree_no_second_database_is_made(
    home: pathlib.Path, env: dict[str, str]
) -> None:
    main = home / "tree"
    git(home, "init", "--quiet", "--separate-git-dir", str(home / "apart"), str(main))
    git(main, "commit", "--quiet", "--allow-empty", "-m", "first")
    git(main, "worktree", "add", "--quiet", str(home / "other"))
    assert discovery.place(None, env, main) == str(main / ".orchestrator" / "orchestrator.db")
    deep = below(home / "other")
    for ask in (discovery.find, discovery.place):
        with pytest.raises(errors.EnvironmentProblem, match="does not record where its main worktree is") as caught:
            ask(None, env, deep)
        assert caught.value.code == "NO_DATABASE"
        assert "--db MAIN_WORKTREE/.orchestrator/orchestrator.db" in caught.value.suggestion
    assert discovery.place(str(main / "x.db"), env, home / "other") == str(main / "x.db")
    own = database(home / "other")
    assert discovery.find(None, env, home / "other") == discovery.place(None, env, home / "other") == str(own)


@pytest.mark.parametrize("relative", [False, True], ids=["absolute", "relative"])
def test_a_worktree_is_read_without_git(
    home: pathlib.Path, project: pathlib.Path, env: dict[str, str], relative: bool
) -> None:
    main = database(project)
    administration = project / ".git" / "worktrees" / "w"
    administration.mkdir(parents=True)
    (administration / "commondir").write_text("../..\n")
    linked = home / "linked"
    linked.mkdir()
    target = "../project/.git/worktrees/w" if relative else str(administration)
    (linked / ".git").write_text(f"gitdir: {target}\n")
    assert discovery.find(None, env, linked) == str(main)


@pytest.mark.parametrize(
    "content", ["gitdir: ../project/.git/modules/m\n", "gitdir: \n", "garbage\n", ""], ids=["submodule", "a", "b", "c"]
)
def test_another_git_file_is_the_end_of_the_search(
    home: pathlib.Path, project: pathlib.Path, env: dict[str, str], content: str
) -> None:
    database(project)
    (project / ".git" / "modules" / "m").mkdir(parents=True)
    (home / "module").mkdir()
    (home / "module" / ".git").write_text(content)
    assert is_missing(env, home / "module")


def test_a_new_database_goes_to_the_root_of_the_repository(project: pathlib.Path, env: dict[str, str]) -> None:
    expected = project / ".orchestrator" / "orchestrator.db"
    assert discovery.place(None, env, below(project)) == str(expected)
    assert not expected.exists()


def test_without_a_repository_a_new_database_goes_to_the_current_folder(
    home: pathlib.Path, env: dict[str, str]
) -> None:
    deep = below(home)
    assert discovery.place(None, env, deep) == str(deep / ".orchestrator" / "orchestrator.db")


def test_an_existing_database_stays_the_one(project: pathlib.Path, env: dict[str, str]) -> None:
    path = database(project / "sub")
    (project / "sub" / "dir").mkdir()
    assert discovery.place(None, env, project / "sub" / "dir") == str(path)


def test_worktrees_share_the_database_of_the_main_worktree(
    project: pathlib.Path, worktree: pathlib.Path, env: dict[str, str]
) -> None:
    assert discovery.place(None, env, below(worktree)) == str(project / ".orchestrator" / "orchestrator.db")


def test_a_named_place_is_the_place(project: pathlib.Path, env: dict[str, str], tmp_path: pathlib.Path) -> None:
    assert discovery.place("new/x.db", env, project) == str(project / "new" / "x.db")
    named = env | {"ORCHESTRATOR_DB": str(tmp_path / "y.db")}
    assert discovery.place(None, named, project) == str(tmp_path / "y.db")


@pytest.mark.parametrize("name", ["a?b", "a#b", "100%25", "with space", "it's", "emoji-\U0001f600", "-dash", "line\n"])
def test_folders_of_any_name_are_searched(home: pathlib.Path, env: dict[str, str], name: str) -> None:
    path = database(home / name)
    assert discovery.find(None, env, below(home / name)) == str(path)
