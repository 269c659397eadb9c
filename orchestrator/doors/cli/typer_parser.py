"""The same commands as a Typer application: help, completion, and the explanation of calls that are not right.

Only the called command is built with its parameters; the others are known by name, for the lists and the
suggestions.
"""

from __future__ import annotations

import contextlib
import inspect
import io
import sys
from collections.abc import Callable, Collection, Sequence
from typing import Annotated, Any

import typer
from typer._click import exceptions as click  # Typer's public exceptions do not carry the option that was meant

from orchestrator import errors
from orchestrator.core import names
from orchestrator.core.suggestions import suggest
from orchestrator.doors.cli import catalogue, fast_parser, output
from orchestrator.doors.cli.options import COMMON, FLAG, PAIRS, WORDS, Command, Parameter

PROGRAM = "orchestrator"
HELP = {"help_option_names": list(fast_parser.HELP)}
ABOUT = (
    "Decides who acts next in a team of software agents, records why, and never marks unfinished work as done.\n\n"
    "Example: orchestrator route developer READY_FOR_QA -s S1 -g A --json"
)


def read(commands: Sequence[Command], argv: list[str], *, completion: bool = False) -> tuple[str, dict[str, Any]] | int:
    """Let Typer read a call.

    Args:
        commands: those to build with their parameters.
        argv: the whole call.
        completion: whether the shell asks for completions.

    Returns:
        The command's words and its values by name, as the quick reader gives them; an exit code where Typer has
        answered itself (help).

    Raises:
        UsageError: USAGE, with what was probably meant. KeyboardInterrupt: as Python raises it.
    """
    called: list[tuple[str, dict[str, Any]]] = []
    declared = {command.words: command for command in commands}
    groups = None if completion else argv
    app = build(declared, lambda words, values: called.append((words, values)), completion=completion, groups=groups)
    help_text = io.StringIO()
    try:
        with contextlib.nullcontext() if completion else contextlib.redirect_stdout(help_text):
            code = typer.main.get_command(app)(args=argv, prog_name=PROGRAM, standalone_mode=completion)
    except click.UsageError as problem:
        raise _usage(problem, argv, commands) from None
    if code == errors.EXIT_INTERRUPTED:
        # Typer turns an interrupt into a code, and says nothing of it.
        raise KeyboardInterrupt
    if called:
        return called[0]
    if help_text.getvalue():
        output.write(output.text(help_text.getvalue(), sys.stdout))
    return code if isinstance(code, int) else 0


def build(
    commands: dict[str, Command], call: Callable[[str, dict[str, Any]], None], *, completion: bool = False,
    groups: Collection[str] | None = None,
) -> typer.Typer:  # fmt: skip
    """The application: groups and commands of the catalogue, those given with their parameters.

    Args:
        groups: the groups whose commands are asked for (default: all), since each has to be loaded.
    """
    root = _app(ABOUT, completion=completion)
    root.callback()(_version_option)
    made: dict[str, typer.Typer] = {}
    for words in catalogue.every_words():
        group, _, name = words.rpartition(" ")
        app = root
        if group:
            if group not in made:
                made[group] = _app(catalogue.GROUPS[group])
                root.add_typer(made[group], name=group)
            if groups is not None and group not in groups:
                continue
            app = made[group]
        declared = catalogue.find(words)
        command = commands.get(words)
        if command:
            text = f"{command.help}\n\nExample: {command.example}"
            register = app.command(name or words, help=text, short_help=declared.line, context_settings=HELP)
            register(_callback(command, call))
        else:
            app.command(name or words, help=declared.line)(_nothing)
    return root


def _app(text: str, *, completion: bool = False) -> typer.Typer:
    return typer.Typer(
        help=text,
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=completion,
        no_args_is_help=True,
        context_settings=HELP,
    )


def _version_option(
    version: Annotated[bool, typer.Option("--version", help="Print the version and exit.")] = False,
) -> None:
    pass


def _nothing() -> None:
    pass


def _callback(command: Command, call: Callable[[str, dict[str, Any]], None]) -> Callable[..., None]:
    """A function whose signature says to Typer what the command's declaration says."""
    parameters = (*command.parameters, *COMMON)

    def callback(**values: Any) -> None:
        call(command.words, {name: value for name, value in values.items() if value not in (None, False, [], ())})

    signature = [
        inspect.Parameter(
            each.name, inspect.Parameter.KEYWORD_ONLY, annotation=_annotation(each), default=_default(each)
        )
        for each in parameters
    ]
    callback.__signature__ = inspect.Signature(signature)  # type: ignore[attr-defined]  # what inspect looks for first
    callback.__annotations__ = {each.name: _annotation(each) for each in parameters}
    return callback


def _annotation(parameter: Parameter) -> Any:
    if parameter.kind == FLAG:
        return bool
    if parameter.kind in (WORDS, PAIRS):
        return list[str] if parameter.required else list[str] | None
    return str if parameter.required else str | None


def _default(parameter: Parameter) -> Any:
    metavar = parameter.metavar or None
    if parameter.choices:
        metavar = f"[{'|'.join(parameter.choices)}]"
    elif parameter.kind == "integer":
        metavar = metavar or "N"
    shown: dict[str, Any] = {"help": parameter.help, "metavar": metavar, "show_default": False}
    if parameter.choices:
        shown["autocompletion"] = _completing(parameter.choices)
    if parameter.flags:
        default: Any = ... if parameter.required else False if parameter.kind == FLAG else None
        return typer.Option(default, *parameter.flags, **shown)
    default = ... if parameter.required else None
    return typer.Argument(default, **shown)


def _completing(choices: Sequence[str]) -> Callable[[str], list[str]]:
    """What a shell may offer for the beginning of a value that is one of some choices."""
    return lambda incomplete: [choice for choice in choices if choice.startswith(incomplete)]


def _usage(problem: click.UsageError, argv: list[str], commands: Sequence[Command]) -> errors.UsageError:
    # An option without its value is found before it is known of which command.
    known = f"{PROGRAM} {commands[0].words}" if len(commands) == 1 else PROGRAM
    called = (problem.ctx.command_path if problem.ctx else known).removeprefix(PROGRAM).strip()
    help_ = suggest(called, help=True)
    if isinstance(problem, click.NoArgsIsHelpError):
        return errors.UsageError("USAGE", "No command given.", help_)
    message = problem.format_message().rstrip(".")
    near = _meant(problem, called, argv)
    if near:
        words = message.partition(". Did you mean")[0].partition(" (Possible")[0]
        return errors.UsageError("USAGE", f"{words}; did you mean {near}?", help_, did_you_mean=near)
    return errors.UsageError("USAGE", f"{message}.", help_)


def _meant(problem: click.UsageError, words: str, argv: list[str]) -> str | None:
    if isinstance(problem, click.NoSuchOption) and problem.ctx is not None:
        known = [flag for each in problem.ctx.command.params for flag in each.opts]
        return names.nearest(problem.option_name, known)
    if problem.message.startswith("No such command"):
        wanted = next((word for word in argv[len(words.split()) :] if not word.startswith("-")), "")
        return names.nearest(wanted, catalogue.below(words))
    return None
