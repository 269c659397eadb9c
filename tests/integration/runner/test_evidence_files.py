"""Evidence on the disk: written once, whole and synced; and whatever is done to it afterwards is told."""

from __future__ import annotations

import contextlib
import gzip
import hashlib
import json
import os
import pathlib
import stat
import tempfile
import threading
import time
from typing import Any
from unittest import mock

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from orchestrator.app.running import evidence_and_log
from orchestrator.core.running import evidence
from orchestrator.core.running.evidence import Inspection, Item, Record
from orchestrator.errors import EnvironmentProblem, OrchestratorError, Refused, UsageError
from orchestrator.runner import atomic_files, evidence_files, snapshot
from tests.integration.runner import elsewhere

SESSION = "S1"
AT = "2026-01-02T03:04:05.000006Z"


def add(root: pathlib.Path, operation: str, output: str | None = None, **more: Any) -> tuple[Record, str]:
    if output is not None:
        evidence_files.raw_file(root, SESSION, operation).write_text(output)
    return evidence_files.record(root, SESSION, operation, "executor", at=AT, facts={"exit_code": 0}, **more)


def printed(root: pathlib.Path, item: Item) -> bytes:
    """A raw file as it was printed."""
    kept = (root / ".orchestrator/sessions/S1/evidence" / item.path).read_bytes()
    return gzip.decompress(kept) if item.path.endswith(".gz") else kept


def inspect(root: pathlib.Path, *operations: str, **more: Any) -> Inspection:
    return evidence_files.inspect(root, SESSION, operations, **more)


def codes(found: Inspection) -> list[tuple[str, str | None]]:
    return [(problem.code, problem.operation_id) for problem in found.problems]


@pytest.fixture
def folder(tmp_path: pathlib.Path) -> pathlib.Path:
    """The evidence of a session of two operations, the second with an artifact."""
    (tmp_path / "a.py").write_text("a")
    item = Item("a.py", snapshot.content_hash(str(tmp_path), "a.py"), 1)
    add(tmp_path, "op-1", "first")
    add(tmp_path, "op-2", "second", artifacts=[item], compress=False)
    return tmp_path / ".orchestrator/sessions/S1/evidence"


def sound(root: pathlib.Path) -> Inspection:
    return inspect(root, "op-1", "op-2", artifacts_of=["op-2"])


class TestRecording:
    def test_what_was_recorded_is_sound(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        assert sound(tmp_path) == (2, (), (), (), ("raw/op-1.log.gz", "raw/op-2.log"))
        assert evidence_files.registered(tmp_path, SESSION) == ("op-1", "op-2")

    def test_the_checksum_file_is_the_hash_of_the_index_file_only(self, folder: pathlib.Path) -> None:
        index = (folder / "evidence_index.json").read_bytes()
        assert (folder / "evidence_index.sha256").read_text() == hashlib.sha256(index).hexdigest() + "\n"

    def test_the_returned_checksum_is_that_of_the_index(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        _, checksum = add(tmp_path, "op-3")
        assert checksum == (folder / "evidence_index.sha256").read_text().strip()
        assert codes(inspect(tmp_path, "op-1", "op-2", "op-3", known=checksum)) == []

    def test_hashes_are_over_path_and_content(self, tmp_path: pathlib.Path) -> None:
        record, _ = add(tmp_path, "op", "text", compress=False)
        assert record.raw == (Item("raw/op.log", evidence.digest("raw/op.log", b"text"), 4),)

    def test_an_operation_without_output_has_no_raw_file(self, tmp_path: pathlib.Path) -> None:
        record, _ = add(tmp_path, "model-1")
        assert (record.raw, codes(inspect(tmp_path, "model-1"))) == ((), [])

    def test_files_and_folders_are_their_owners_alone(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        evidence_files.raw_file(tmp_path, SESSION, "op-3").touch(0o644)
        add(tmp_path, "op-3")
        found = [tmp_path / ".orchestrator", *(tmp_path / ".orchestrator").rglob("*")]
        modes = {(path.is_dir(), stat.S_IMODE(path.stat().st_mode)) for path in found}
        assert modes == {(True, 0o700), (False, 0o600)}

    def test_nothing_is_left_of_writing(self, folder: pathlib.Path) -> None:
        assert sorted(path.name for path in folder.rglob("*")) == [
            ".lock", "evidence_index.json", "evidence_index.sha256", "op-1.log.gz", "op-2.log", "raw",
        ]  # fmt: skip

    def test_everything_is_synced_and_its_folder_after_it(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        synced = []
        real = os.fsync

        def note(descriptor: int) -> None:
            synced.append(pathlib.Path(os.readlink(f"/proc/self/fd/{descriptor}")).name)
            real(descriptor)

        if not os.path.isdir("/proc/self/fd"):
            pytest.skip("the system does not name what a descriptor is of")
        add(tmp_path, "op-0")
        monkeypatch.setattr("os.fsync", note)
        add(tmp_path, "op-1", "text")
        assert synced.index("op-1.log.gz") < synced.index("raw", synced.index("op-1.log.gz"))
        assert synced[-2:] == [synced[-2], "evidence"]
        assert synced[-2].startswith(".evidence_index.sha256")

    @pytest.mark.parametrize("size", [0, 1, 3_000_000])
    @pytest.mark.parametrize("compress", [False, True])
    def test_raw_output_is_read_back_as_it_was_printed(
        self, tmp_path: pathlib.Path, size: int, compress: bool
    ) -> None:
        output = "".join(f"{number}\n" for number in range(size // 7))[:size]
        record, _ = add(tmp_path, "op", output, compress=compress)
        assert record.raw[0].path.endswith(".gz") == compress
        assert printed(tmp_path, record.raw[0]) == output.encode()
        assert not compress or record.raw[0].size <= size // 3 + 100

    def test_an_operation_is_recorded_once(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        before = (folder / "evidence_index.json").read_bytes()
        for act in (lambda: add(tmp_path, "op-1"), lambda: evidence_files.raw_file(tmp_path, SESSION, "op-1"),
                    lambda: evidence_files.raw_file(tmp_path, SESSION, "op-2")):  # fmt: skip
            with pytest.raises(Refused) as caught:
                act()
            assert caught.value.code == "E301"
        assert (folder / "evidence_index.json").read_bytes() == before

    def test_facts_hold_whatever_a_program_printed(self, tmp_path: pathlib.Path) -> None:
        facts = {"error": "a\0b\ud800", "list": ["\0", {"\udcff": 1}]}
        record, _ = evidence_files.record(tmp_path, SESSION, "op", "executor", at=AT, facts=facts)
        assert record.facts == {"error": "a\ufffdb\ufffd", "list": ["\ufffd", {"\ufffd": 1}]}
        assert codes(inspect(tmp_path, "op")) == []

    def test_what_could_not_be_read_again_is_not_recorded(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        with pytest.raises(Refused) as caught:
            add(tmp_path, "op-3", artifacts=[Item("../x", None, 0)])
        assert (caught.value.code, codes(sound(tmp_path))) == ("E305", [])

    @pytest.mark.parametrize("name", ["../x", "a/b", "", ".x", "a\n"])
    def test_what_is_no_id_names_no_file(self, tmp_path: pathlib.Path, name: str) -> None:
        for act in (lambda: add(tmp_path, name), lambda: evidence_files.raw_file(tmp_path, SESSION, name),
                    lambda: evidence_files.session_folder(tmp_path, name)):  # fmt: skip
            with pytest.raises(UsageError):
                act()

    def test_many_at_once_are_all_recorded(self, tmp_path: pathlib.Path) -> None:
        names = [f"op-{number}" for number in range(24)]
        threads = [
            threading.Thread(target=lambda mine=names[start::4]: [add(tmp_path, name, name) for name in mine])
            for start in range(4)
        ]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert codes(inspect(tmp_path, *names)) == []
        assert sorted(evidence_files.registered(tmp_path, SESSION)) == sorted(names)

    def test_nothing_is_added_to_evidence_that_is_not_sound(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        (folder / "evidence_index.json").write_text("{bad")
        with pytest.raises(Refused) as caught:
            add(tmp_path, "op-3")
        assert (caught.value.code, (folder / "evidence_index.json").read_text()) == ("E302", "{bad")

    def test_a_link_in_the_way_is_refused(self, tmp_path: pathlib.Path) -> None:
        (tmp_path / "elsewhere").mkdir()
        (tmp_path / "root/.orchestrator").mkdir(parents=True)
        (tmp_path / "root/.orchestrator/sessions").symlink_to(tmp_path / "elsewhere")
        with pytest.raises(EnvironmentProblem, match="not a folder") as caught:
            add(tmp_path / "root", "op")
        assert (caught.value.code, list((tmp_path / "elsewhere").iterdir())) == ("OUTPUT_FAILED", [])

    def test_a_folder_that_cannot_be_written_to_is_an_error(self) -> None:
        with elsewhere.folder() as root:
            root.chmod(0o555)
            assert elsewhere.as_another(lambda: add(root, "op"))[0] == "OUTPUT_FAILED"


class TestInspecting:
    def test_a_session_without_evidence_has_none_to_check(self, tmp_path: pathlib.Path) -> None:
        assert inspect(tmp_path) == (0, (), (), (), ())
        assert (evidence_files.registered(tmp_path, SESSION), list(tmp_path.iterdir())) == ((), [])

    def test_a_registered_operation_without_evidence_is_missing(
        self, folder: pathlib.Path, tmp_path: pathlib.Path
    ) -> None:
        found = inspect(tmp_path, "op-1", "op-2", "op-3")
        assert (found.missing, found.without_evidence, codes(found)) == (("op-3",), ("op-3",), [])

    def test_one_that_has_only_begun_is_known_and_missing(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        evidence_files.raw_file(tmp_path, SESSION, "op-3").write_text("half")
        names = evidence_files.registered(tmp_path, SESSION)
        assert names == ("op-1", "op-2", "op-3")
        assert inspect(tmp_path, *names).missing == ("op-3",)
        assert codes(inspect(tmp_path, *names)) == []

    def test_one_that_another_turn_begins_meanwhile_is_not_stray(
        self, folder: pathlib.Path, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        """Each listing of the raw files finds one more, as beside turns that begin."""
        listed, begun = os.listdir, iter(range(3, 9))

        def beginning(path: pathlib.Path) -> list[str]:
            if path == folder / "raw":
                evidence_files.raw_file(tmp_path, SESSION, f"op-{next(begun)}").write_text("half")
            return listed(path)

        monkeypatch.setattr(os, "listdir", beginning)
        assert evidence_and_log.inspect_operations(str(tmp_path), SESSION, ["op-1"], None) == ((), ())

    def test_without_an_index_nothing_is_evidence(self, tmp_path: pathlib.Path) -> None:
        found = inspect(tmp_path, "op-1")
        assert (codes(found), found.without_evidence) == ([("E302", None)], ("op-1",))

    @pytest.mark.parametrize(
        ("tamper", "found", "without"),
        [
            pytest.param(lambda f: (f / "raw/op-2.log").write_text("other"), [("E304", "op-2")], ("op-2",),
                         id="raw file changed"),
            pytest.param(lambda f: (f / "raw/op-2.log").unlink(), [("E303", "op-2")], ("op-2",), id="raw file deleted"),
            pytest.param(lambda f: (f / "raw/op-1.log.gz").write_bytes(gzip.compress(b"first!")), [("E304", "op-1")],
                         ("op-1",), id="compressed file changed"),
            pytest.param(lambda f: swap(f / "raw/op-2.log"), [("E303", "op-2")], ("op-2",), id="a link in its place"),
            pytest.param(lambda f: pipe(f / "raw/op-2.log"), [("E303", "op-2")], ("op-2",), id="a pipe in its place"),
            pytest.param(lambda f: (f / "../../../../a.py").write_text("b"), [("E304", "op-2")], ("op-2",),
                         id="artifact changed"),
            pytest.param(lambda f: (f / "../../../../a.py").unlink(), [("E303", "op-2")], ("op-2",),
                         id="artifact deleted"),
            pytest.param(lambda f: edit(f, "executor", "Executor"), [("E304", "op-1"), ("E304", "op-2"),
                         ("E304", None)], ("op-1", "op-2"), id="index changed"),
            pytest.param(lambda f: edit(f, "\n", " \n"), [("E304", None)], ("op-1", "op-2"), id="index, blanks"),
            pytest.param(lambda f: (f / "evidence_index.sha256").unlink(), [("E304", None)], ("op-1", "op-2"),
                         id="no checksum"),
            pytest.param(lambda f: (f / "evidence_index.sha256").write_text("0" * 64), [("E304", None)],
                         ("op-1", "op-2"), id="checksum changed"),
            pytest.param(lambda f: (f / "evidence_index.json").write_text("{bad"), [("E302", None)],
                         ("op-1", "op-2"), id="index corrupt"),
            pytest.param(lambda f: (f / "evidence_index.json").unlink(), [("E302", None)], ("op-1", "op-2"),
                         id="index deleted"),
            pytest.param(lambda f: edit(f, '"atomic":true', '"atomic":true,"x":1'), [("E305", None), ("E305", None)],
                         ("op-1", "op-2"), id="unknown field"),
            pytest.param(lambda f: edit(f, '"version":1', '"version":2'), [("E305", None)], ("op-1", "op-2"),
                         id="unknown version"),
            pytest.param(lambda f: edit(f, '"session_id":"S1"', '"session_id":"S2"'), [("E502", None),
                         ("E304", None)], ("op-1", "op-2"), id="of another session"),
            pytest.param(lambda f: (f / "raw/x.txt").write_text("x"), [("E501", None)], (), id="a file of nobody"),
        ],
    )  # fmt: skip
    def test_what_was_done_to_it_is_told(
        self, folder: pathlib.Path, tmp_path: pathlib.Path, tamper: Any, found: list[Any], without: tuple[str, ...]
    ) -> None:
        tamper(folder)
        inspected = sound(tmp_path)
        assert (codes(inspected), inspected.without_evidence) == (found, without)

    def test_a_record_of_no_operation_is_e501(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        assert codes(inspect(tmp_path, "op-2")) == [("E501", "op-1")]

    def test_an_index_that_was_replaced_whole_is_told_by_the_checksum_that_is_kept_elsewhere(
        self, folder: pathlib.Path, tmp_path: pathlib.Path
    ) -> None:
        known = (folder / "evidence_index.sha256").read_text().strip()
        (tmp_path / "other").mkdir()
        add(tmp_path / "other", "op-1")
        for name in ("evidence_index.json", "evidence_index.sha256"):
            (tmp_path / f"other/.orchestrator/sessions/S1/evidence/{name}").replace(folder / name)
        assert codes(inspect(tmp_path, "op-1", known=known))[0] == ("E304", None)

    def test_what_later_work_changes_lawfully_is_no_tampering(
        self, folder: pathlib.Path, tmp_path: pathlib.Path
    ) -> None:
        (tmp_path / "a.py").write_text("b")
        item = Item("a.py", snapshot.content_hash(str(tmp_path), "a.py"), 1)
        add(tmp_path, "op-3", artifacts=[item])
        everything = ["op-1", "op-2", "op-3"]
        assert codes(inspect(tmp_path, *everything, artifacts_of=everything)) == []

    def test_inspecting_changes_nothing(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        before = snapshot.take(folder).files
        sound(tmp_path)
        assert snapshot.take(folder).files == before

    @pytest.mark.parametrize("at", range(12))
    def test_a_kill_at_any_point_leaves_what_was_recorded_sound(
        self, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, at: int
    ) -> None:
        add(tmp_path, "op-0", "before")
        steps = iter(range(1000))

        class Killed(BaseException):
            pass

        def dying(real: Any) -> Any:
            def act(*arguments: Any, **more: Any) -> Any:
                if next(steps) == at:
                    raise Killed
                return real(*arguments, **more)

            return act

        with monkeypatch.context() as patch:
            for name in ("fsync", "replace", "unlink"):
                patch.setattr(os, name, dying(getattr(os, name)))
            with contextlib.suppress(Killed, OrchestratorError):
                add(tmp_path, "op-1", "text")
        found = inspect(tmp_path, "op-0", "op-1")
        assert codes(found) == []
        assert "op-0" not in found.without_evidence
        if found.missing:
            record, _ = evidence_files.record(tmp_path, SESSION, "op-1", "executor", at=AT, facts={})
            assert printed(tmp_path, record.raw[0]) == b"text"
        assert inspect(tmp_path, "op-0", "op-1") == (2, (), (), (), ("raw/op-0.log.gz", "raw/op-1.log.gz"))


def swap(path: pathlib.Path) -> None:
    path.rename(path.parent.parent / "moved")
    path.symlink_to(path.parent.parent / "moved")


def pipe(path: pathlib.Path) -> None:
    path.unlink()
    os.mkfifo(path)


def edit(folder: pathlib.Path, old: str, new: str) -> None:
    path = folder / "evidence_index.json"
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new))


class TestExpiring:
    def test_old_evidence_of_closed_sessions_is_deleted(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        now = time.time()
        assert evidence_files.expire(tmp_path, now - 60, ()) == ()
        assert evidence_files.expire(tmp_path, now + 60, (SESSION,)) == ()
        assert evidence_files.expire(tmp_path, now + 60, ()) == (SESSION,)
        assert not folder.exists()
        assert folder.parent.exists()
        assert evidence_files.expire(tmp_path, now + 60, ()) == ()

    @pytest.mark.parametrize("linked", [".orchestrator", "sessions", "session", "evidence"])
    def test_what_a_link_leads_to_is_not_deleted(
        self, folder: pathlib.Path, tmp_path: pathlib.Path, linked: str
    ) -> None:
        places = {"evidence": folder, "session": folder.parent, "sessions": folder.parent.parent}
        place = places.get(linked, folder.parent.parent.parent)
        place.rename(tmp_path / "elsewhere")
        place.symlink_to(tmp_path / "elsewhere")
        assert evidence_files.expire(tmp_path, time.time() + 60, ()) == ()
        assert folder.is_dir()

    def test_where_there_is_none_nothing_expires(self, tmp_path: pathlib.Path) -> None:
        assert evidence_files.expire(tmp_path, time.time() + 60, ()) == ()


class TestDurable:
    def test_a_lock_is_not_inherited(self, tmp_path: pathlib.Path) -> None:
        with atomic_files.locked(tmp_path):
            found = [fd for fd in map(int, os.listdir("/proc/self/fd")) if _is_lock(fd)]
            assert [os.get_inheritable(fd) for fd in found] == [False]

    def test_an_old_partial_file_is_no_raw_file_of_anybody(self, folder: pathlib.Path, tmp_path: pathlib.Path) -> None:
        (folder / "raw/.op-3.log.gz.partial").write_text("half")
        assert codes(sound(tmp_path)) == []


def _is_lock(descriptor: int) -> bool:
    try:
        return os.readlink(f"/proc/self/fd/{descriptor}").endswith("/.lock")
    except OSError:
        return False


def unsynced() -> contextlib.AbstractContextManager[object]:
    """Many short lives of folders whose durability is tested elsewhere."""
    return mock.patch("os.fsync")


operations = st.lists(st.tuples(st.text(max_size=20), st.booleans()), min_size=1, max_size=3)


@settings(max_examples=100)
@given(operations, st.data())
def test_p21_any_change_of_any_file_of_evidence_is_told(outputs: list[tuple[str, bool]], data: st.DataObject) -> None:
    with tempfile.TemporaryDirectory() as name, unsynced():
        root = pathlib.Path(name)
        names = []
        for number, (output, compress) in enumerate(outputs):
            names.append(f"op-{number}")
            evidence_files.raw_file(root, SESSION, names[-1]).write_bytes(output.encode("utf-8", "replace"))
            evidence_files.record(root, SESSION, names[-1], "x", at=AT, facts={}, compress=compress)
        assert inspect(root, *names).problems == ()
        folder = root / ".orchestrator/sessions/S1/evidence"
        files = sorted(path for path in folder.rglob("*") if path.is_file() and path.name != ".lock")
        path = data.draw(st.sampled_from(files))
        before = path.read_bytes()
        after = data.draw(st.none() | st.binary(max_size=8) | _flipped(before))
        if after is None:
            path.unlink()
        else:
            path.write_bytes(after)
        found = inspect(root, *names)
        meaningless = after is not None and path.suffix == ".sha256" and after.split() == before.split()
        assert bool(found.problems) is (after != before and not meaningless)
        assert bool(found.without_evidence) is bool(found.problems)


def _flipped(data: bytes) -> st.SearchStrategy[bytes]:
    def flip(place: int, bits: int) -> bytes:
        changed = bytearray(data)
        changed[place] ^= bits
        return bytes(changed)

    return st.builds(flip, st.integers(0, len(data) - 1), st.integers(1, 255)) if data else st.just(b"x")


@settings(max_examples=100)
@given(st.lists(st.sampled_from(["a", "b", "c", "d"]), max_size=5), st.sets(st.sampled_from(["a", "b", "c", "d"])))
def test_p18_p7_each_operation_is_recorded_once_and_those_without_a_record_are_named(
    acts: list[str], registered: set[str]
) -> None:
    with tempfile.TemporaryDirectory() as name, unsynced():
        root = pathlib.Path(name)
        twice = 0
        for operation in acts:
            try:
                add(root, operation)
            except Refused as error:
                twice += error.code == "E301"
        every = tuple(dict.fromkeys((*acts, *sorted(registered))))
        assert twice == len(acts) - len(set(acts))
        assert inspect(root, *every).missing == tuple(each for each in every if each not in acts)


def test_the_index_is_readable_json_of_one_line_a_record(folder: pathlib.Path) -> None:
    text = (folder / "evidence_index.json").read_text()
    assert [record["operation_id"] for record in json.loads(text)["records"]] == ["op-1", "op-2"]
    assert len(text.splitlines()) == 4
