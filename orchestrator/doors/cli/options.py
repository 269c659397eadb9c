"""What a command is: its words, its parameters, and what shows its answer, as plain data.

Two readers take commands apart by this data: the quick one, which knows only calls that are plainly right, and
Typer, which explains all others. Declaring a command therefore costs nothing at the start of another one.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from orchestrator.core.tuples import NamedTuple

STDIN = "-"
"""What stands for standard input where a file is named."""

WORD = "word"
"""One value, taken as it is written."""
TEXT = "text"
"""One value for people; `-` reads stdin, `@file` a file, `@@` is a literal @."""
INTEGER = "integer"
FLAG = "flag"
WORDS = "words"
"""A repeatable option."""
OBJECT = "object"
"""A JSON object; `-` and `@file` as for a text."""
OBJECT_FILE = "object file"
"""The name of a file (or `-`) that holds a JSON object."""
SECRET = "secret"  # noqa: S105 - the name of a kind
"""The name of a file (or `-`) with something that is never shown, its name included."""
METADATA = "metadata"
"""The name of a file (or `-`) with return metadata, whose bytes the command reads itself."""
DOCUMENT = "document"
"""The name of a file (or `-`) whose bytes the command reads itself."""
ARRAY = "array"
"""A JSON array of texts; `-` and `@file` as for a text."""
PAIRS = "pairs"
"""A repeatable NAME=TEXT."""


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

    warnings: what a person should know about what was given.
    """

    arguments: dict[str, Any]
    json: bool
    db: str | None
    debug: bool
    warnings: tuple[str, ...] = ()


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
    """

    words: str
    help: str
    example: str
    parameters: tuple[Parameter, ...]
    show: Show | None = None
    handler: Handler | None = None


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


JSON = flag("json", "Answer with one JSON object (also: ORCHESTRATOR_JSON=1).")
DB = option("db", "The database file; else ORCHESTRATOR_DB, else the nearest .orchestrator upwards.", metavar="FILE")
DEBUG = flag("debug", "Show the traceback of an unexpected error.")
COMMON = (JSON, DB, DEBUG)
"""What every command takes."""

SESSION = option(
    "session_id", "The session; else ORCHESTRATOR_SESSION, else the only open one that is no chat.",
    "--session-id", "-s", metavar="ID",
)._replace(variable="ORCHESTRATOR_SESSION")
OF_SESSION = option("session_id", "Only what belongs to this session.", "--session-id", "-s", metavar="ID")
THIS_SESSION = (
    argument("session", "The session.", target="id", required=False),
    SESSION._replace(target="id"),
)
"""How the commands of a session take its id."""
GROUP = option("group_id", "The task group.", "--group-id", "-g", metavar="ID")
BY = option("by", "Who does it: the id of a registered agent.", metavar="AGENT")
BY_MANAGER = BY._replace(help="Who does it: the id of a registered agent; else project_manager.")
"""The actor of what a project manager does."""
REASON = option("reason", "Why; kept in the record.", kind=TEXT)
REQUEST = option("request_id", "Makes the call safe to repeat: the same id answers the same.", metavar="ID")
HUMAN = option(
    "human_token_file", "A person's token, which proves that they act (- for stdin); else a terminal does.",
    kind=SECRET, metavar="FILE",
)
"""What commands take that only a person may do, or that a person may do as well."""
LIMIT = option("limit", "How many rows at most.", kind=INTEGER, metavar="N")
SINCE = option("since", "Only what comes after this step; an answer names the next one.", kind=INTEGER, metavar="SEQ")
AT = option("at_seq", "As it stood right after this step of the session.", "--at", kind=INTEGER, metavar="SEQ")
CHANGE = (BY, REASON, HUMAN, REQUEST)
"""What commands take that change something."""
PAGE = (LIMIT, SINCE)
"""What lists take."""
