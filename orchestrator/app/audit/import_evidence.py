"""Files of evidence that come in with an import: held aside, checked, and put where they are looked for.

A file comes in only if the record that came with it names it, and its content has the hash that stands there.
"""

from __future__ import annotations

import binascii
import contextlib
import hashlib
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

from orchestrator.app.audit.export_evidence import Tally
from orchestrator.app.kernel import attached_evidence
from orchestrator.core import names
from orchestrator.core.export_format import FILE_LIMIT, FILES_LIMIT, PART, PART_SIZE, Line, wrong
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import evidence as running_evidence
from orchestrator.core.suggestions import local, sentence
from orchestrator.errors import Refused
from orchestrator.hints import Any
from orchestrator.runner import atomic_files, evidence_kept, snapshot
from orchestrator.runner.evidence_files import INDEX

_MEMBERS = {"of", "path", "size", "sha256"}
_ABSENT = {"of", "path", "absent"}


class _Expected(NamedTuple):
    """A file that the record names: where it belongs below the root, and the hash that its content must have.

    over_path: whether that is the hash of runs, which covers the path as well.
    """

    target: Path
    hash: str
    over_path: bool = False


class Arriving:
    """Files of evidence that come in with an import: held aside, checked, and put where they are looked for.

    Args:
        path: of the database that takes the session.
        session: the session.
    """

    def __init__(self, path: str, session: str) -> None:
        self.tally = Tally()
        self.begun = False
        self._path = path
        self._session = session
        self._aside: Path | None = None
        self._expected: dict[tuple[str, str], _Expected] = {}
        self._arrived: dict[tuple[str, str], Path] = {}
        self._absent: dict[tuple[str, str], str] = {}
        self._open: _Open | None = None
        self._left = FILES_LIMIT

    def __enter__(self) -> Arriving:
        return self

    def __exit__(self, *_: object) -> None:
        if self._open is not None:
            self._open.stream.close()
        if self._aside is not None:
            shutil.rmtree(self._aside, ignore_errors=True)

    def take(self, connection: Any, line: Line) -> None:
        """Take in a line of a file, or of its content.

        Args:
            connection: to the database that the events above have been told into.

        Raises:
            InvalidInput: IMPORT_FOREIGN, IMPORT_ALTERED, IMPORT_CUT, IMPORT_REPEATED, IMPORT_TOO_LARGE.
            EnvironmentProblem: OUTPUT_FAILED.
        """
        if line.member == PART:
            self._part(line)
            return
        self.finish(line.number)
        if not self.begun:
            self.begun = True
            self._expect(connection)
        self._begin(line)

    def _expect(self, connection: Any) -> None:
        found = attached_evidence.of(connection, self._session)
        for file in found.files:
            self._expected[(file.id, file.path)] = _Expected(
                attached_evidence.imported(self._session) / file.path, file.hash
            )
        for each in found.inventories:
            self._expected[(each.id, INDEX)] = _Expected(self._below(INDEX), each.checksum)

    def _below(self, name: str) -> Path:
        return evidence_kept.folder("", self._session) / name

    def _begin(self, line: Line) -> None:
        given, number = line.value, line.number
        if not isinstance(given, dict) or set(given) not in (_MEMBERS, _ABSENT):
            wrong("IMPORT_FOREIGN", "this is not an evidence file", number)
        place = (given["of"], given["path"])
        if not all(isinstance(each, str) for each in place):
            wrong("IMPORT_FOREIGN", "this is not an evidence file", number)
        if place not in self._expected:
            wrong("IMPORT_FOREIGN", f"the record has no file {names.shown(place[1])} of {place[0]}", number)
        if "absent" not in given and not running_evidence.is_relative(place[1]):
            wrong("IMPORT_FOREIGN", f"the file {names.shown(place[1])} is outside every project", number)
        if place in self._arrived or place in self._absent:
            wrong("IMPORT_REPEATED", f"the file {names.shown(place[1])} appears twice", number)
        if "absent" in given:
            if not isinstance(given["absent"], str):
                wrong("IMPORT_ALTERED", "a member of the file has the wrong type", number)
            self._absent[place] = given["absent"]
            self.tally.absent.append({"of": place[0], "path": place[1], "why": given["absent"]})
            return
        self._check_size(given, number)
        self._open = _Open(place, given["size"], given["sha256"], self._held() / str(len(self._arrived)))

    def _check_size(self, given: dict[str, Any], number: int) -> None:
        size = given["size"]
        if type(size) is not int or size < 0 or not isinstance(given["sha256"], str):
            wrong("IMPORT_ALTERED", "a member of the file has the wrong type", number)
        if size > min(FILE_LIMIT, self._left):
            what = f"the file has {size} bytes; the limit is {FILE_LIMIT} per file and {FILES_LIMIT} in total"
            wrong("IMPORT_TOO_LARGE", what, number)
        self._left -= size

    def _held(self) -> Path:
        if self._aside is None:
            folder = Path(self._path).resolve().parent
            with atomic_files.failing(str(folder)):
                self._aside = Path(tempfile.mkdtemp(".partial", ".evidence.", folder))
        return self._aside

    def _part(self, line: Line) -> None:
        if self._open is None:
            wrong("IMPORT_FOREIGN", "this content belongs to no file", line.number)
        try:
            data = binascii.a2b_base64(line.value, strict_mode=True)
        except (ValueError, TypeError):
            wrong("IMPORT_ALTERED", "the content is not base64", line.number)
        if not data or len(data) > PART_SIZE or self._open.written + len(data) > self._open.size:
            wrong("IMPORT_ALTERED", f"the size of the file {names.shown(self._open.place[1])} is wrong", line.number)
        with atomic_files.failing(str(self._open.path)):
            self._open.write(data)

    def finish(self, number: int) -> None:
        """Say that nothing more comes of the file that was begun last.

        Args:
            number: of the line at which it is over.

        Raises:
            InvalidInput: IMPORT_CUT, IMPORT_ALTERED.
        """
        done, self._open = self._open, None
        if done is None:
            return
        with atomic_files.failing(str(done.path)):
            done.close()
        shown = names.shown(done.place[1])
        if done.written < done.size:
            wrong("IMPORT_CUT", f"the file {shown} is cut off: it has {done.written} of {done.size} bytes", number)
        if done.taken.hexdigest() != done.sha256 or not self._is_recorded(done):
            wrong("IMPORT_ALTERED", f"the file {shown} does not match its recorded hash", number)
        self._arrived[done.place] = done.path
        self.tally.files += 1

    def _is_recorded(self, done: _Open) -> bool:
        expected, (of, path) = self._expected[done.place], done.place
        if expected.over_path:
            return snapshot.file_hash(done.path, path) == expected.hash
        if expected.target == self._below(INDEX):
            return self._expect_listed(of, done.path.read_bytes(), expected.hash)
        return done.taken.hexdigest() == expected.hash

    def _expect_listed(self, of: str, listing: bytes, checksum: str) -> bool:
        found = evidence_kept.index_of(listing, self._session, checksum)
        if found is None or found[0] != listing:
            return False
        for item in found[1]:
            self._expected[(of, item.path)] = _Expected(self._below(item.path), str(item.hash), over_path=True)
        return True

    def check(self, connection: Any) -> None:
        """Whether of each file that the record names the export had the content, or said why not.

        Raises:
            InvalidInput: IMPORT_CUT.
        """
        if not self.begun:
            self._expect(connection)
        for place in self._expected:
            if place not in self._arrived and place not in self._absent:
                wrong("IMPORT_CUT", f"the file {names.shown(place[1])} of {place[0]} is missing", 1)

    @contextlib.contextmanager
    def placed(self) -> Iterator[None]:
        """Put the files where they are looked for; what goes wrong in the block takes them away again.

        Raises:
            Refused: ALREADY_EXISTS, another file lies there. EnvironmentProblem: OUTPUT_FAILED.
        """
        made: list[Path] = []
        try:
            for place, source in self._arrived.items():
                if place[1] == INDEX:
                    name, content = evidence_kept.checksum_file(source.read_bytes())
                    source.with_name(name).write_bytes(content)
                    self._put(source.with_name(name), self._below(name), made)
                self._put(source, self._expected[place].target, made)
            yield
        except BaseException:
            atomic_files.take_away(made)
            raise

    def _put(self, source: Path, target: Path, made: list[Path]) -> None:
        root = attached_evidence.own_root(self._path)
        for each in reversed(target.parents[:-1]):
            # Noted before they are created, so that a failure in between takes them away too.
            made += [] if os.path.lexists(root / each) else [root / each]
        atomic_files.own_folder(root, *target.parts[:-1])
        with atomic_files.failing(str(root / target)):
            if os.path.lexists(root / target):
                if _hash(root / target) != _hash(source):
                    raise _in_the_way(root / target)
                return
            # The folder aside may lie on another disk than a link in the path leads to.
            shutil.move(source, root / target)
            made.append(root / target)
            os.chmod(root / target, atomic_files.FILE_MODE)
            atomic_files.sync_folder((root / target).parent)


def _in_the_way(path: Path) -> Refused:
    message = sentence(
        "Another file lies at {}, where evidence of the export belongs; nothing was imported.", local(path)
    )
    return Refused("ALREADY_EXISTS", message, "Import it into a database in another folder", path=str(path))


def _hash(path: Path) -> str | None:
    try:
        with open(atomic_files.open_regular(path), "rb") as file:
            return hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        return None


class _Open:
    """A file whose content is coming in."""

    def __init__(self, place: tuple[str, str], size: int, sha256: str, path: Path) -> None:
        self.place = place
        self.size = size
        self.sha256 = sha256
        self.path = path
        self.written = 0
        self.taken = hashlib.sha256()
        self.stream = open(path, "xb")

    def write(self, data: bytes) -> None:
        """Take the next bytes."""
        self.stream.write(data)
        self.taken.update(data)
        self.written += len(data)

    def close(self) -> None:
        """Make sure that it is on the disk."""
        self.stream.flush()
        os.fsync(self.stream.fileno())
        self.stream.close()
