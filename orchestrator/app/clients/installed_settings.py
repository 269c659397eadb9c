"""Our hooks and permissions in a client's settings file: added without touching the rest, and taken out again.

Hooks are found by the marker in their commands, permissions by the note of what was added. A file that nobody has
changed since gets back the very bytes that it had before.

Source: spec 80, section 3.
"""

from __future__ import annotations

import base64
import json

from orchestrator.app.clients.client_files import MARKER
from orchestrator.app.clients.install_record import Problem, difference
from orchestrator.core import json_edit, sha256, strict_json
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.running import config
from orchestrator.hints import Any

HOOKS, ALLOW = "hooks", ("permissions", "allow")
_BOM = "\ufeff"
_LIMIT = 8 * 1024 * 1024

Entries = dict[str, dict[str, Any]]


class Settings(NamedTuple):
    """What becomes of a settings file.

    data: its new content; None if it stays as it is. note: what uninstall needs to know of our entries.
    is_removed: nothing is left in it, and it was not there before.
    """

    data: bytes | None
    note: dict[str, Any]
    problems: tuple[Problem, ...] = ()
    is_removed: bool = False


def merged(
    path: str, before: bytes | None, note: dict[str, Any] | None, hooks: Entries, allow: list[str], *, force: bool
) -> Settings:
    """A settings file with our entries in it.

    Args:
        before: its content; None if there is none.
        note: as an earlier call has left it.
        hooks, allow: the entries that the settings must have.

    Raises:
        InvalidInput: E105, it is not valid JSON; E104, something of it has another type than the client reads.
    """
    edit = _Edit(path, before, note)
    if not edit.has_ours():
        # Somebody has put the file back, or removed it: nothing that was noted holds any more.
        edit = _Edit(path, before, None)
    problems = []
    for event, entry in hooks.items():
        there = edit.ours(event)
        if [found for _, found in there] == [entry]:
            continue
        changed = [found for _, found in there if not edit.is_noted(event, found)]
        if changed and not force:
            problems.append(_changed(path, event, entry, changed[0]))
            continue
        edit.remove_hooks(event)
        edit.append((HOOKS, event), entry)
    mine = [item for item in edit.noted["allow"] if item in allow]
    edit.remove_allowed([item for item in edit.noted["allow"] if item not in allow])
    for item in allow:
        if item not in edit.allowed():
            edit.append(ALLOW, item)
            mine.append(item)
    return Settings(edit.changed(), edit.note(hooks, mine), tuple(problems))


def without_ours(
    path: str, before: bytes, note: dict[str, Any] | None, allow: list[str], *, force: bool
) -> Settings:
    """A settings file without our entries.

    Args:
        allow: the permissions that are ours where there is no note.

    Raises:
        InvalidInput: as for `merged`.
    """
    if note is not None and note["sha256"] == _hash(before) and note["before"] is not False:
        if note["before"] is None:
            return Settings(None, note, is_removed=True)
        return Settings(base64.b64decode(note["before"]), note)
    edit = _Edit(path, before, note)
    problems = []
    for event in edit.events():
        changed = [found for _, found in edit.ours(event) if not edit.is_noted(event, found)]
        if changed and not force:
            problems.append(_changed(path, event, edit.noted["hooks"].get(event, {}), changed[0]))
        else:
            edit.remove_hooks(event)
    known = allow if note is None and edit.has_removed else []
    edit.remove_allowed([*edit.noted["allow"], *known])
    edit.remove_created()
    is_empty = edit.text.split() in (["{}"], ["{", "}"]) and note is not None and note["before"] is None
    return Settings(edit.changed(), edit.noted, tuple(problems), is_removed=is_empty)


class _Edit:
    """A settings file under change."""

    def __init__(self, path: str, before: bytes | None, note: dict[str, Any] | None) -> None:
        self.path, self.before = path, before
        self.noted: dict[str, Any] = note or {"before": None, "sha256": "", "hooks": {}, "allow": [], "created": []}
        self._is_known = note is not None
        text = "{}\n" if before is None else _checked(path, before)
        self._bom = text[:1] if text.startswith(_BOM) else ""
        self._first = self.text = text.removeprefix(_BOM)
        self.created = [tuple(each) for each in self.noted["created"]]
        self.has_removed = False

    def has_ours(self) -> bool:
        """Whether anything of ours is in the file."""
        is_allowed = any(item in self.noted["allow"] for item in self.allowed())
        return is_allowed or any(self.ours(event) for event in self.events())

    def events(self) -> list[str]:
        """The events that have hooks in the file."""
        return list(self._at((HOOKS,)) or {})

    def ours(self, event: str) -> list[tuple[int, dict[str, Any]]]:
        """Our entries of an event with their numbers."""
        return [(number, each) for number, each in enumerate(self._at((HOOKS, event)) or []) if _is_ours(each)]

    def is_noted(self, event: str, entry: dict[str, Any]) -> bool:
        """Whether an entry is as we wrote it; without a note, whether it has nothing beside our command."""
        if self._is_known and event in self.noted["hooks"]:
            return bool(self.noted["hooks"][event] == entry)
        return len(entry["hooks"]) == 1

    def allowed(self) -> list[Any]:
        """What is allowed."""
        return list(self._at(ALLOW) or [])

    def append(self, path: json_edit.Path, value: object) -> None:
        """Add an item to an array, which is created where it is missing."""
        self.text, created = json_edit.append(self.text, path, value)
        self.created += [each for each in created if each not in self.created]

    def remove_hooks(self, event: str) -> None:
        """Take out our entries of an event."""
        # From the end, so that the numbers of those before stay right.
        for number, _ in reversed(self.ours(event)):
            self.text = json_edit.remove(self.text, (HOOKS, event, number))
            self.has_removed = True

    def remove_allowed(self, items: list[str]) -> None:
        """Take out permissions."""
        for number, item in reversed(list(enumerate(self.allowed()))):
            if item in items:
                self.text = json_edit.remove(self.text, (*ALLOW, number))

    def remove_created(self) -> None:
        """Take out the objects and arrays that we created and that are empty again."""
        # Innermost first: an outer object is empty only once the inner one is gone.
        for path in sorted(self.created, key=len, reverse=True):
            node = json_edit.find(self.text, path)
            if node is not None and node.inner == {}:
                self.text = json_edit.remove(self.text, path)

    def changed(self) -> bytes | None:
        """The file's new content; None if it is as it was."""
        if self.before is not None and self.text == self._first:
            return None
        return (self._bom + self.text).encode()

    def note(self, hooks: Entries, allow: list[str]) -> dict[str, Any]:
        """What uninstall needs to restore the file; `before` is False if only parts of it can."""
        data = self.changed()
        now = data if data is not None else self.before or b""
        before: Any = base64.b64encode(self.before).decode() if self.before is not None else None
        if self._is_known:
            is_untouched = self.before is not None and self.noted["sha256"] == _hash(self.before)
            before = self.noted["before"] if is_untouched else None if self.before is None else False
        return {
            "before": before, "sha256": _hash(now), "hooks": {**self.noted["hooks"], **hooks}, "allow": allow,
            "created": [list(each) for each in self.created],
        }  # fmt: skip

    def _at(self, path: json_edit.Path) -> Any:
        node = json_edit.find(self.text, path)
        return node.value if node is not None else None


def _is_ours(entry: object) -> bool:
    """Whether an entry of an event holds our command."""
    hooks = entry.get("hooks") if isinstance(entry, dict) else None
    commands = [each.get("command") for each in hooks if isinstance(each, dict)] if isinstance(hooks, list) else []
    return any(isinstance(each, str) and MARKER in each for each in commands)


def _checked(path: str, before: bytes) -> str:
    """The text of a file that holds what a client reads.

    Raises:
        InvalidInput: E104, E105.
    """
    try:
        found = strict_json.loads(before, path, _LIMIT)
    except strict_json.JsonProblem as problem:
        raise config.refusal([config.Problem("E105", problem.path, problem.message)], path) from None
    problems = list(_misfits(found))
    if problems:
        raise config.refusal(problems, path)
    return before.decode()


def _misfits(found: object) -> list[config.Problem]:
    """What has another type than the client reads there."""
    kinds: list[tuple[json_edit.Path, type, str]] = [((), dict, "an object"), ((HOOKS,), dict, "an object")]
    kinds += [((ALLOW[0],), dict, "an object"), (ALLOW, list, "a list")]
    hooks = found.get(HOOKS) if isinstance(found, dict) else None
    kinds += [((HOOKS, event), list, "a list") for event in hooks] if isinstance(hooks, dict) else []
    problems = []
    for path, kind, words in kinds:
        value = found
        for step in path:
            value = value.get(step) if isinstance(value, dict) else None
        if (value is not None and not isinstance(value, kind)) or (value is None and _has(found, path)):
            place = "$" + "".join(f".{step}" for step in path)
            problems.append(config.Problem("E104", place, f"{place} must be {words}"))
    return problems


def _has(found: object, path: json_edit.Path) -> bool:
    """Whether there is a value at a path, null included."""
    for step in path:
        if not isinstance(found, dict) or step not in found:
            return False
        found = found[step]
    return True


def _changed(path: str, event: str, ours: dict[str, Any], theirs: dict[str, Any]) -> Problem:
    message = f"The hook for {event} in {path} was changed; left unchanged (--force replaces it)."
    return Problem("changed", path, message, difference(_shown(ours), _shown(theirs), path))


def _shown(entry: dict[str, Any]) -> str:
    return json.dumps(entry, indent=1, ensure_ascii=False)


def _hash(data: bytes) -> str:
    return sha256.new(data).hexdigest()
