"""A plan as data: the groups and criteria that a project manager's report carries, checked whole before any is made.

Everything that is wrong with a plan is found at once, each fault with its place, so that one correction is enough.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterator, Mapping

from orchestrator.core import fields, names, strict_json, task_graph
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.core.validation import criteria as measures
from orchestrator.errors import InvalidInput, UsageError
from orchestrator.hints import Any

KEY, ALIAS = "plan", "task_groups"
EFFECTS = ("plan", "continue")
"""The effects of the reports that may carry a plan."""
KINDS = ("code", "research")
PRIORITIES = ("urgent", "high", "medium", "low")
COMMAND_LIMIT = 64 * 1024
"""Characters of a criterion's command, its arguments together."""

_PLAN_KEYS = ("groups", "criteria")
_GROUP_KEYS = (
    "id", "name", "description", "kind", "complexity", "priority", "security_sensitive", "depends_on", "criteria",
)  # fmt: skip
_CRITERION_KEYS = ("id", "text", "metric", "operator", "target", "command", "at")
_MEASURE = ("metric", "operator", "target")
_LOOKALIKES = frozenset(("plan", "plans", "theplan", "groups", "taskgroups", "newgroups", "workplan", "planning"))
_NO_LETTER = r"[^a-z]"


class Criterion(NamedTuple):
    """A success criterion of a plan; `at` names the statuses at which its command is due."""

    id: str
    text: str
    metric: str | None
    operator: str | None
    target: str | None
    command: tuple[str, ...] | None
    at: tuple[str, ...]
    group_id: str | None


class Group(NamedTuple):
    """A group of a plan; `given` names the keys that the plan says something about."""

    id: str
    name: str
    description: str | None
    kind: str
    complexity: int
    priority: str
    security_sensitive: bool
    depends_on: tuple[str, ...]
    given: frozenset[str]
    path: str


class Plan(NamedTuple):
    """What a report plans."""

    groups: tuple[Group, ...]
    criteria: tuple[Criterion, ...]


class Known(NamedTuple):
    """What a plan is checked against: the session's groups with what they depend on, and the workflow's statuses."""

    groups: Mapping[str, tuple[str, ...]]
    statuses: Collection[str]


def is_carried(details: Mapping[str, Any]) -> bool:
    """Whether details hold a plan, or something that looks like one."""
    return any(name in details for name in (KEY, ALIAS)) or any(map(_looks_alike, details.items()))


def read(details: Mapping[str, Any], known: Known) -> Plan | None:
    """The plan in a report's details; None where there is none.

    Args:
        details: of a report that may carry a plan.

    Raises:
        InvalidInput: METADATA_INVALID; data ``problems`` is a list of {path, message}, one for every fault.
    """
    reader = _Reader(known)
    for name in details:
        if name not in (KEY, ALIAS) and _looks_alike((name, details[name])):
            reader.refuse(strict_json.at("$.details", name), f"looks like a plan, which is called {KEY}")
    found = reader.of(details)
    if reader.problems:
        raise invalid(reader.problems)
    return found


def invalid(problems: list[fields.Problem]) -> InvalidInput:
    """The error that names every fault of a plan."""
    first = problems[0]
    more = f" ({len(problems)} problems)" if len(problems) > 1 else ""
    return InvalidInput(
        "METADATA_INVALID",
        f"The plan is not valid: {first['path']}: {first['message']}{more}. Nothing was written.",
        "Fix every listed problem and report again in the same turn",
        problems=problems,
    )


def _looks_alike(item: tuple[str, Any]) -> bool:
    """Whether a member of details is probably meant to be the plan: by its name, and by what it holds."""
    name, value = item
    if name == ALIAS:
        return False
    folded = re.sub(_NO_LETTER, "", name.lower())
    return folded in _LOOKALIKES and isinstance(value, dict | list)


def _is_plan(value: Any) -> bool:
    """Whether the peer's key holds a plan; a list of ids only names groups that exist."""
    return isinstance(value, list) and any(isinstance(each, dict) for each in value)


class _Reader(fields.Reader):
    """Reads one plan and notes everything that is wrong with it."""

    def __init__(self, known: Known) -> None:
        super().__init__()
        self._known = known
        self._groups: dict[str, str] = {}
        self._criteria: dict[str, str] = {}

    def of(self, details: Mapping[str, Any]) -> Plan | None:
        """The plan, whole only where no problem was noted."""
        alias = _is_plan(details.get(ALIAS))
        if KEY in details and alias:
            self.refuse(f"$.details.{ALIAS}", f"is a second plan beside {KEY}; give one of them")
        if KEY in details:
            return self._plan(details[KEY], f"$.details.{KEY}")
        return self._plan({"groups": details[ALIAS]}, "$.details", ALIAS) if alias else None

    def _plan(self, value: Any, path: str, groups: str = "groups") -> Plan | None:
        if not isinstance(value, dict):
            self.refuse(path, f"must be an object with groups and criteria, not {fields.kind(value)}")
            return None
        self._unknown(value, _PLAN_KEYS, path, "a plan")
        named = value if groups == "groups" else {groups: value["groups"]}
        items = list(self.mappings(named, groups, path))
        for item, place in items:
            self._register(item, place)
        found = [self._group(item, place) for item, place in items]
        nested = [each for item, place in items for each in self._criteria_of(item, place, item.get("id"))]
        own = list(self._criteria_of(value, path, None))
        if not (value.get("groups") or value.get("criteria")) and not self.problems:
            self.refuse(path, "is empty; name at least one group, or leave the plan out")
        self._refuse_cycle(found)
        return Plan(tuple(found), (*nested, *own))

    def _register(self, item: dict[str, Any], path: str) -> None:
        """Note a group's id, so that others may depend on it wherever it stands."""
        id_ = self._id(item, "group", path)
        if id_ in self._groups:
            self.refuse(strict_json.at(path, "id"), f"is used twice: {self._groups[id_]} has it too")
        elif id_:
            self._groups[id_] = path

    def _id(self, item: dict[str, Any], kind: str, path: str) -> str:
        place = strict_json.at(path, "id")
        if item.get("id") is None:
            self.refuse(place, "is missing")
            return ""
        try:
            return names.check_id(kind, item["id"])
        except UsageError as problem:
            self.refuse(place, problem.message)
            return ""

    def _group(self, item: dict[str, Any], path: str) -> Group:
        self._unknown(item, _GROUP_KEYS, path, "a group")
        id_ = item["id"] if isinstance(item.get("id"), str) else ""
        return Group(
            id=id_,
            name=names.said(self.text(item, "name", path)) or id_,
            description=names.said(self.text(item, "description", path)) or None,
            kind=self._choice(item, "kind", KINDS, path) or "code",
            complexity=self._complexity(item, path),
            priority=self._choice(item, "priority", PRIORITIES, path) or "medium",
            security_sensitive=self._flag(item, "security_sensitive", path),
            depends_on=self._depends_on(item, id_, path),
            given=frozenset(name for name, value in item.items() if value is not None),
            path=path,
        )

    def _complexity(self, item: dict[str, Any], path: str) -> int:
        value = item.get("complexity")
        if value is None:
            return 3
        if type(value) is int and 1 <= value <= 10:
            return value
        self.refuse(
            strict_json.at(path, "complexity"), f"must be a whole number from 1 to 10, not {fields.kind(value)}"
        )
        return 3

    def _choice(self, item: dict[str, Any], key: str, choices: tuple[str, ...], path: str) -> str | None:
        value = self.text(item, key, path)
        if value is None or value in choices:
            return value
        near = names.nearest(value, choices)
        hint = f"; did you mean {near}?" if near else ""
        listed = f"{', '.join(choices[:-1])} or {choices[-1]}"
        self.refuse(strict_json.at(path, key), f"must be {listed}, not {names.shown(value)}{hint}")
        return None

    def _flag(self, item: dict[str, Any], key: str, path: str) -> bool:
        value = item.get(key)
        if value is not None and not isinstance(value, bool):
            self.refuse(strict_json.at(path, key), f"must be true or false, not {fields.kind(value)}")
        return value is True

    def _depends_on(self, item: dict[str, Any], id_: str, path: str) -> tuple[str, ...]:
        found = []
        for value, place in self._texts(item, "depends_on", path):
            if value == id_:
                self.refuse(place, "is the group itself")
            elif value not in self._groups and value not in self._known.groups:
                near = names.nearest(value, (*self._groups, *self._known.groups))
                hint = f"; did you mean {near}?" if near else ""
                self.refuse(place, f"names no group of the session or of this plan: {names.shown(value)}{hint}")
            else:
                found.append(value)
        return tuple(dict.fromkeys(found))

    def _refuse_cycle(self, groups: list[Group]) -> None:
        planned = {group.id: group.depends_on for group in groups if group.id not in self._known.groups}
        edges = {id_: tuple(each for each in on if each in planned) for id_, on in planned.items()}
        cycle = task_graph.cycle(edges)
        if cycle:
            path = next(group.path for group in groups if group.id == cycle[0])
            shown = " -> ".join((*cycle, cycle[0]))
            self.refuse(strict_json.at(path, "depends_on"), f"closes a dependency cycle: {shown}")

    def _criteria_of(self, item: dict[str, Any], path: str, group: Any) -> Iterator[Criterion]:
        for each, place in self.mappings(item, "criteria", path):
            self._unknown(each, _CRITERION_KEYS, place, "a criterion")
            id_ = self._id(each, "criterion", place)
            if id_ in self._criteria:
                self.refuse(strict_json.at(place, "id"), f"is used twice: {self._criteria[id_]} has it too")
            elif id_:
                self._criteria[id_] = place
            yield self._criterion(each, place, id_, group if isinstance(group, str) else None)

    def _criterion(self, item: dict[str, Any], path: str, id_: str, group: str | None) -> Criterion:
        text = names.said(self.text(item, "text", path, required=True))
        metric, operator, target = self._measure(item, path)
        command = tuple(value for value, _ in self._texts(item, "command", path)) or None
        if command is None and item.get("command") == []:
            self.refuse(strict_json.at(path, "command"), "names no program")
        if command and not command[0].strip():
            self.refuse(strict_json.at(path, "command"), "names no program")
        if command and sum(map(len, command)) > COMMAND_LIMIT:
            self.refuse(strict_json.at(path, "command"), f"is longer than {COMMAND_LIMIT} characters; use a script")
        return Criterion(id_, text, metric, operator, target, command, self._due(item, path, command), group)

    def _measure(self, item: dict[str, Any], path: str) -> tuple[str | None, str | None, str | None]:
        given = [name for name in _MEASURE if item.get(name) is not None]
        if not given:
            return None, None, None
        for name in _MEASURE:
            if name not in given:
                self.refuse(strict_json.at(path, name), "is missing; a measured criterion has metric, operator, target")
        metric, target = self.text(item, "metric", path, required="metric" in given), item.get("target")
        operator = self._choice(item, "operator", tuple(measures.OPERATORS), path)
        if target is not None and (isinstance(target, bool) or not isinstance(target, int | float | str)):
            self.refuse(strict_json.at(path, "target"), f"must be a decimal number, not {fields.kind(target)}")
            return metric, operator, None
        said = None if target is None else str(target).strip()
        if metric and operator and said is not None and (why := measures.unfit_target(metric, operator, said)):
            self.refuse(strict_json.at(path, "target"), f"cannot be measured: {why}")
        return metric, operator, said

    def _due(self, item: dict[str, Any], path: str, command: tuple[str, ...] | None) -> tuple[str, ...]:
        found = []
        for value, place in self._texts(item, "at", path):
            status = names.status_name(value)
            if status not in self._known.statuses:
                near = names.nearest(status, self._known.statuses)
                hint = f"; did you mean {near}?" if near else ""
                self.refuse(place, f"is no status of the workflow: {names.shown(value)}{hint}")
            found.append(status)
        if found and command is None:
            self.refuse(strict_json.at(path, "at"), "is for a criterion with a command")
        return tuple(dict.fromkeys(found))

    def _texts(self, item: dict[str, Any], key: str, path: str) -> Iterator[tuple[str, str]]:
        value, place = item.get(key), strict_json.at(path, key)
        if value is not None and not isinstance(value, list):
            self.refuse(place, f"must be a list of texts, not {fields.kind(value)}")
            return
        for index, each in enumerate(value or []):
            if isinstance(each, str):
                yield each, strict_json.at(place, index)
            else:
                self.refuse(strict_json.at(place, index), f"must be text, not {fields.kind(each)}")

    def _unknown(self, item: dict[str, Any], known: tuple[str, ...], path: str, what: str) -> None:
        for key in item:
            if key not in known:
                near = names.nearest(key, known)
                hint = f"did you mean {near}?" if near else f"{what} has {', '.join(known)}"
                self.refuse(strict_json.at(path, key), f"is unknown; {hint}")
