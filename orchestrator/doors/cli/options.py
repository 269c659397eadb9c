"""What a command is: its words, its parameters, and what shows its answer, as plain data.

Two readers take commands apart by this data: the quick one, which knows only calls that are plainly right, and
Typer, which explains all others. Declaring a command therefore costs nothing at the start of another one.
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.kernel import requests
from orchestrator.app.kernel.requests import REQUIRED, Request
from orchestrator.core.named_tuple import NamedTuple
from orchestrator.hints import Any

STDIN = "-"
"""What stands for standard input where a file is named."""

# How a value is read; some are named by declarations.
TEXT, ARRAY, OBJECT, OBJECT_FILE, PAIRS = (
    requests.TEXT, requests.ARRAY, requests.OBJECT, requests.OBJECT_FILE, requests.PAIRS
)  # fmt: skip
WORD = "word"
"""One value, taken as it is written."""
INTEGER = "integer"
FLAG = "flag"
WORDS = "words"
"""A repeatable option."""
SECRET = "secret"  # noqa: S105 - the name of a kind
"""The name of a file (or `-`) with something that is never shown, its name included."""
METADATA = "metadata"
"""The name of a file (or `-`) with return metadata, whose bytes the command reads itself."""
DOCUMENT = "document"
"""The name of a file (or `-`) whose bytes the command reads itself."""


class Parameter(NamedTuple):
    """One parameter of a command.

    flags: none for a positional one; kind: one of the words above; target: the parameter of the use case, where it is
    called otherwise; variable: the environment variable that stands in for it.
    """

    name: str
    flags: tuple[str, ...]
    kind: str
    help: str
    required: bool = False
    metavar: str = ""
    choices: tuple[str, ...] = ()
    target: str = ""
    variable: str = ""

    @property
    def key(self) -> str:
        """The parameter of the use case that it gives; several may give the same one."""
        return self.target or self.name


class Given(NamedTuple):
    """A call that was taken apart: the parameters of the use case, and what belongs to the command line itself.

    warnings: what a person should know about what was given. utc, color, allow_superuser: as the options of the same
    names.
    """

    arguments: dict[str, Any]
    json: bool
    db: str | None
    debug: bool
    warnings: tuple[str, ...] = ()
    utc: bool = False
    color: str | None = None
    allow_superuser: bool = False


class Result(NamedTuple):
    """What a command answers: the JSON, the text for people where there is a better one, and the exit code.

    printed: the command has written its answer itself.
    raw: the text is a document of its own, which `--json` does not replace.
    """

    answer: dict[str, Any]
    text: str | None = None
    exit_code: int = 0
    printed: bool = False
    raw: bool = False


Handler = Callable[[Given], Result]
Show = Callable[[dict[str, Any]], str]


class Command(NamedTuple):
    """One command: its words, help, an example, its parameters, and what is called.

    handler: what to run; None calls the operation of the same words.
    show: makes the text for people; None leaves it to `text`, which knows the operations.
    line: the help in one line, for lists.
    answer: the shapes of what it answers, as names below `orchestrator.app.answers`.
    """

    words: str
    help: str
    example: str
    parameters: tuple[Parameter, ...]
    show: Show | None = None
    handler: Handler | None = None
    line: str = ""
    answer: tuple[str, ...] = ()


def argument(
    name: str, help: str, *, target: str = "", required: bool = True, kind: str = WORD, metavar: str = ""
) -> Parameter:
    """A positional parameter."""
    return Parameter(name, (), kind, help, required, metavar or name.upper(), (), target)


def option(
    name: str,
    help: str,
    *flags: str,
    kind: str = WORD,
    required: bool = False,
    choices: tuple[str, ...] = (),
    metavar: str = "",
) -> Parameter:
    """An option; its flag is the name with hyphens where none is given."""
    return Parameter(name, flags or (f"--{name.replace('_', '-')}",), kind, help, required, metavar, choices)


def flag(name: str, help: str, *flags: str) -> Parameter:
    """An option without a value."""
    return option(name, help, *flags, kind=FLAG)


JSON = flag("json", "Print the answer as one JSON object (also: ORCHESTRATOR_JSON=1).")
DB = option(
    "db", "The database: a file, or the URL of one on PostgreSQL (default: ORCHESTRATOR_DB, else the nearest"
    " .orchestrator upwards).", metavar="FILE",
)
UTC = flag("utc", "On a terminal: exact times instead of relative ones.")
COLOR = option(
    "color", "Colour the text (default: auto, on a terminal unless NO_COLOR is set).",
    choices=("auto", "always", "never"),
)  # fmt: skip
DEBUG = flag("debug", "Show the traceback of an unexpected error.")
ALLOW_SUPERUSER = flag(
    "allow_superuser", "Write to a PostgreSQL database as a superuser, whom no right and no trigger stops."
)
COMMON = (JSON, DB, UTC, COLOR, DEBUG, ALLOW_SUPERUSER)
"""What every command takes."""

HUMAN = option(
    "human_token_file",
    "A file with a person's token, as proof of who acts (- for stdin); without it, a terminal counts.",
    kind=SECRET,
    metavar="FILE",
)
"""What commands take that only a person may do, or that a person may do as well."""


def of_operation(request: type[Request], *more: Parameter, handler: Handler | None = None) -> Command:
    """The command of an operation.

    Args:
        request: the operation's declaration.
        more: parameters of the command line alone.
        handler: what runs it, where calling the operation is not all.
    """
    found: list[Parameter] = []
    for each in request.parameters().values():
        if each.name == "request_id" and request.is_for_persons:
            found.append(HUMAN)
        if each.field.is_shown:
            found.extend(_spellings(each))
    if request.is_for_persons and HUMAN not in found:
        found.append(HUMAN)
    help = request.help()
    line = request.line or f"{help.partition('. ')[0].removesuffix('.')}."
    return Command(request.words, help, request.example, (*found, *more), None, handler, line, request.answer)


def _spellings(parameter: requests.Parameter) -> list[Parameter]:
    """The parameter as an option, and in its place."""
    field, name = parameter.field, parameter.name
    required = field.default is REQUIRED and not field.is_found and not (field.places and field.flags)
    found = [
        Parameter(place.name, (), _kind(parameter), place.help, False, place.metavar or place.name.upper(), (), name)
        for place in field.places
    ]
    metavar = field.metavar or ("" if field.flags else name.upper())
    choices = field.choices if field.flags else ()
    found.append(
        Parameter(name, parameter.flags, _kind(parameter), field.help, required, metavar, choices, "", field.variable)
    )
    return found


def _kind(parameter: requests.Parameter) -> str:
    """How the command line reads a value."""
    if parameter.field.reading:
        return parameter.field.reading
    kinds = parameter.kinds
    return next((word for kind, word in _READINGS if kind in kinds), WORD)


_READINGS = ((str, WORD), (bool, FLAG), (int, INTEGER), (list, WORDS), (dict, OBJECT))
