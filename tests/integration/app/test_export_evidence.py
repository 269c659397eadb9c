"""What of a session lies in files, in its export and after its import: whole, or refused, or said to be absent."""

from __future__ import annotations

import base64
import contextlib
import hashlib
import json
import pathlib
import shutil
import sys
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from orchestrator import Orchestrator, bootstrap
from orchestrator.app.audit import export_evidence, export_session, import_evidence, import_session, verification
from orchestrator.app.kernel import attached_evidence, operations
from orchestrator.app.kernel.context import Context
from orchestrator.core import export_format, strict_json
from orchestrator.core.export_format import Writer
from orchestrator.errors import InvalidInput, OrchestratorError, Refused
from orchestrator.store import constants, evidence, file_safety, high_water, sqlite
from tests.integration.app import story
from tests.integration.app.test_replayed import played
from tests.integration.app.test_run_session import desk, done

AT = "2026-03-01T00:00:00.000000Z"
Document = list[dict[str, Any]]
Change = Callable[[Document], object]


class Worked:
    """A session with one run that left an index and a raw file, and its export."""

    def __init__(self, folder: pathlib.Path, says: str = "made color.md") -> None:
        at = desk(folder)
        program = folder / "work.py"
        program.write_text(
            f"#!{sys.executable}\nimport pathlib\npathlib.Path('color.md').write_text('blue')\nprint({says!r})\n"
        )
        program.chmod(0o755)
        at.flags = at.flags._replace(executor=f"command:{program}")
        run = done(at, "create color.md")
        assert run["state"] == "complete"
        self.project = pathlib.Path(at.project.root)
        self.session = str(at.session_id)
        self.context = at.context
        self.folder = below(self.project, self.session)
        self.raw = next((self.folder / "raw").iterdir())
        self.file = folder / "export.jsonl"

    def export(self, *, unmasked: bool = False) -> dict[str, Any]:
        self.file.unlink(missing_ok=True)
        return export_session.export(self.context, session_id=self.session, output=str(self.file), unmasked=unmasked)

    def verify(self) -> dict[str, Any]:
        return verification.verify(self.context, session_id=self.session)


def below(root: pathlib.Path, session: str) -> pathlib.Path:
    return root / ".orchestrator" / "sessions" / session / "evidence"


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Worked:
    worked = Worked(tmp_path_factory.mktemp("worked"))
    worked.export()
    return worked


@pytest.fixture
def worked(tmp_path: pathlib.Path) -> Worked:
    return Worked(tmp_path)


@contextlib.contextmanager
def opened(path: pathlib.Path) -> Iterator[Context]:
    connection = sqlite.connect(path, write=False)
    yield Context(connection, path=str(path), clock=bootstrap.now, door="test", channel="process", deadline_s=5.0)
    connection.close()


def tree(folder: pathlib.Path) -> dict[str, bytes]:
    return {
        str(each.relative_to(folder)): each.read_bytes()
        for each in folder.rglob("*")
        if each.is_file() and each.name not in (".lock", ".gitignore")
    }


def rewritten(source: pathlib.Path, target: pathlib.Path, *changes: Change) -> str:
    """An export with changes, its numbers and last line made to fit, as a forger would."""
    document = [json.loads(line) for line in source.read_bytes().splitlines()][:-1]
    for change in changes:
        change(document)
    writer = Writer()
    data = b""
    for line in document:
        (member,) = (name for name in line if name != "line")
        data += writer.line(member, line[member])
    target.write_bytes(data + writer.end())
    return str(target)


def files_of(document: Document) -> list[dict[str, Any]]:
    return [line["file"] for line in document if "file" in line]


def parts_of(document: Document) -> Document:
    return [line for line in document if "part" in line]


def test_evidence_goes_out_with_the_session_and_comes_in_where_it_is_found(
    made: Worked, tmp_path: pathlib.Path
) -> None:
    path = tmp_path / "new" / "other.db"
    answer = import_session.import_file(str(path), str(made.file), AT)
    assert (answer["files"], answer["absent"]) == (2, [])
    assert tree(below(path.parent, made.session)) == tree(made.folder)
    assert [each.stat().st_mode & 0o777 for each in below(path.parent, made.session).rglob("*.gz")] == [0o600]
    assert sorted(each.name for each in path.parent.iterdir() if "other.db" not in each.name) == [".orchestrator"]


def test_an_import_into_what_init_made_is_no_database_that_is_lost(made: Worked, tmp_path: pathlib.Path) -> None:
    path, state = tmp_path / "new.db", str(tmp_path / "state")
    Orchestrator.create(path).close()
    with opened(path) as context:
        high_water.rewrite(context.connection, state)
    import_session.import_file(str(path), str(made.file), AT, state_folder=state)
    with opened(path) as context:
        assert file_safety.risks(context.connection, state) == []


def test_the_imported_evidence_is_found_when_that_of_the_project_is_gone(
    worked: Worked, tmp_path: pathlib.Path
) -> None:
    worked.export()
    path = tmp_path / "new" / ".orchestrator" / "orchestrator.db"
    import_session.import_file(str(path), str(worked.file), AT)
    shutil.rmtree(worked.project)
    with opened(path) as context:
        assert verification.verify(context)["findings"] == []
        found = operations.call(context, "validate", session_id=worked.session, dry_run=True)
        assert [each for each in found["checks"] if each["id"] == "V15"] == []
        again = tmp_path / "again.jsonl"
        export_session.export(context, session_id=worked.session, output=str(again))
    assert again.read_bytes() == worked.file.read_bytes()


@pytest.mark.parametrize(
    ("break_it", "why"),
    [
        pytest.param(lambda at: at.raw.unlink(), "cannot be read: No such file or directory", id="raw file gone"),
        pytest.param(lambda at: at.raw.write_bytes(b"x"), "does not have the recorded hash", id="raw file altered"),
        pytest.param(
            lambda at: (at.folder / "evidence_index.json").write_text("{}"),
            "does not have the recorded checksum",
            id="index altered",
        ),
        pytest.param(lambda at: shutil.rmtree(at.folder), "index on the disk cannot be read", id="all gone"),
    ],
)
def test_what_is_not_as_recorded_is_found_and_said_to_be_absent(
    worked: Worked, tmp_path: pathlib.Path, break_it: Callable[[Worked], object], why: str
) -> None:
    assert worked.verify()["ok"]
    break_it(worked)
    found = worked.verify()
    assert ([each["code"] for each in found["findings"]], found["exit_code"]) == (["EVIDENCE_FILE"], 1)
    assert why in found["findings"][0]["message"]
    (check,) = (
        each
        for each in operations.call(worked.context, "validate", session_id=worked.session, dry_run=True)["checks"]
        if each["id"] == "V15"
    )
    assert (check["level"], why in check["message"]) == ("error", True)
    (absent,) = worked.export()["absent"]
    assert why in absent["why"]
    path = tmp_path / "new" / "other.db"
    assert import_session.import_file(str(path), str(worked.file), AT)["absent"] == [absent]
    with opened(path) as context:
        assert [each["code"] for each in verification.verify(context)["findings"]] == ["EVIDENCE_FILE"]


def test_evidence_that_went_on_after_the_last_step_counts_as_far_as_it_is_recorded(worked: Worked) -> None:
    from orchestrator.runner import evidence_files

    evidence_files.record(worked.project, worked.session, "a-kill-came-before-its-step", "verify", at=AT, facts={})
    assert worked.verify()["findings"] == []
    assert worked.export()["absent"] == []
    written = [json.loads(line) for line in worked.file.read_bytes().splitlines()]
    content = b"".join(base64.b64decode(each["part"]) for each in parts_of(written)[:1])
    assert b"a-kill-came" not in content


def _other_content(document: Document) -> None:
    data = b"another story"
    part = parts_of(document)[-1]
    part["part"] = base64.b64encode(data).decode()
    files_of(document)[-1].update(size=len(data), sha256=hashlib.sha256(data).hexdigest())


def _drop(member: str) -> Change:
    def change(document: Document) -> None:
        document.remove([line for line in document if member in line][-1])

    return change


def _drop_file(document: Document) -> None:
    _drop("part")(document)
    _drop("file")(document)


def _foreign(**given: Any) -> Change:
    return lambda document: files_of(document)[-1].update(given)


@pytest.mark.parametrize(
    ("change", "code", "what"),
    [
        pytest.param(_other_content, "IMPORT_ALTERED", "does not match its recorded hash", id="altered"),
        pytest.param(_drop("part"), "IMPORT_CUT", "is cut off", id="content missing"),
        pytest.param(_drop_file, "IMPORT_CUT", "is missing", id="file missing"),
        pytest.param(_foreign(path="raw/../../x"), "IMPORT_FOREIGN", "the record has no file", id="path climbs"),
        pytest.param(_foreign(path="/etc/passwd"), "IMPORT_FOREIGN", "the record has no file", id="absolute path"),
        pytest.param(_foreign(of="S9:E1"), "IMPORT_FOREIGN", "the record has no file", id="of another session"),
        pytest.param(_foreign(size=2**50), "IMPORT_TOO_LARGE", "the limit is", id="too large"),
        pytest.param(_foreign(size=1), "IMPORT_ALTERED", "is wrong", id="another size"),
        pytest.param(_foreign(mode=7), "IMPORT_FOREIGN", "this is not an evidence file", id="another member"),
        pytest.param(
            lambda document: document.append(document[-2]), "IMPORT_REPEATED", "appears twice", id="twice"
        ),
        pytest.param(
            lambda document: parts_of(document)[-1].update(part="%%%"), "IMPORT_ALTERED", "base64", id="no base64"
        ),
        pytest.param(
            lambda document: document.insert(-3, parts_of(document)[0]), "IMPORT_ALTERED", "is wrong", id="too much"
        ),
        pytest.param(
            lambda document: document.append(document[1]), "IMPORT_FOREIGN", "after its events", id="event behind"
        ),
        pytest.param(
            lambda document: document.insert(-4, parts_of(document)[0]), "IMPORT_FOREIGN",
            "belongs to no file", id="loose",
        ),
    ],
)
def test_forged_evidence_is_refused_and_nothing_is_left(
    made: Worked, tmp_path: pathlib.Path, change: Change, code: str, what: str
) -> None:
    path = tmp_path / "new" / "other.db"
    with pytest.raises(InvalidInput) as caught:
        import_session.import_file(str(path), rewritten(made.file, tmp_path / "forged.jsonl", change), AT)
    assert (caught.value.code, what in caught.value.message) == (code, True)
    assert not path.parent.exists()


def test_an_export_that_says_nothing_of_its_evidence_is_refused(made: Worked, tmp_path: pathlib.Path) -> None:
    def without(document: Document) -> None:
        document[:] = [line for line in document if "file" not in line and "part" not in line]

    with pytest.raises(InvalidInput) as caught:
        import_session.import_file(str(tmp_path / "o.db"), rewritten(made.file, tmp_path / "forged.jsonl", without), AT)
    assert (caught.value.code, "evidence_index.json" in caught.value.message) == ("IMPORT_CUT", True)


def first_version(source: pathlib.Path, target: pathlib.Path, *, schema: int = 8) -> str:
    """An export as the first version of the format had it."""
    document = [json.loads(line) for line in source.read_bytes().splitlines()]
    kept = [line for line in document if not {"file", "part", "end"} & set(line)]
    kept[0]["format"] |= {"version": 1, "schema": schema}
    data = b"".join(strict_json.canonical(line).encode() + b"\n" for line in kept)
    end = {"lines": len(kept), "events": len([1 for line in kept if "event" in line])}
    last = {"line": len(kept) + 1, "end": {**end, "sha256": hashlib.sha256(data).hexdigest()}}
    target.write_bytes(data + strict_json.canonical(last).encode() + b"\n")
    return str(target)


def test_an_export_of_the_first_version_is_read(made: Worked, tmp_path: pathlib.Path) -> None:
    (tmp_path / "new.jsonl").write_bytes(b"".join(export_session.stream(played(), "S1", "jsonl")))
    old = first_version(tmp_path / "new.jsonl", tmp_path / "old.jsonl")
    answer = import_session.import_file(str(tmp_path / "o.db"), old, AT)
    assert (answer["files"], answer["absent"]) == (0, [])
    assert answer["events"] > 0


@pytest.mark.parametrize("schema", [1, 8, 9, constants.SCHEMA_VERSION])
def test_a_newer_export_that_calls_itself_one_of_the_first_version_is_refused(
    made: Worked, tmp_path: pathlib.Path, schema: int
) -> None:
    old = first_version(made.file, tmp_path / "old.jsonl", schema=schema)
    with pytest.raises(InvalidInput) as caught:
        import_session.import_file(str(tmp_path / "o.db"), old, AT)
    assert caught.value.code == "IMPORT_ALTERED"
    assert not (tmp_path / "o.db").exists()


@pytest.mark.parametrize("schema", [1, constants.SCHEMA_VERSION - 1])
def test_a_header_with_a_schema_older_than_the_last_migration_is_refused(
    made: Worked, tmp_path: pathlib.Path, schema: int
) -> None:
    def older(document: Document) -> None:
        document[0]["format"]["schema"] = schema

    with pytest.raises(InvalidInput, match="newest migration") as caught:
        import_session.import_file(str(tmp_path / "o.db"), rewritten(made.file, tmp_path / "old.jsonl", older), AT)
    assert caught.value.code == "IMPORT_ALTERED"


def test_an_export_of_the_first_version_holds_no_files(made: Worked, tmp_path: pathlib.Path) -> None:
    def older(document: Document) -> None:
        document[0]["format"] |= {"version": 1, "schema": 8}

    with pytest.raises(InvalidInput) as caught:
        import_session.import_file(str(tmp_path / "o.db"), rewritten(made.file, tmp_path / "old.jsonl", older), AT)
    assert caught.value.code == "IMPORT_FOREIGN"


def test_another_file_in_the_way_is_refused_and_stays(made: Worked, tmp_path: pathlib.Path) -> None:
    there = below(tmp_path, made.session) / "raw" / made.raw.name
    there.parent.mkdir(parents=True)
    there.write_bytes(b"mine")
    with pytest.raises(Refused) as caught:
        import_session.import_file(str(tmp_path / "o.db"), str(made.file), AT)
    assert (caught.value.code, caught.value.data["path"]) == ("ALREADY_EXISTS", str(there))
    assert tree(tmp_path) == {str(there.relative_to(tmp_path)): b"mine"}


def test_the_same_file_in_the_way_stays_as_it_is(made: Worked, tmp_path: pathlib.Path) -> None:
    shutil.copytree(made.folder, below(tmp_path, made.session))
    assert import_session.import_file(str(tmp_path / "o.db"), str(made.file), AT)["files"] == 2


def test_a_link_on_the_way_is_not_followed(made: Worked, tmp_path: pathlib.Path) -> None:
    (tmp_path / "elsewhere").mkdir()
    (tmp_path / "in").mkdir()
    (tmp_path / "in" / ".orchestrator").symlink_to(tmp_path / "elsewhere")
    with pytest.raises(OrchestratorError) as caught:
        import_session.import_file(str(tmp_path / "in" / "o.db"), str(made.file), AT)
    assert caught.value.code == "OUTPUT_FAILED"
    assert (list((tmp_path / "elsewhere").iterdir()), (tmp_path / "in" / "o.db").exists()) == ([], False)


def test_what_is_too_large_is_said_to_be_absent(worked: Worked, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(export_evidence, "FILE_LIMIT", 10)
    absent = worked.export()["absent"]
    assert {each["path"] for each in absent} == {"evidence_index.json", f"raw/{worked.raw.name}"}


def test_a_file_that_holds_what_looks_like_a_secret_goes_out_unmasked_only(tmp_path: pathlib.Path) -> None:
    worked = Worked(tmp_path, "password: hunter2swordfish")
    (absent,) = worked.export()["absent"]
    assert (absent["path"], "seems to hold a secret" in absent["why"]) == (f"raw/{worked.raw.name}", True)
    assert b"hunter2swordfish" not in worked.file.read_bytes()
    answer = worked.export(unmasked=True)
    assert (answer["files"], answer["absent"], answer["masked"]) == (2, [], 0)
    path = tmp_path / "new" / "o.db"
    import_session.import_file(str(path), str(worked.file), AT)
    assert tree(below(path.parent, worked.session)) == tree(worked.folder)


def test_a_file_that_a_row_names_goes_out_and_comes_in(tmp_path: pathlib.Path) -> None:
    """Told by rows alone: what a row names by path and hash."""
    place = story.written(tmp_path)
    connection = sqlite.connect(place, write=False)
    found = attached_evidence.of(connection, story.BLOCKED)
    writer, tally = Writer(), export_evidence.Tally()
    lines = list(export_evidence.lines(writer, str(place), story.BLOCKED, found, tally))
    assert (tally.files, tally.absent) == (1, [])
    target = tmp_path / "other"
    target.mkdir()
    with import_evidence.Arriving(str(target / "o.db"), story.BLOCKED) as coming:
        for number, data in enumerate(lines, 1):
            given = json.loads(data)
            (member,) = (name for name in given if name != "line")
            coming.take(connection, export_format.Line(number, member, given[member]))
        coming.finish(len(lines))
        coming.check(connection)
        with coming.placed():
            pass
    assert list(evidence.file_faults(found.files, attached_evidence.roots(str(target / "o.db"), story.BLOCKED))) == []
    assert list(tree(target)) == [f".orchestrator/sessions/{story.BLOCKED}/files/{story.FILE}"]
    connection.close()


def test_evidence_of_a_database_on_a_server_lies_below_the_working_folder(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    url = "postgresql://team@db.example.org/orders"
    assert attached_evidence.own_root(url) == tmp_path
    assert attached_evidence.roots(url, "S1") == (tmp_path, tmp_path / attached_evidence.imported("S1"))
