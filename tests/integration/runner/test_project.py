"""The folder that a session works in: named, never guessed; set up by one command alone, which overwrites nothing."""

from __future__ import annotations

import json
import os
import pathlib
import stat
import subprocess
import tempfile
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import config
from orchestrator.errors import EnvironmentProblem, InvalidInput, OrchestratorError, Refused, UsageError
from orchestrator.runner import checks, project
from orchestrator.runner.project import Pointers
from tests.integration.runner import elsewhere

ALL = (".claude", ".claude/agents", ".claude/rules", ".claude/CLAUDE.md", ".claude/settings.json")


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    """A project that is set up."""
    (tmp_path / "root").mkdir()
    project.init(tmp_path / "root")
    return tmp_path / "root"


@pytest.fixture
def temporary(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The system's temporary folder, which the test's own projects do not lie in."""
    (tmp_path / "temporary").mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    return tmp_path / "temporary"


def refused(root: pathlib.Path) -> OrchestratorError:
    with pytest.raises(Refused) as caught:
        project.check(root)
    return caught.value


class TestStructure:
    def test_a_project_that_is_set_up_is_accepted(self, root: pathlib.Path) -> None:
        project.check(root)
        assert project.is_set_up(root)

    def test_an_absent_path_and_a_file_are_e102(self, root: pathlib.Path) -> None:
        assert [refused(root / name).code for name in ("nothing", ".claude/CLAUDE.md", "a\0b")] == ["E102"] * 3

    def test_without_its_folder_it_is_e101_and_nothing_is_made(self, tmp_path: pathlib.Path) -> None:
        assert refused(tmp_path).code == "E101"
        assert list(tmp_path.iterdir()) == []

    def test_a_file_in_its_place_is_e101(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / ".claude").write_text("x")
        assert (refused(tmp_path).code, project.is_set_up(tmp_path)) == ("E101", False)

    def test_the_folder_of_a_parent_is_not_used(self, root: pathlib.Path) -> None:
        (root / "sub").mkdir()
        assert refused(root / "sub").code == "E101"

    @pytest.mark.parametrize("name", ["CLAUDE.md", "settings.json", "agents", "rules"])
    @pytest.mark.parametrize("replaced", [False, True], ids=["absent", "of another kind"])
    def test_what_is_absent_from_it_is_e103_and_named(self, root: pathlib.Path, name: str, replaced: bool) -> None:
        path = root / ".claude" / name
        path.rmdir() if path.is_dir() else path.unlink()
        if replaced:
            path.write_text("x") if name in ("agents", "rules") else path.mkdir()
        error = refused(root)
        assert (error.code, error.data["missing"]) == ("E103", [name if "." in name else f"{name}/"])
        assert name in error.message

    def test_all_that_is_absent_is_named(self, root: pathlib.Path) -> None:
        (root / ".claude/CLAUDE.md").unlink()
        (root / ".claude/rules").rmdir()
        assert refused(root).data["missing"] == ["CLAUDE.md", "rules/"]


class TestModes:
    def test_a_temporary_project_is_the_default_and_has_what_it_needs(self, temporary: pathlib.Path) -> None:
        found = project.resolve()
        assert (found.mode, found.made) == ("temp", ALL)
        assert pathlib.Path(found.root).parent == temporary
        assert "may be deleted afterwards" in found.warnings[0]
        project.check(found.root)
        assert project.settings(found.root) == config.Settings()
        assert stat.S_IMODE(os.stat(found.root).st_mode) == 0o700
        assert project.resolve(mode="temp").root != found.root

    def test_a_fixed_project_is_the_folder_that_is_named(self, root: pathlib.Path, temporary: pathlib.Path) -> None:
        before = sorted(root.rglob("*"))
        assert project.resolve(mode="fixed", root=str(root)) == (str(root), "fixed", _warned(root), ())
        assert sorted(root.rglob("*")) == before

    @pytest.mark.parametrize("given", [{"mode": "cwd"}, {"project": "."}, {"mode": "cwd", "project": "."}])
    def test_the_working_folder_is_one_too(self, root: pathlib.Path, given: dict[str, str]) -> None:
        assert project.resolve(folder=root, **given)[:2] == (str(root), "cwd")

    def test_a_relative_path_is_below_the_working_folder(self, root: pathlib.Path) -> None:
        assert project.resolve(folder=root.parent, project="root").root == str(root)
        assert project.resolve(folder=root.parent, mode="fixed", root="root").root == str(root)

    def test_a_named_folder_in_the_temporary_one_is_accepted_with_a_warning(self, temporary: pathlib.Path) -> None:
        (temporary / "named").mkdir()
        found = project.resolve(mode="fixed", root=str(temporary / "named"))
        assert (found.root, len(found.warnings)) == (str(temporary / "named"), 1)
        assert "may be deleted" in found.warnings[0]
        linked = temporary.parent / "linked"
        linked.symlink_to(temporary / "named")
        assert (project.resolve(mode="fixed", root=str(linked)).root, len(found.warnings)) == (str(linked), 1)

    def test_another_folder_that_is_named_is_fixed(self, root: pathlib.Path) -> None:
        (root / "inner").mkdir()
        assert project.resolve(folder=root, project="inner")[:2] == (str(root / "inner"), "fixed")

    @pytest.mark.parametrize("mode", ["fixed", "cwd"])
    def test_a_root_that_is_absent_or_a_file_is_e102_and_not_made(self, tmp_path: pathlib.Path, mode: str) -> None:
        (tmp_path / "file").write_text("x")
        for name, word in (("nothing", "exist"), ("file", "not a folder")):
            named: dict[str, Any] = {"root" if mode == "fixed" else "project": str(tmp_path / name)}
            with pytest.raises(Refused, match=word) as caught:
                project.resolve(mode=mode, **named)
            assert caught.value.code == "E102"
        assert [path.name for path in tmp_path.iterdir()] == ["file"]

    @pytest.mark.parametrize(
        "flags",
        [
            {"mode": "fixed"}, {"mode": "fixed", "root": ""}, {"root": "x"}, {"mode": "cwd", "root": "x"},
            {"mode": "temp", "root": "x"}, {"mode": "temp", "project": "x"}, {"project": ""}, {"mode": "other"},
            {"mode": "fixed", "root": "x", "project": "x"},
        ],
    )  # fmt: skip
    def test_flags_that_contradict_each_other_are_a_usage_error(
        self, flags: dict[str, str], temporary: pathlib.Path
    ) -> None:
        with pytest.raises(UsageError) as caught:
            project.resolve(**flags)
        assert (caught.value.code, list(temporary.iterdir())) == ("USAGE", [])


def _warned(root: pathlib.Path) -> tuple[str, ...]:
    inside = str(root.resolve()).startswith("/tmp/")  # noqa: S108 - where pytest has its folders, as a rule
    return (f"{root} is in /tmp and may be deleted.",) if inside else ()


def _full(_: int) -> None:
    raise OSError(28, "No space left on device")


    @pytest.mark.parametrize("name", ["CLAUDE.md", "settings.json", "agents", "rules"])
    @pytest.mark.parametrize("replaced", [False, True], ids=["absent", "of another kind"])
    def test_the_commands_that_it_suggests_mend_it(self, root: pathlib.Path, name: str, replaced: bool) -> None:
        path = root / ".claude" / name
        path.rmdir() if path.is_dir() else path.unlink()
        if replaced:
            path.write_text("x") if name in ("agents", "rules") else path.mkdir()
        error = refused(root)
        said = f"{path} is no {'file' if '.' in name else 'folder'}." if replaced else f"{root} lacks .claude/{name}."
        assert error.message == said
        *aside, init = error.suggestion.split(" && ")
        subprocess.run(["sh", "-c", " && ".join(aside) or "true"], check=True)
        assert init == f"orchestrator init --project {root}"
        project.init(root)
        project.check(root)
        assert project.settings(root) == config.Settings()
        assert (root / ".claude" / f"{name}.aside").exists() == replaced

    @pytest.mark.parametrize("make", [lambda path: path.write_text("x"), lambda path: path.symlink_to("nowhere")],
                             ids=["a file", "a dangling link"])  # fmt: skip
    def test_what_is_no_folder_is_to_be_put_aside_first(self, tmp_path: pathlib.Path, make: Any) -> None:
        make(tmp_path / ".claude")
        error = refused(tmp_path)
        with pytest.raises(Refused) as caught:
            project.init(tmp_path)
        assert error.message == f"{tmp_path}/.claude is not a folder."
        assert (caught.value.code, caught.value.data["paths"]) == ("E103", [".claude"])
        assert caught.value.message == f"{tmp_path}/.claude is not a folder; nothing was changed."
        assert error.suggestion == caught.value.suggestion
        command, _, then = error.suggestion.partition(" && ")
        assert then == f"orchestrator init --project {tmp_path}"
        subprocess.run(["sh", "-c", command], check=True)
        assert project.init(tmp_path) == ALL


class TestInit:
    def test_the_structure_is_made_and_told(self, tmp_path: pathlib.Path) -> None:
        assert project.init(tmp_path) == ALL
        project.check(tmp_path)
        assert project.settings(tmp_path) == config.Settings()
        assert [path.name for path in tmp_path.iterdir()] == [".claude"]

    def test_P2_what_exists_is_not_overwritten_and_what_is_missing_is_made(self, root: pathlib.Path) -> None:
        (root / ".claude/settings.json").write_text('{"model": "x"}')
        (root / ".claude/CLAUDE.md").unlink()
        (root / ".claude/rules").rmdir()
        before = {path: path.stat().st_mtime_ns for path in root.rglob("*") if path.is_file()}
        assert project.init(root) == (".claude/rules", ".claude/CLAUDE.md")
        assert {path: path.stat().st_mtime_ns for path in before} == before
        project.check(root)
        assert project.init(root) == ()

    def test_P2_a_guide_in_the_root_counts(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "CLAUDE.md").write_text("ours")
        assert project.init(tmp_path) == (".claude", ".claude/agents", ".claude/rules", ".claude/settings.json")
        project.check(tmp_path)
        assert sorted(path.name for path in tmp_path.rglob("CLAUDE.md")) == ["CLAUDE.md"]
        assert (tmp_path / "CLAUDE.md").read_text() == "ours"

    def test_P2_a_guide_in_the_root_that_is_no_file_is_e103(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "CLAUDE.md").mkdir()
        with pytest.raises(Refused) as caught:
            project.init(tmp_path)
        assert (caught.value.code, caught.value.data["paths"]) == ("E103", ["CLAUDE.md"])
        assert sorted(path.name for path in tmp_path.rglob("*")) == ["CLAUDE.md"]

    def test_no_key_of_ours_is_written_into_the_other_program_s_file(self, tmp_path: pathlib.Path) -> None:
        project.init(tmp_path)
        assert json.loads((tmp_path / ".claude/settings.json").read_text()) == {}
        assert not (tmp_path / "orchestrator.json").exists()

    def test_folders_that_exist_are_kept_and_the_rest_is_added(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / ".claude/agents").mkdir(parents=True)
        (tmp_path / ".claude/agents/mine.md").write_text("x")
        assert project.init(tmp_path) == (".claude/rules", ".claude/CLAUDE.md", ".claude/settings.json")
        project.check(tmp_path)
        assert (tmp_path / ".claude/agents/mine.md").read_text() == "x"

    @pytest.mark.parametrize(
        "make",
        [
            lambda root: (root / ".claude").write_text("x"),
            lambda root: (root / ".claude").symlink_to("nowhere"),
            lambda root: ((root / ".claude").mkdir(), (root / ".claude/agents").write_text("x")),
            lambda root: ((root / ".claude").mkdir(), (root / ".claude/CLAUDE.md").symlink_to("nowhere")),
        ],
        ids=["a file", "a dangling link", "a file for a folder", "a link for a file"],
    )
    def test_what_is_in_the_way_is_left_alone(self, tmp_path: pathlib.Path, make: Any) -> None:
        make(tmp_path)
        before = sorted(tmp_path.rglob("*"))
        with pytest.raises(Refused) as caught:
            project.init(tmp_path)
        assert (caught.value.code, sorted(tmp_path.rglob("*"))) == ("E103", before)

    def test_another_failure_of_the_last_step_is_told_as_it_is(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(*_: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr(pathlib.Path, "rename", fail)
        with pytest.raises(EnvironmentProblem, match="Input/output error"):
            project.init(tmp_path)
        assert list(tmp_path.iterdir()) == []

    def test_a_folder_that_was_made_goes_again_with_the_rest(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        (tmp_path / ".claude").mkdir()
        monkeypatch.setattr("os.fsync", _full)
        with pytest.raises(EnvironmentProblem):
            project.init(tmp_path)
        assert [path.name for path in tmp_path.rglob("*")] == [".claude"]

    def test_no_folder_is_made_for_it(self, tmp_path: pathlib.Path) -> None:
        with pytest.raises(Refused) as caught:
            project.init(tmp_path / "nothing")
        assert (caught.value.code, list(tmp_path.iterdir())) == ("E102", [])

    @pytest.mark.parametrize("prepared", [False, True], ids=["new", "folder exists"])
    def test_a_failure_leaves_nothing_behind(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, prepared: bool
    ) -> None:
        if prepared:
            (tmp_path / ".claude/agents").mkdir(parents=True)
        before = sorted(tmp_path.rglob("*"))
        monkeypatch.setattr("os.fsync", _full)
        with pytest.raises(EnvironmentProblem, match="No space left") as caught:
            project.init(tmp_path)
        assert (caught.value.code, sorted(tmp_path.rglob("*"))) == ("OUTPUT_FAILED", before)

    def test_what_somebody_makes_who_is_faster_is_not_overwritten(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        rename = pathlib.Path.rename

        def later(self: pathlib.Path, target: pathlib.Path) -> pathlib.Path:
            target.mkdir()
            (target / "theirs").write_text("x")
            return rename(self, target)

        monkeypatch.setattr(pathlib.Path, "rename", later)
        assert project.init(tmp_path) == ALL[1:]
        project.check(tmp_path)
        assert (tmp_path / ".claude/theirs").read_text() == "x"
        assert [path.name for path in tmp_path.iterdir()] == [".claude"]

    def test_a_folder_that_may_not_be_written_to_is_left_as_it_is(self) -> None:
        with elsewhere.folder() as root:
            root.chmod(0o555)
            assert elsewhere.as_another(lambda: project.init(root))[0] == "OUTPUT_FAILED"
            assert list(root.iterdir()) == []


class TestSettings:
    @pytest.mark.parametrize(
        ("text", "code"), [("{bad", "E105"), ('{"task_limits": {"files": 21}}', "E104"), ('{"task_limit": 1}', "E104")]
    )
    def test_a_bad_file_gives_its_code(self, root: pathlib.Path, text: str, code: str) -> None:
        (root / ".claude/settings.json").write_text(text)
        with pytest.raises(InvalidInput) as caught:
            project.settings(root)
        assert caught.value.code == code

    def test_an_absent_one_is_e103(self, root: pathlib.Path) -> None:
        (root / ".claude/settings.json").unlink()
        with pytest.raises(Refused) as caught:
            project.settings(root)
        assert caught.value.code == "E103"

    def test_one_that_cannot_be_read_is_e103(self) -> None:
        with elsewhere.folder() as root:
            project.init(root)
            (root / ".claude").chmod(0o755)
            (root / ".claude/settings.json").chmod(0o000)
            assert elsewhere.as_another(lambda: project.settings(root))[0] == "E103"


    @pytest.mark.parametrize(
        ("text", "code"),
        [
            ("{bad", "E105"), ("", "E105"), ("\ufeff", "E105"), ("[]", "E104"),
            ('{"task_limits": {"files": 21}}', "E104"),
            ('{"task_limits": 3}', "E104"), ('{"task_limit": {}}', "E104"), ('{"orchestrator": {}}', "E104"),
            ('{"model": "x"}', "E104"), ('{"task_limits": {"files": true}}', "E104"),
        ],
    )  # fmt: skip
    def test_P3_a_bad_orchestrator_json_gives_its_code_and_names_the_file(
        self, root: pathlib.Path, text: str, code: str
    ) -> None:
        (root / "orchestrator.json").write_text(text)
        with pytest.raises(InvalidInput) as caught:
            project.settings(root)
        assert (caught.value.code, caught.value.suggestion) == (code, "Fix orchestrator.json; none of it was used")

    def test_P3_one_that_is_not_utf_8_is_e105(self, root: pathlib.Path) -> None:
        (root / "orchestrator.json").write_bytes(b'{"\xff": 1}')
        with pytest.raises(InvalidInput) as caught:
            project.settings(root)
        assert caught.value.code == "E105"

    @pytest.mark.parametrize(
        ("make", "reason"),
        [
            (lambda path: path.mkdir(), "cannot be read: it is not a regular file"),
            (lambda path: os.mkfifo(path), "cannot be read: it is not a regular file"),
            (lambda path: path.symlink_to(path), "is a symbolic link"),
            (lambda path: path.symlink_to("nowhere"), "is a symbolic link"),
        ],
        ids=["a folder", "a pipe", "a loop", "a dangling link"],
    )
    def test_P3_what_is_no_regular_file_is_e103(self, root: pathlib.Path, make: Any, reason: str) -> None:
        make(root / "orchestrator.json")
        with pytest.raises(Refused) as caught:
            project.settings(root)
        assert (caught.value.code, caught.value.message) == ("E103", f"{root}/orchestrator.json {reason}.")

    def test_orchestrator_json_wins_value_by_value(self, root: pathlib.Path) -> None:
        both = {"orchestrator": {"task_limits": {"files": 2, "tests": 3}, "timeouts": {"deadlock_timeout_seconds": 40}}}
        (root / ".claude/settings.json").write_text(json.dumps(both))
        assert project.settings(root).task_limits[:2] == (2, 3)
        (root / "orchestrator.json").write_text('{"task_limits": {"files": 7}}')
        found = project.settings(root)
        assert (found.task_limits[:2], found.timeouts.deadlock_timeout_seconds) == ((7, 3), 40)
        (warning,) = project.outdated(root)
        assert "holds task_limits, timeouts; move them to" in warning

    def test_what_is_wrong_in_either_file_is_told(self, root: pathlib.Path) -> None:
        (root / "orchestrator.json").write_text("{}")
        (root / ".claude/settings.json").write_text('{"orchestrator": {"task_limits": {"files": 0}}}')
        with pytest.raises(InvalidInput) as caught:
            project.settings(root)
        assert caught.value.suggestion == "Fix .claude/settings.json; none of it was used"

    def test_without_settings_in_the_other_file_there_is_nothing_to_move(self, root: pathlib.Path) -> None:
        assert project.outdated(root) == ()


class TestOfWorktrees:
    """Of a linked worktree the file in the main checkout counts."""

    @pytest.fixture
    def main(self, root: pathlib.Path) -> pathlib.Path:
        for argv in (["init", "-q"], ["add", "-A"], ["commit", "-qm", "x"]):
            self.git(root, *argv)
        return root

    def git(self, folder: pathlib.Path, *argv: str) -> None:
        who = ("-c", "user.name=a", "-c", "user.email=a@b", "-c", "core.hooksPath=/dev/null")
        subprocess.run(["git", *who, *argv], cwd=folder, check=True, capture_output=True)

    def test_the_main_checkout_has_its_own(self, main: pathlib.Path) -> None:
        assert project.own_settings(main) == str(main / "orchestrator.json")

    @pytest.mark.parametrize("inner", [".", "sub"])
    def test_a_linked_worktree_has_that_of_the_main_checkout(self, main: pathlib.Path, inner: str) -> None:
        self.git(main, "worktree", "add", "-q", str(main / "trees/a"))
        (main / "trees/a/sub").mkdir()
        expected = os.path.normpath(main / inner / "orchestrator.json")
        assert project.own_settings(main / "trees/a" / inner) == expected

    def test_a_repository_within_a_worktree_has_its_own(self, main: pathlib.Path) -> None:
        self.git(main, "worktree", "add", "-q", str(main / "trees/a"))
        (main / "trees/a/nested").mkdir()
        self.git(main / "trees/a/nested", "init", "-q")
        assert project.own_settings(main / "trees/a/nested") == str(main / "trees/a/nested/orchestrator.json")

    @pytest.mark.parametrize("text", ["", "gitdir: nowhere", "gitdir: ../.git", "\0", "nonsense"])
    def test_a_file_in_git_s_place_that_leads_nowhere_changes_nothing(self, root: pathlib.Path, text: str) -> None:
        (root / ".git").write_text(text)
        assert project.own_settings(root) == str(root / "orchestrator.json")

    def test_a_linked_worktree_of_a_submodule_has_that_of_the_submodule(self, main: pathlib.Path) -> None:
        outer = main.parent / "outer"
        self.git(main.parent, "init", "-q", str(outer))
        self.git(outer, "-c", "protocol.file.allow=always", "submodule", "--quiet", "add", str(main), "inner")
        self.git(outer / "inner", "worktree", "add", "-q", str(main.parent / "tree"))
        assert project.own_settings(main.parent / "tree") == str(outer / "inner/orchestrator.json")

    def test_a_worktree_of_a_bare_repository_has_its_own(self, main: pathlib.Path) -> None:
        self.git(main.parent, "clone", "-q", "--bare", str(main), "bare.git")
        self.git(main.parent / "bare.git", "worktree", "add", "-q", str(main.parent / "tree"))
        assert project.own_settings(main.parent / "tree") == str(main.parent / "tree/orchestrator.json")


class TestPointers:
    def test_there_are_none_at_first(self, root: pathlib.Path) -> None:
        assert project.load_pointers(root) == Pointers(None, None)

    @pytest.mark.parametrize("state", ["complete", "incomplete", "error", "NO_EVIDENCE"])
    def test_they_are_saved_each_time(self, root: pathlib.Path, state: str) -> None:
        path = root / ".claude/repl.json"
        project.save_pointers(root, Pointers("task-1", None))
        running = (project.load_pointers(root), path.stat().st_ino)
        project.save_pointers(root, Pointers(None, "task-1"))
        assert running == (Pointers("task-1", None), running[1])
        assert project.load_pointers(root) == Pointers(None, "task-1")
        assert json.loads(path.read_text()) == {"current_task_id": None, "last_task_id": "task-1"}
        assert stat.S_IMODE(path.stat().st_mode) == 0o600
        # What a reader opened before is whole, too: the name got another file.
        assert path.stat().st_ino != running[1]
        assert sorted(found.name for found in path.parent.iterdir()) == [
            "CLAUDE.md", "agents", "repl.json", "rules", "settings.json",
        ]  # fmt: skip

    def test_one_task_does_not_run_after_its_end(self, root: pathlib.Path) -> None:
        with pytest.raises(ValueError, match="runs and has ended"):
            project.save_pointers(root, Pointers("task-1", "task-1"))

    @pytest.mark.parametrize("text", ["", "{", "[]", "{}", '{"current_task_id": 5, "last_task_id": null}'])
    def test_what_the_runner_does_not_write_is_e105(self, root: pathlib.Path, text: str) -> None:
        (root / ".claude/repl.json").write_text(text)
        with pytest.raises(InvalidInput) as caught:
            project.load_pointers(root)
        assert caught.value.code == "E105"

    def test_a_failed_write_keeps_what_was_there(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        project.save_pointers(root, Pointers("task-1", None))

        def broken(*_: object) -> None:
            raise OSError(5, "Input/output error")

        monkeypatch.setattr("os.replace", broken)
        with pytest.raises(EnvironmentProblem) as caught:
            project.save_pointers(root, Pointers(None, "task-1"))
        assert (caught.value.code, project.load_pointers(root)) == ("OUTPUT_FAILED", Pointers("task-1", None))
        assert not list((root / ".claude").glob(".repl*"))


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["CLAUDE.md", "settings.json", "agents", "rules"]), unique=True), st.booleans())
def test_p2_exactly_what_is_absent_is_named_and_nothing_is_ever_made(absent: list[str], whole: bool) -> None:
    # Many short lives of folders whose durability matters to nobody.
    with tempfile.TemporaryDirectory() as name, mock.patch("os.fsync"):
        root = pathlib.Path(name)
        project.init(root)
        for child in absent:
            path = root / ".claude" / child
            path.rmdir() if path.is_dir() else path.unlink()
        before = sorted(root.rglob("*"))
        try:
            project.check(root)
            missing = []
        except Refused as error:
            missing = [child.rstrip("/") for child in error.data["missing"]]
        assert (sorted(missing), sorted(root.rglob("*"))) == (sorted(absent), before)
        if whole:
            assert sorted(project.init(root)) == sorted(f".claude/{child}" for child in absent)
            project.check(root)


class TestChecks:
    def write(self, root: pathlib.Path, **files: str) -> None:
        for name, text in files.items():
            path = root / name.replace("__", "/").replace("_dot_", ".")
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_text(text)

    def test_the_commands_of_a_project_are_those_that_it_declares(self, root: pathlib.Path) -> None:
        self.write(root, Makefile="lint:\nbuild:\n", pyproject_dot_toml="[tool.mypy]\n", test_a_dot_py="")
        found = checks.find(root)
        assert found == (
            (("make", "lint"),), (("python3", "-m", "pytest"),), (("python3", "-m", "mypy", "."),),
            (("make", "build"),),
        )  # fmt: skip

    def test_python_is_that_of_the_project(self, root: pathlib.Path) -> None:
        self.write(root, test_a_dot_py="", _dot_venv__bin__python="#!/bin/sh\nexit 0\n")
        (root / ".venv/bin/python").chmod(0o700)
        assert checks.find(root).tests == ((str(root / ".venv/bin/python"), "-m", "pytest"),)
        assert checks.run(root, timeout_s=20)["tests"] == "passed"

    def test_each_check_is_passed_failed_or_none(self, root: pathlib.Path) -> None:
        commands = {"lint": [["true"]], "tests": [["true"], ["false"]], "types": [["no-such-program"]]}
        set_up = config.parse({"orchestrator": {"detection": {"checks": commands}}}).detection
        assert checks.run(root, timeout_s=20, detection=set_up) == {
            "lint": "passed",
            "tests": "failed: exit 1 (false)",
            "types": "failed: cannot be started: No such file or directory (no-such-program)",
            "build": None,
        }

    def test_a_check_that_takes_too_long_has_failed(self, root: pathlib.Path) -> None:
        set_up = config.parse({"orchestrator": {"detection": {"checks": {"tests": [["sleep", "60"]]}}}}).detection
        found = checks.run(root, timeout_s=0.2, detection=set_up)
        assert found["tests"] == "failed: killed after 0.2 seconds (sleep 60)"

    def test_signs_of_tests_besides_the_names_of_files(self, root: pathlib.Path) -> None:
        assert checks.other_tests(root) == ()
        self.write(root, Makefile="test:\n")
        assert checks.other_tests(root) == ("make test",)
        self.write(root, Cargo_dot_toml="", src__lib_dot_rs="fn a() {}\n", src__z_dot_rs="#[cfg(test)]\nmod tests {}\n")
        assert checks.other_tests(root) == ("make test", "src/z.rs")

    def test_tests_in_the_sources_of_packages_or_unreadable_ones_do_not_count(self, root: pathlib.Path) -> None:
        self.write(root, Cargo_dot_toml="", vendor__lib_dot_rs="#[test]", b_dot_rs="")
        (root / "a.rs").symlink_to("nowhere")
        assert checks.other_tests(root) == ()

    def test_a_command_of_the_settings_is_a_sign_of_tests(self, root: pathlib.Path) -> None:
        set_up = config.parse({"orchestrator": {"detection": {"checks": {"tests": [["./check", "-x"]]}}}}).detection
        assert checks.other_tests(root, set_up) == ("./check -x",)
