"""The lines of an exported session, and what is wrong with a file that should be one. No file is touched here.

A file is JSON lines, each the canonical text of an object that has its own number (`line`) and one more member:

    format    the first line: name and version of the format, schema and rules versions, session, heads, events
    agent     an agent of another session that a later line names: the columns of its row
    event     one event with its hashes, and the rules version of the decisions of its step
    file      behind all events: a file of evidence, the id of the evidence that names it, size and SHA-256; or why it
              is not there
    part      the next bytes of that file, in base64
    end       the last line: how many lines, events and files stand above it, and the SHA-256 over those lines

Version 1 had neither file nor part; it is still read, if its schema version is one that it was written under.
"""

from __future__ import annotations

import hashlib

from orchestrator.core import names, strict_json
from orchestrator.core.suggestions import sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.hints import Any, NoReturn

NAME = "orchestrator export"
VERSION = 2
LINE_LIMIT = 64 * 1024 * 1024
"""Bytes of the longest line that is read."""
PART_SIZE = 512 * 1024
"""Bytes of a file in one line."""
FILE_LIMIT, FILES_LIMIT = 1024**3, 4 * 1024**3
"""Bytes of one file of evidence, and of all of them, that a file may hold."""

REORDERED = "IMPORT_REORDERED"
"""A later line stands too early. Whether the awaited one comes at all, only the rest of the file tells."""

HEADER, AGENT, EVENT, FILE, PART, END = "format", "agent", "event", "file", "part", "end"
HEADER_MEMBERS = {"name", "version", "schema", "rules_version", "session", "heads"}
_LAST_SCHEMAS = {1: 8}
"""The last schema version under which a format version was written, where that is no longer so."""
_MEMBERS = {1: (AGENT, EVENT, END), 2: (AGENT, EVENT, FILE, PART, END)}
EVENT_MEMBERS = ("chain", "seq", "kind", "actor", "channel", "at", "input", "rows", "prev_hash", "hash")
_AGAIN = sentence(
    "In the database that holds the session: {}; then import that file",
    suggest("audit export", session_id="SESSION", output="FILE"),
)
_BOM = b"\xef\xbb\xbf"


class Writer:
    """Makes the lines of a file, one after the other."""

    def __init__(self) -> None:
        self.lines = 0
        self.events = 0
        self.files = 0
        self._sha = hashlib.sha256()

    def line(self, member: str, value: Any) -> bytes:
        """The next line."""
        self.lines += 1
        self.events += member == EVENT
        self.files += member == FILE
        data = strict_json.canonical({"line": self.lines, member: value}).encode() + b"\n"
        self._sha.update(data)
        return data

    def end(self) -> bytes:
        """The last line, which tells a whole file from one that was cut."""
        counts = {"lines": self.lines, "events": self.events, "files": self.files}
        return self.line(END, {**counts, "sha256": self._sha.hexdigest()})


class Line:
    """One line that was read: its number, which member it has beside it, and the value of that."""

    __slots__ = ("member", "number", "value")

    def __init__(self, number: int, member: str, value: Any) -> None:
        self.number = number
        self.member = member
        self.value = value


class Reader:
    """Takes the lines of a file, one after the other, and says what is wrong with the first that is wrong.

    Nothing may be believed before `finish`: only there the file is known to be whole.
    """

    def __init__(self) -> None:
        self.number = 0
        self.version = VERSION
        self.events = 0
        self.files = 0
        self.ended = False
        self._sha = hashlib.sha256()

    def take(self, data: bytes) -> Line:
        """Read the next line.

        Args:
            data: its bytes, with the line break.

        Raises:
            InvalidInput: IMPORT_... by what is wrong, with the number of the line.
            EnvironmentProblem: IMPORT_TOO_NEW, SCHEMA_TOO_NEW.
        """
        self.number += 1
        if self.ended:
            wrong("IMPORT_FOREIGN", "something follows the last line of the export", self.number)
        found = self._parse(data)
        member = self._member(found)
        self._check_number(found)
        value = found[member]
        if member == END:
            self._finish(value)
        else:
            self._sha.update(data)
            self.events += member == EVENT
            self.files += member == FILE
        return Line(self.number, member, value)

    def finish(self) -> None:
        """Check that the last line was the last one of an export.

        Raises:
            InvalidInput: IMPORT_EMPTY, IMPORT_CUT.
        """
        if self.number == 0:
            wrong("IMPORT_EMPTY", "the file is empty", 1)
        if not self.ended:
            wrong("IMPORT_CUT", "the file ends here, without the line that ends an export", self.number)

    def _parse(self, data: bytes) -> dict[str, Any]:
        text = self._text(data)
        try:
            found = strict_json.loads(text, f"line {self.number}", limit=None)
        except strict_json.JsonProblem as problem:
            if self.number > 1 and not text.endswith("}"):
                wrong("IMPORT_CUT", "the line is cut off", self.number)
            wrong("IMPORT_NOT_JSON", f"the line is not JSON: {problem.message}", self.number)
        if not isinstance(found, dict) or (self.number == 1 and found.get(HEADER) is None):
            wrong("IMPORT_FOREIGN", "this is not a line of an exported session", self.number)
        if strict_json.canonical(found) != text and not self._is_newer(found):
            wrong("IMPORT_ALTERED", "the line is not in the form that an export writes", self.number)
        return found

    def _text(self, data: bytes) -> str:
        number = self.number
        if number == 1 and data.startswith(_BOM):
            wrong("IMPORT_BOM", "the file begins with a byte order mark; exports have none", number)
        if len(data) > LINE_LIMIT:
            wrong("IMPORT_FOREIGN", f"the line has more than {LINE_LIMIT} bytes", number)
        if data.endswith(b"\r\n"):
            wrong("IMPORT_LINE_ENDS", "the line ends with CR LF; lines of an export end with LF", number)
        if not data.endswith(b"\n"):
            wrong("IMPORT_CUT", "the line is cut off", number)
        try:
            return data[:-1].decode()
        except UnicodeDecodeError:
            wrong("IMPORT_NOT_TEXT", "the line is not UTF-8", number)

    def _is_newer(self, found: dict[str, Any]) -> bool:
        """Whether a newer program wrote the header, which may then look like anything."""
        given = found.get(HEADER)
        return self.number == 1 and isinstance(given, dict) and given.get("version") not in (None, *_MEMBERS)

    def _member(self, found: dict[str, Any]) -> str:
        members = [name for name in found if name != "line"]
        if self.number == 1:
            self.version = check_header(found[HEADER])
        wanted = () if self.number == 1 else _MEMBERS[self.version]
        if len(members) != 1 or members[0] not in (HEADER, *wanted) or type(found.get("line")) is not int:
            wrong("IMPORT_FOREIGN", "this is not a line of an exported session", self.number)
        return members[0]

    def _check_number(self, found: dict[str, Any]) -> None:
        number = found["line"]
        if number < self.number:
            wrong("IMPORT_REPEATED", f"line {number} of the export is repeated here", self.number)
        if number > self.number:
            wrong(REORDERED, f"found line {number} of the export where line {self.number} belongs", self.number)

    def _finish(self, value: Any) -> None:
        self.ended = True
        wanted: dict[str, Any] = {"lines": self.number - 1, "events": self.events, "sha256": self._sha.hexdigest()}
        if self.version > 1:
            wanted["files"] = self.files
        if value != wanted:
            wrong("IMPORT_ALTERED", "the lines above do not match the hash at the end of the export", self.number)


def missing(number: int) -> NoReturn:
    """Say that a line is nowhere in the file.

    Raises:
        InvalidInput: IMPORT_CUT.
    """
    wrong("IMPORT_CUT", f"line {number} of the export is missing", number)


def is_line(data: bytes, number: int) -> bool:
    """Whether a line of a file looks like the one of this number."""
    return f'"line":{number},'.encode() in data or data.rstrip().endswith(f'"line":{number}}}'.encode())


def check_header(given: Any) -> int:
    """Whether a header is one of this format and of a version that is read; which.

    Raises:
        InvalidInput: IMPORT_FOREIGN, IMPORT_ALTERED. EnvironmentProblem: IMPORT_TOO_NEW.
    """
    if not isinstance(given, dict) or given.get("name") != NAME or type(given.get("version")) is not int:
        wrong("IMPORT_FOREIGN", "this is not an exported session", 1)
    if given["version"] > VERSION:
        raise EnvironmentProblem(
            "IMPORT_TOO_NEW",
            f"Line 1: the file has format version {given['version']}, newer than this program's version {VERSION}.",
            "install a newer guarded-orchestrator",
            line=1,
        )
    version: int = given["version"]
    if version not in _MEMBERS:
        wrong("IMPORT_FOREIGN", f"unknown format version {version} of an exported session", 1)
    if set(given) != HEADER_MEMBERS:
        named = ", ".join(names.shown(name) for name in sorted(set(given) ^ HEADER_MEMBERS))
        wrong("IMPORT_FOREIGN", f"members of the header are unknown or missing: {named}", 1)
    for name in ("schema", "rules_version"):
        if type(given[name]) is not int or given[name] < 1:
            wrong("IMPORT_FOREIGN", f"{name} of the header is not a version number", 1)
    if not isinstance(given["session"], str):
        wrong("IMPORT_FOREIGN", "session in the header is not text", 1)
    if given["schema"] > _LAST_SCHEMAS.get(version, given["schema"]):
        what = f"no export of format version {version} has schema version {given['schema']}"
        wrong("IMPORT_ALTERED", what, 1)
    return version


def wrong(code: str, what: str, number: int, suggestion: str = _AGAIN) -> NoReturn:
    """Say what is wrong with a line.

    Raises:
        InvalidInput: always.
    """
    raise InvalidInput(code, f"Line {number}: {what}; nothing was imported.", suggestion, line=number)
