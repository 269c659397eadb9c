"""What changed in a tree, found on the disk and not in what anybody says; and what claims are worth."""

from __future__ import annotations

import hashlib
import os
import pathlib
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.core.running import evidence
from orchestrator.errors import Refused
from orchestrator.runner import snapshot, verified_files
from tests.integration.app.desk import Desk
from tests.integration.runner import elsewhere

AT = "2026-01-02T03:04:05.000006Z"
LATER_NS = 5_000_000_000


def changes(root: pathlib.Path, act: Callable[[], object]) -> list[tuple[str, str]]:
    before = snapshot.take(root)
    act()
    return [change[:2] for change in snapshot.changed(before, snapshot.take(root))]


def look(root: pathlib.Path, act: Callable[[], object], *claimed: str) -> verified_files.Verification:
    before = snapshot.take(root)
    act()
    after = snapshot.take(root)
    return verified_files.verify(before, after, snapshot.changed(before, after), claimed, AT)


def replaced(path: pathlib.Path, content: bytes) -> None:
    """Put another file with a content in the place of one."""
    other = path.with_name("other")
    other.write_bytes(content)
    other.replace(path)


def nothing() -> None:
    """What an executor that does nothing does."""


@pytest.fixture
def root(tmp_path: pathlib.Path) -> pathlib.Path:
    root = tmp_path / "project"
    (root / "src").mkdir(parents=True)
    for name in ("README.md", "src/a.py", "src/b.py"):
        (root / name).write_text(name)
    return root


class TestChanges:
    def test_nothing_changed_where_nothing_was_done(self, root: pathlib.Path) -> None:
        assert changes(root, lambda: (root / "src/a.py").read_text()) == []

    def test_a_new_file_is_found(self, root: pathlib.Path) -> None:
        assert changes(root, lambda: (root / "src/c.py").write_text("c")) == [("src/c.py", "new")]

    @pytest.mark.parametrize(
        "act",
        [
            pytest.param(lambda path: os.utime(path, ns=(5, time.time_ns() - LATER_NS)), id="touched"),
            pytest.param(lambda path: path.chmod(0o755), id="permissions"),
            pytest.param(lambda path: path.write_bytes(path.read_bytes()), id="the same bytes"),
            pytest.param(lambda path: replaced(path, path.read_bytes()), id="replaced by the same bytes"),
            pytest.param(lambda path: (path.write_text("x"), path.write_text("src/a.py")), id="there and back"),
        ],
    )
    def test_p31_the_same_content_is_no_change(
        self, root: pathlib.Path, act: Callable[[pathlib.Path], object]
    ) -> None:
        assert changes(root, lambda: act(root / "src/a.py")) == []

    def test_p31_other_bytes_of_the_same_length_and_times_are_a_change(self, root: pathlib.Path) -> None:
        def write() -> None:
            found = (root / "src/a.py").stat()
            (root / "src/a.py").write_text("src/A.py")
            os.utime(root / "src/a.py", ns=(found.st_atime_ns, found.st_mtime_ns))

        assert changes(root, write) == [("src/a.py", "changed")]

    def test_a_link_in_the_place_of_a_file_is_a_change_and_where_it_leads_is_its_content(
        self, root: pathlib.Path
    ) -> None:
        (root / "link").symlink_to("README.md")

        def link() -> None:
            (root / "src/a.py").unlink()
            (root / "src/a.py").symlink_to("src/a.py")

        assert changes(root, link) == [("src/a.py", "changed")]
        assert changes(root, lambda: ((root / "link").unlink(), (root / "link").symlink_to("README.md"))) == []
        assert changes(root, lambda: ((root / "link").unlink(), (root / "link").symlink_to("src/b.py"))) == [
            ("link", "changed")
        ]

    @pytest.mark.parametrize(("largest", "in_all"), [(4, 100), (100, 20)])
    def test_of_what_is_too_large_to_be_read_only_another_size_is_a_change(
        self, root: pathlib.Path, largest: int, in_all: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "LARGEST", largest)
        monkeypatch.setattr(snapshot, "IN_ALL", in_all)
        (root / "large").write_text("0123456789012345")
        assert changes(root, lambda: (root / "large").write_text("1123456789012345")) == []
        assert changes(root, lambda: (root / "large").write_text("more than it was before")) == [("large", "changed")]

    def test_the_smallest_files_are_read_first(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshot, "IN_ALL", 20)
        assert set(snapshot.take(root).contents) == {"src/a.py", "src/b.py"}

    def test_folders_are_told(self, root: pathlib.Path) -> None:
        (root / "empty").mkdir()
        assert snapshot.take(root, contents=False).folders == {"src", "empty"}

    def test_a_changed_size_is_found(self, root: pathlib.Path) -> None:
        assert changes(root, lambda: (root / "src/a.py").write_text("longer than before")) == [("src/a.py", "changed")]

    def test_a_deleted_file_is_found(self, root: pathlib.Path) -> None:
        assert changes(root, (root / "src/b.py").unlink) == [("src/b.py", "deleted")]

    def test_a_file_of_the_same_size_and_modification_time_is_found_by_its_inode(self, root: pathlib.Path) -> None:
        def replace() -> None:
            path, other = root / "src/a.py", root / "src/x"
            other.write_text("src/A.py")
            found = path.stat()
            os.utime(other, ns=(found.st_atime_ns, found.st_mtime_ns))
            other.replace(path)

        assert changes(root, replace) == [("src/a.py", "changed")]

    def test_a_write_at_once_that_leaves_every_number_as_it_was_is_found_by_its_content(
        self, root: pathlib.Path
    ) -> None:
        before = snapshot.take(root)
        (root / "src/a.py").write_text("src/A.py")
        # As on a file system that keeps times in whole seconds.
        after = snapshot.take(root)
        same = after._replace(files=before.files)
        assert [change[:2] for change in snapshot.changed(before, same)] == [("src/a.py", "changed")]

    def test_afterwards_only_what_may_have_been_written_is_read(
        self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        time.sleep(0.01)
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        before = snapshot.take(root)
        (root / "src/a.py").write_text("src/A.py")
        after = snapshot.take(root, contents=False)
        assert after.contents == {}
        read: list[str] = []
        real = snapshot._digest
        monkeypatch.setattr(snapshot, "_digest", lambda full, size: read.append(full) or real(full, size))
        snapshot.changed(before, after)
        assert read == [str(root / "src/a.py")]

    @pytest.mark.parametrize("said", [0, 1, 5, 9])
    def test_a_digest_is_of_the_whole_file_whatever_size_it_is_said_to_have(
        self, root: pathlib.Path, said: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "_CHUNK", 3)
        (root / "x").write_bytes(b"12345")
        assert snapshot._digest(str(root / "x"), said) == hashlib.sha256(b"12345").digest()

    def test_the_hash_of_a_change_is_that_of_evidence(self, root: pathlib.Path) -> None:
        before = snapshot.take(root)
        (root / "new.py").write_bytes(b"x" * 3_000_000)
        (root / "README.md").unlink()
        found = snapshot.changed(before, snapshot.take(root))
        assert [change.hash for change in found] == [None, evidence.digest("new.py", b"x" * 3_000_000)]
        items = snapshot.artifacts(found, str(root))
        assert [(item.path, item.size) for item in items] == [("README.md", 0), ("new.py", 3_000_000)]

    @pytest.mark.parametrize("name", sorted(snapshot.SKIPPED))
    def test_some_names_are_skipped_at_any_depth(self, root: pathlib.Path, name: str) -> None:
        def write() -> None:
            for folder in (root / name, root / "src" / name):
                folder.mkdir()
                (folder / "x").write_text("x")

        assert changes(root, write) == []

    def test_other_names_with_a_dot_are_not_skipped(self, root: pathlib.Path) -> None:
        def write() -> None:
            (root / ".github").mkdir()
            (root / ".github/ci.yml").write_text("x")
            (root / ".env").write_text("x")

        assert changes(root, write) == [(".env", "new"), (".github/ci.yml", "new")]

    def test_paths_of_twenty_names_are_seen_and_longer_ones_not(self, root: pathlib.Path) -> None:
        deep = root.joinpath(*["d"] * 20)

        def write() -> None:
            deep.mkdir(parents=True)
            (deep / "unseen").write_text("x")
            (deep.parent / "seen").write_text("x")

        assert changes(root, write) == [("d/" * 19 + "seen", "new")]

    def test_links_are_entries_and_are_not_followed(self, root: pathlib.Path, tmp_path: pathlib.Path) -> None:
        (tmp_path / "outside").mkdir()
        (tmp_path / "outside/x").write_text("x")

        def link() -> None:
            (root / "out").symlink_to(tmp_path / "outside")
            (root / "loop").symlink_to(root)
            (root / "file").symlink_to("README.md")

        assert changes(root, link) == [("file", "new"), ("loop", "new"), ("out", "new")]
        assert changes(root, lambda: (tmp_path / "outside/y").write_text("y")) == []

    def test_where_a_link_points_to_is_its_content(self, root: pathlib.Path) -> None:
        (root / "link").symlink_to("README.md")
        assert snapshot.content_hash(str(root), "link") == evidence.digest("link", b"README.md")

    def test_what_is_no_file_is_not_looked_at(self, root: pathlib.Path) -> None:
        assert changes(root, lambda: os.mkfifo(root / "pipe")) == []
        assert snapshot.content_hash(str(root), "pipe") is None

    def test_a_file_that_becomes_a_folder_is_deleted(self, root: pathlib.Path) -> None:
        def turn() -> None:
            (root / "README.md").unlink()
            (root / "README.md").mkdir()
            (root / "README.md/x").write_text("x")

        assert changes(root, turn) == [("README.md", "deleted"), ("README.md/x", "new")]

    def test_a_name_that_is_no_utf8_is_found_and_told(self, root: pathlib.Path) -> None:
        name = os.fsencode(root) + b"/\xe9\n.py"
        before = snapshot.take(root)
        pathlib.Path(os.fsdecode(name)).write_text("x")
        found = snapshot.changed(before, snapshot.take(root))
        assert [snapshot.told(change.path) for change in found] == ["\\xe9\n.py"]
        assert snapshot.artifacts(found, str(root)) == ()

    def test_the_paths_of_a_tree_are_those_of_its_snapshot(self, root: pathlib.Path) -> None:
        assert snapshot.paths(root) == ("README.md", "src/a.py", "src/b.py")

    @pytest.mark.parametrize("name", ["nothing", "README.md"])
    def test_a_root_that_is_no_folder_is_e102(self, root: pathlib.Path, name: str) -> None:
        with pytest.raises(Refused) as caught:
            snapshot.take(root / name)
        assert caught.value.code == "E102"

    def test_of_a_folder_that_cannot_be_looked_into_nothing_is_said(self) -> None:
        with elsewhere.folder() as root:
            (root / "closed").mkdir()
            (root / "closed/x").write_text("x")
            (root / "open").write_text("x")
            before = snapshot.take(root)
            (root / "closed").chmod(0o300)
            (root / "open").write_text("more")

            def see() -> object:
                after = snapshot.take(root)
                return [after.unreadable, [change[:2] for change in snapshot.changed(before, after)]]

            assert elsewhere.as_another(see) == [["closed/"], [["open", "changed"]]]

    def test_a_root_that_cannot_be_looked_into_is_e102(self) -> None:
        with elsewhere.folder() as root:
            (root / "closed").mkdir(0o300)
            assert elsewhere.as_another(lambda: snapshot.take(root / "closed").root)[0] == "E102"

    def test_folders_are_looked_into_by_name_where_the_system_has_no_other_way(
        self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        before = snapshot.take(root)
        monkeypatch.setattr(snapshot, "_BY_DESCRIPTOR", False)
        assert snapshot.take(root).files == before.files

    def test_a_file_that_goes_while_it_is_looked_at_is_none(
        self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        real = snapshot._signature

        def gone(found: os.stat_result) -> object:
            if found.st_size == len("src/a.py"):
                raise FileNotFoundError
            return real(found)

        monkeypatch.setattr(snapshot, "_signature", gone)
        assert set(snapshot.take(root).files) == {"README.md"}

    def test_what_cannot_be_read_is_no_change_where_its_size_is_the_same(self) -> None:
        with elsewhere.folder() as root:
            (root / "secret").write_text("x")
            before = snapshot.take(root)
            (root / "secret").chmod(0o000)

            def see() -> object:
                after = snapshot.take(root)
                return [sorted(after.contents), [change[:2] for change in snapshot.changed(before, after)]]

            assert elsewhere.as_another(see) == [[], []]


class TestClaims:
    def test_changed_files_are_verified(self, root: pathlib.Path) -> None:
        found = look(root, lambda: (root / "c.py").write_text("c"), "c.py")
        assert found == ((("c.py", True, AT, "diff"),), ())
        assert found.modified == 1

    def test_where_others_worked_too_a_claimed_file_that_exists_proves_nothing(self, root: pathlib.Path) -> None:
        before = snapshot.take(root)
        (root / "made.md").write_text("x")
        (root / "node_modules").mkdir()
        (root / "node_modules" / "b.js").write_text("x")
        claimed = ("made.md", "node_modules/b.js", "absent.md")
        found = verified_files.verify(before, snapshot.take(root), [], claimed, AT, alone=False)
        assert [(file.path, file.exists) for file in found.files] == [("absent.md", False)]
        assert [(each.path, each.why) for each in found.problems] == [
            (path, "others worked in the project at the same time") for path in claimed[:2]
        ]

    def test_a_claimed_file_that_is_absent_does_not_exist(self, root: pathlib.Path) -> None:
        (root / "README.md").unlink()
        found = look(root, nothing, "README.md", "./docs/x.md")
        assert found.files == (
            ("README.md", False, AT, "executor_claim"), ("docs/x.md", False, AT, "executor_claim"),
        )  # fmt: skip
        assert found.modified == 0

    def test_one_that_exists_and_one_that_does_not_are_both_listed(self, root: pathlib.Path) -> None:
        found = look(root, lambda: (root / "c.py").write_text("c"), "absent.py")
        assert [(file.path, file.exists) for file in found.files] == [("absent.py", False), ("c.py", True)]
        assert found.modified == 1

    def test_a_deleted_file_is_one_of_the_difference(self, root: pathlib.Path) -> None:
        found = look(root, (root / "README.md").unlink, "README.md")
        assert found.files == (("README.md", False, AT, "diff"),)

    def test_a_claimed_file_that_was_not_changed_proves_nothing(self, root: pathlib.Path) -> None:
        assert look(root, nothing, "README.md", "src/../README.md") == ((), (("README.md", "it was not changed"),))

    def test_an_absolute_path_counts_as_what_it_is_below_the_root(self, root: pathlib.Path) -> None:
        found = look(root, lambda: (root / "src/a.py").write_text("new"), str(root / "src/a.py"))
        assert found == ((("src/a.py", True, AT, "diff"),), ())

    @pytest.mark.parametrize("claim", [
        "src/../src/a.py", "gone/../src/a.py", "./src//a.py", "{root}/src/../src/./a.py",
    ])  # fmt: skip
    def test_every_spelling_of_a_path_is_one(self, root: pathlib.Path, claim: str) -> None:
        found = look(root, lambda: (root / "src/a.py").write_text("new"), claim.format(root=root))
        assert found == ((("src/a.py", True, AT, "diff"),), ())

    @pytest.mark.parametrize("link", ["", ".."], ids=["to the project", "to a folder above it"])
    def test_a_project_may_be_named_by_a_link(self, root: pathlib.Path, tmp_path: pathlib.Path, link: str) -> None:
        (tmp_path / "link").symlink_to((root / link).resolve())
        top = tmp_path / "link" / (root.name if link else "")
        found = look(root, lambda: (root / "src/a.py").write_text("new"), str(top / "src/a.py"))
        assert found == ((("src/a.py", True, AT, "diff"),), ())

    def test_behind_a_link_two_dots_lead_elsewhere(self, root: pathlib.Path, tmp_path: pathlib.Path) -> None:
        (tmp_path / "elsewhere" / "deep").mkdir(parents=True)
        (root / "way").symlink_to(tmp_path / "elsewhere" / "deep")
        found = look(root, lambda: (root / "src/a.py").write_text("new"), "way/../src/a.py")
        assert found.problems == (("'way/../src/a.py'", "it leaves a folder again with .., by a link"),)

    @pytest.mark.parametrize(
        ("claim", "why"),
        [
            ("/etc/passwd", "it lies outside of the project"),
            ("../outside.py", "it lies outside of the project"),
            ("src/../../project/README.md", "it lies outside of the project"),
            ("", "it is no path"),
            (" \n", "it is no path"),
            ("a\0b", "it is no path"),
            ("\ud800", "it is no path"),
            (".", "it is no file"),
            ("src", "it is no file within the project"),
            (".git/HEAD", "such files are no result of a task"),
            (".orchestrator/sessions/S/x", "such files are no result of a task"),
            (".claude/repl.json", "such files are no result of a task"),
            ("way/HEAD", "such files are no result of a task"),
            ("out/x", "a link leads out of the project"),
        ],
    )
    def test_other_claims_verify_nothing(
        self, root: pathlib.Path, tmp_path: pathlib.Path, claim: str, why: str
    ) -> None:
        (root / "way").symlink_to(".git")
        (root / "out").symlink_to(tmp_path)
        (root / ".claude").mkdir()

        def write() -> None:
            for path in (".git/HEAD", ".orchestrator/sessions/S/x", ".claude/repl.json", "../x"):
                (root / path).parent.mkdir(parents=True, exist_ok=True)
                (root / path).write_text("x")

        found = look(root, write, claim)
        assert (found.files, [problem.why for problem in found.problems]) == ((), [why])

    def test_a_claim_where_no_snapshot_looks_is_verified_where_it_was_just_written(self, root: pathlib.Path) -> None:
        agents = root / ".claude/agents"
        agents.mkdir(parents=True)
        (agents / "old.md").write_text("x")
        time.sleep(0.05)
        claimed = (".claude/agents/new.md", ".claude/agents/old.md")
        found = look(root, lambda: (agents / "new.md").write_text("x"), *claimed)
        assert found == (
            ((".claude/agents/new.md", True, AT, "executor_claim"),),
            ((".claude/agents/old.md", "it was not changed"),),
        )

    def test_a_new_link_exists_where_it_leads_to_a_file_within(
        self, root: pathlib.Path, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "outside").write_text("x")

        def link() -> None:
            (root / "in").symlink_to("README.md")
            (root / "out").symlink_to(tmp_path / "outside")
            (root / "dangling").symlink_to("nowhere")
            (root / "folder").symlink_to("src")

        found = look(root, link)
        assert [file.path for file in found.files if file.exists] == ["in"]
        assert len(found.files) == 4


names = st.sampled_from(["a", "b", ".c", "d e", "é", "x/a", "x/y/b", "z/a", "x/.git/c", "node_modules/a"])
@pytest.fixture
def read(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of the files that are read, one after the other."""
    found: list[str] = []
    real = snapshot._digest
    monkeypatch.setattr(
        snapshot, "_digest", lambda full, size: found.append(os.path.basename(full)) or real(full, size)
    )
    return found


class TestLookingAgain:
    def test_what_was_written_long_before_the_last_look_is_not_read_again(
        self, root: pathlib.Path, read: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        looks = snapshot.Looks()
        time.sleep(0.01)
        first = looks.take(root)
        assert sorted(read) == ["README.md", "a.py", "b.py"]
        read.clear()
        (root / "src/a.py").write_text("src/A.py")
        (root / "new").write_text("new")
        second = looks.take(root)
        assert sorted(read) == ["a.py", "new"]
        assert second.contents == snapshot.take(root).contents
        assert second.contents["src/b.py"] == first.contents["src/b.py"]
        (root / "new").unlink()
        assert looks.take(root).contents == snapshot.take(root).contents

    def test_what_was_written_shortly_before_the_last_look_is_read_again(
        self, root: pathlib.Path, read: list[str]
    ) -> None:
        before = snapshot.take(root)
        (root / "src/a.py").write_text("src/A.py")
        # As on a file system that keeps times in whole seconds: every number is as it was.
        assert snapshot._trusted(before, str(root), before.files) == {}
        read.clear()
        snapshot.take(root, known=before)
        assert sorted(read) == ["README.md", "a.py", "b.py"]

    @pytest.mark.parametrize("place", range(4))
    def test_every_number_of_a_file_counts(
        self, root: pathlib.Path, place: int, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        time.sleep(0.01)
        before = snapshot.take(root)
        assert set(snapshot._trusted(before, str(root), before.files)) == set(before.files)
        other = list(before.files["README.md"])
        other[place] += 1
        files = {**before.files, "README.md": tuple(other)}
        assert set(snapshot._trusted(before, str(root), files)) == {"src/a.py", "src/b.py"}

    def test_where_times_can_be_set_back_everything_is_read_again(
        self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        time.sleep(0.01)
        before = snapshot.take(root)
        monkeypatch.setattr(snapshot, "_WRITTEN", 1)
        assert snapshot._trusted(before, str(root), before.files) == {}

    def test_another_tree_is_no_earlier_look(self, root: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        time.sleep(0.01)
        before = snapshot.take(root)
        assert snapshot._trusted(before, str(root / "src"), before.files) == {}

    def test_the_trees_that_were_looked_at_last_are_kept(
        self, tmp_path: pathlib.Path, read: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(snapshot, "RECENT_NS", 0)
        monkeypatch.setattr(snapshot, "TREES_KEPT", 2)
        looks = snapshot.Looks()
        for name in ("one", "two", "three"):
            (tmp_path / name).mkdir()
            (tmp_path / name / name).write_text(name)
        time.sleep(0.01)
        for name in ("one", "two", "three", "two", "three", "one"):
            looks.take(tmp_path / name)
        assert read == ["one", "two", "three", "one"]


contents = st.sampled_from(["", "1", "2", "22"])
trees = st.dictionaries(names, contents)


@settings(max_examples=120)
@given(trees, trees)
def test_p31_exactly_what_is_created_changed_and_deleted_is_found(first: dict[str, str], then: dict[str, str]) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        write(root, first)
        before = snapshot.take(root)
        for path in first.keys() - then.keys():
            (root / path).unlink()
        write(root, {path: text for path, text in then.items() if first.get(path) != text})
        found = {change.path: change for change in snapshot.changed(before, snapshot.take(root))}
    seen_first, seen_then = seen(first), seen(then)
    assert {path for path, change in found.items() if change.kind == "new"} == seen_then.keys() - seen_first.keys()
    assert {path for path, change in found.items() if change.kind == "deleted"} == seen_first.keys() - seen_then.keys()
    assert {path for path, change in found.items() if change.kind == "changed"} == {
        path for path in seen_first.keys() & seen_then.keys() if first[path] != then[path]
    }
    for path, change in found.items():
        expected = evidence.digest(path, then[path].encode()) if path in then else None
        assert change.hash == expected


@settings(max_examples=100)
@given(trees, trees, st.lists(names | st.sampled_from(["/a", "../a", "no", "x"]), max_size=5))
def test_p33_every_verified_file_is_found_again_by_its_root_and_path(
    first: dict[str, str], then: dict[str, str], claimed: list[str]
) -> None:
    with tempfile.TemporaryDirectory() as name:
        root = pathlib.Path(name)
        write(root, first)
        found = look(root, lambda: write(root, then), *claimed)
        assert [(root / file.path).is_file() for file in found.files] == [file.exists for file in found.files]
        assert all(evidence.is_relative(file.path) for file in found.files)
        assert {file.detection_method for file in found.files} <= {"diff", "executor_claim"}
        assert found.modified == sum((root / file.path).is_file() for file in found.files)


def write(root: pathlib.Path, tree: dict[str, str]) -> None:
    for path, text in tree.items():
        (root / path).parent.mkdir(parents=True, exist_ok=True)
        (root / path).write_text(text)


def seen(tree: dict[str, str]) -> dict[str, str]:
    return {path: text for path, text in tree.items() if snapshot.SKIPPED.isdisjoint(path.split("/"))}


def test_a_tree_that_vanishes_while_it_is_looked_at_is_no_error(
    root: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    real = os.open

    def open_(path: str, *arguments: int) -> int:
        if str(path).endswith("src"):
            (root / "src").rename(root.parent / "gone")
        return real(path, *arguments)

    monkeypatch.setattr("os.open", open_)
    assert set(snapshot.take(root).files) == {"README.md"}


# A database of the program in the tree


PASSES_BY = "import sqlite3, sys; c = sqlite3.connect(sys.argv[1]); c.execute('SELECT * FROM sessions'); c.close()"


@pytest.mark.parametrize("looks", ["take", "hash", "link"])
def test_a_look_at_a_tree_leaves_the_locks_on_an_open_database_alone(tmp_path: pathlib.Path, looks: str) -> None:
    (tmp_path / "notes.md").write_text("x")
    desk = Desk(tmp_path)
    desk.session()
    logs = [pathlib.Path(f"{desk.path}{part}") for part in ("-wal", "-shm")]
    if looks == "take":
        assert [name for name in snapshot.take(tmp_path).files if name.startswith(desk.path.name)] == []
    for each in (desk.path, *logs):
        if looks == "hash":
            with pytest.raises(OSError, match="belongs to a database"):
                snapshot.file_hash(each, each.name)
        elif looks == "link":
            (tmp_path / "link").symlink_to(each)
            assert snapshot.content_hash(str(tmp_path), os.path.realpath(tmp_path / "link")) is None
            (tmp_path / "link").unlink()
    # A process that takes itself for the last one deletes the log, and with it what is only there.
    subprocess.run([sys.executable, "-c", PASSES_BY, str(desk.path)], check=True)
    assert all(each.exists() for each in logs)
    desk.call("session pause", id="S1", by="project_manager", reason="x")
