"""What an operation takes: one class for each operation, from which every door is made.

A class that stands below `Request` declares an operation: its words, help, example and use case, and its parameters
as fields. The command line, batches, the Python interface, HTTP, MCP and the reference are made of these declarations,
and the checks that every call meets as well.

Declaring costs a cold call its start, so nothing is worked out here before it is asked for: annotations stay text.
"""

from __future__ import annotations

from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import TYPE_CHECKING, Any, ClassVar, Self, dataclass_transform
from orchestrator.store.constants import STORE_CHAIN

if TYPE_CHECKING:
    from collections.abc import Mapping

REQUIRED = object()
"""The default of a parameter that has none."""

# How a door that has only words reads a value, where the type of the field does not say it.
TEXT = "text"
"""A text for people; `-` reads stdin, `@file` a file, `@@` is a literal @."""
ARRAY = "array"
"""A JSON array of texts; `-` and `@file` as for a text."""
OBJECT = "object"
"""A JSON object; `-` and `@file` as for a text."""
OBJECT_FILE = "object file"
"""The name of a file (or `-`) that holds a JSON object."""
PAIRS = "pairs"
"""A repeatable NAME=TEXT."""

# What a value is, besides its type: the check that it meets.
SESSION_ID, GROUP_ID, TASK_ID, AGENT_ID, CRITERION_ID = "session", "group", "task", "agent", "criterion"
CHAIN = "chain"
"""A session, or `store` for what belongs to none."""
REQUEST_ID = "request"
REASONS = "reasons"
"""An object of group id to reason."""
REPORT_PART = "report part"
"""A text or object that may be as large as a report."""
UNREAD = "unread"
"""A text whose use case has words of its own for what is wrong with it."""


class Place(NamedTuple):
    """A place on the command line, besides the option, that gives a parameter."""

    name: str
    help: str
    metavar: str = ""


class Field(NamedTuple):
    """What a declaration says of a parameter besides its name and type.

    Attributes:
        help: one sentence.
        default: its default value, or REQUIRED.
        flags: its options on the command line; none for what only stands in its place.
        places: where else it may be written on the command line, as a word without an option.
        holds: what its value is, which decides the check that it meets; a plain text where it is empty.
        choices: the values that it may have.
        span: the least and the largest number, or the length of a text.
        reading: how a door that has only words reads it.
        variable: the environment variable that stands in for it.
        is_state: a status of a group, task or criterion, which is compared in small letters.
        is_found: a session, which is the only open one where none is named.
        is_shown: the command line has it.
    """

    help: str
    default: Any = REQUIRED
    flags: tuple[str, ...] = ()
    places: tuple[Place, ...] = ()
    holds: str = ""
    choices: tuple[str, ...] = ()
    span: tuple[int, int] | None = None
    reading: str = ""
    metavar: str = ""
    variable: str = ""
    is_state: bool = False
    is_found: bool = False
    is_shown: bool = True


def argument(help: str, *, default: Any = REQUIRED, metavar: str = "", **more: Any) -> Any:
    """A parameter that stands on the command line in its place, without an option."""
    return Field(help, default, metavar=metavar, **more)


def option(help: str, *flags: str, default: Any = REQUIRED, **more: Any) -> Any:
    """A parameter that is an option on the command line; its flag is its name with hyphens where none is given."""
    return Field(help, default, flags or (_BY_NAME,), **more)


def flag(help: str, *flags: str, default: bool = False) -> Any:
    """An option without a value."""
    return Field(help, default, flags or (_BY_NAME,))


def hidden(help: str, *, default: Any = REQUIRED, **more: Any) -> Any:
    """A parameter that the command line gives in another way."""
    return Field(help, default, is_shown=False, **more)


_BY_NAME = "--"
_KINDS: dict[str, type] = {"str": str, "int": int, "bool": bool, "dict": dict, "tuple": list}


class Parameter(NamedTuple):
    """A field with its name and type: `kinds` are those that a value may have, `nullable` whether it may be none."""

    name: str
    annotation: str
    kinds: tuple[type, ...]
    nullable: bool
    field: Field

    @property
    def default(self) -> Any:
        """The default value, or REQUIRED."""
        return self.field.default

    @property
    def flags(self) -> tuple[str, ...]:
        """Its options on the command line."""
        return tuple(f"--{self.name.replace('_', '-')}" if each == _BY_NAME else each for each in self.field.flags)


def _parameter(name: str, annotation: str, field: Field) -> Parameter:
    parts = [part.strip().partition("[")[0] for part in annotation.split("|")]
    return Parameter(name, annotation, tuple(_KINDS[part] for part in parts if part in _KINDS), "None" in parts, field)


_IN_COLUMNS = ("session_id", "request_id", "dry_run")
"""Parameters that a step keeps elsewhere: as its chain, beside its answer, or not at all."""
DECLARED: dict[str, type[Request]] = {}
"""The operations of the families that are loaded, by their words."""


@dataclass_transform(kw_only_default=True, frozen_default=True, field_specifiers=(argument, option, flag, hidden))
class Request:
    """One operation, and what a call of it asks for.

    The first paragraph of a class's docstring is the operation's help.

    Attributes:
        words: how the operation is called, such as `task set-status`.
        line: the help in one line, for lists.
        example: a command line that is right.
        use_case: the module below `orchestrator.app` and the function that do it.
        answer: the shapes of what it answers, as names below `orchestrator.app.answers`.
        is_writing: whether it changes the record.
        is_for_persons: whether a person may have to prove that they act.
        checked_by: the module and function that find what is wrong in a request itself, and give it as it is recorded.
        prepared_by: the module and function that begin it, where something is to be found out before its step.
        event: how its steps are called in the record.
        unrecorded: parameters that its event does not keep, besides what stands in columns of their own.
        is_marked: whether its event says by which version of the rules it was judged first.
        acting: who takes the step where no parameter says it.
    """

    words: ClassVar[str] = ""
    line: ClassVar[str] = ""
    example: ClassVar[str] = ""
    use_case: ClassVar[str] = ""
    answer: ClassVar[tuple[str, ...]] = ()
    is_writing: ClassVar[bool] = False
    is_for_persons: ClassVar[bool] = False
    checked_by: ClassVar[str] = ""
    prepared_by: ClassVar[str] = ""
    event: ClassVar[str] = ""
    unrecorded: ClassVar[tuple[str, ...]] = ()
    is_marked: ClassVar[bool] = False
    acting: ClassVar[str] = ""
    _parameters: ClassVar[dict[str, Parameter]]
    _known_defaults: ClassVar[dict[str, Any]]
    _unsaid: ClassVar[dict[str, None]]
    """What stands for a required parameter that an older event does not have."""
    _left_out: ClassVar[frozenset[str]]
    """What its steps keep elsewhere, or not at all."""

    def __init_subclass__(
        cls,
        words: str = "",
        line: str = "",
        example: str = "",
        use_case: str = "",
        answer: str | tuple[str, ...] = (),
        writes: bool = False,
        persons: bool = False,
        checked_by: str = "",
        prepared_by: str = "",
        event: str = "",
        unrecorded: tuple[str, ...] = (),
        marked: bool = False,
        acting: str = "",
    ) -> None:
        cls.words, cls.example = words, example
        cls.event = event or words
        cls.checked_by = checked_by or cls.checked_by
        cls.prepared_by = prepared_by or cls.prepared_by
        cls.unrecorded, cls.is_marked = unrecorded or cls.unrecorded, marked or cls.is_marked
        cls._left_out = frozenset((*_IN_COLUMNS, *cls.unrecorded))
        cls.line, cls.acting = line, acting or cls.acting
        cls.use_case = use_case or cls.use_case
        cls.answer = (answer,) if isinstance(answer, str) else answer or cls.answer
        cls.is_writing, cls.is_for_persons = writes or cls.is_writing, persons or cls.is_for_persons
        if words:
            DECLARED[words] = cls

    def __init__(self, **values: Any) -> None:
        defaults, found = self._defaults(), self.__dict__
        found.update(defaults)
        found.update(values)
        if len(found) > len(defaults):
            unknown = ", ".join(name for name in values if name not in defaults)
            raise TypeError(f"{type(self).__name__} has no {unknown}")
        if REQUIRED in map(found.get, self._unsaid):
            raise TypeError(f"{type(self).__name__} needs {next(name for name in found if found[name] is REQUIRED)}")

    def __setattr__(self, name: str, value: object) -> None:
        raise AttributeError(f"{name} of {type(self).__name__} is fixed")

    def replaced(self, **values: Any) -> Self:
        """The request with other values."""
        return type(self)(**{**self.__dict__, **values})

    @property
    def chain(self) -> str:
        """The session whose record keeps the step, or the store's chain."""
        session: str | None = self.__dict__.get("session_id")
        return session if session is not None else STORE_CHAIN

    @property
    def actor(self) -> str:
        """Who acts, as far as the request says."""
        by: str | None = self.__dict__.get("by")
        return by or self.acting

    @classmethod
    def is_trial(cls, asked: Mapping[str, Any]) -> bool:
        """Whether a call with these parameters makes sense where nothing can be written."""
        return bool(asked.get("dry_run"))

    @classmethod
    def is_alone(cls, asked: Mapping[str, Any]) -> bool:
        """Whether a call with these parameters does more than its step, such as run a command: no lock is held then."""
        return bool(cls.prepared_by) or not cls.is_writing

    def recorded(self) -> dict[str, Any]:
        """What the step's event keeps of the request."""
        left_out = self._left_out
        return {
            name: list(value) if type(value) is tuple else value
            for name, value in self.__dict__.items()
            if value is not None and name not in left_out
        }

    @classmethod
    def of_event(cls, chain: str, recorded: Mapping[str, Any]) -> Self:
        """The request of a step, from what its event keeps; what an older event does not know is left out."""
        made = cls.__new__(cls)
        # Each parameter has a value by then, and no other is taken in: nothing is left for the constructor to check.
        values = made.__dict__
        values.update(cls._defaults())
        values.update(cls._unsaid)
        for name, value in recorded.items():
            if value is not None and name in values:
                values[name] = tuple(value) if type(value) is list else value
        if "session_id" in values:
            values["session_id"] = chain
        return made

    @classmethod
    def help(cls) -> str:
        """What the operation does, in one paragraph."""
        return " ".join((cls.__doc__ or "").partition("\n\n")[0].split())

    @classmethod
    def _defaults(cls) -> dict[str, Any]:
        """The defaults by name, in the order in which the parameters are declared."""
        found: dict[str, Any] | None = cls.__dict__.get("_known_defaults")
        if found is None:
            found = cls._known_defaults = {name: each.field.default for name, each in cls.parameters().items()}
            cls._unsaid = dict.fromkeys(name for name, default in found.items() if default is REQUIRED)
        return found

    @classmethod
    def parameters(cls) -> dict[str, Parameter]:
        """The parameters by name, in the order in which they are declared."""
        found: dict[str, Parameter] | None = cls.__dict__.get("_parameters")
        if found is None:
            found = {
                name: _parameter(name, annotation, _field(getattr(cls, name, REQUIRED)))
                for each in reversed(cls.__mro__[:-2])
                for name, annotation in each.__annotations__.items()
            }
            cls._parameters = found
        return found


def _field(declared: Any) -> Field:
    """The field of a parameter; what no door takes is declared by its type and its default alone."""
    return declared if isinstance(declared, Field) else Field("", declared)


COUNT = (1, 100_000)
VERSION = (1, 2**53)
STEP = (0, 2**53)

SESSION: Any = option(
    "The session (default: ORCHESTRATOR_SESSION, else the only open orchestration).", "--session-id", "-s",
    metavar="ID", holds=SESSION_ID, variable="ORCHESTRATOR_SESSION", is_found=True,
)  # fmt: skip
OF_SESSION: Any = option(
    "Only those of this session.", "--session-id", "-s", default=None, metavar="ID", holds=SESSION_ID
)
THIS_SESSION: Any = SESSION._replace(places=(Place("session", "The session."),))
"""How the commands of a session take its id."""
GROUP: Any = option("The task group.", "--group-id", "-g", default=None, metavar="ID", holds=GROUP_ID)
BY: Any = option("The acting agent: the id of a registered agent.", default=None, metavar="AGENT", holds=AGENT_ID)
BY_MANAGER: Any = BY._replace(
    help="The acting agent (default: project_manager).", default="project_manager"
)
"""The actor of what a project manager does."""
REASON: Any = option("Why; kept in the record.", default="", reading=TEXT)
REQUEST: Any = option(
    "Idempotency key: repeating the call with the same id returns the same result.", default=None, metavar="ID",
    holds=REQUEST_ID,
)
LIMIT: Any = option("Maximum number of rows.", default=50, metavar="N", span=COUNT)
SINCE: Any = option(
    "Only what comes after this step (see next_since).", default=None, metavar="SEQ", span=STEP
)
UNTIL: Any = option("Only what comes up to this step.", default=None, metavar="SEQ", span=STEP)
AT: Any = option("Show it as it was after this step of the session.", "--at", default=None, metavar="SEQ")
