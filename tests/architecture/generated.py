"""What is made of the declarations and kept as files: `./task generate` writes it.

The stub of the Python interface's methods, the reference of all commands, the tables in the agent files, and the SQL
that the store's declarations are rendered to.
"""

from __future__ import annotations

import functools
import inspect
import json
import pathlib
import textwrap

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.requests import Request
from orchestrator.core import agents_render
from orchestrator.core.workflow import model
from orchestrator.doors.cli import catalogue, options
from orchestrator.doors.cli.options import Command, Parameter
from orchestrator.doors.python import methods
from orchestrator.store import schema_rendering, schema_script

_STUB = """from typing import Any

from orchestrator.app.answers import {modules}
from orchestrator.doors.python.call import Caller

class Methods(Caller):
    \"\"\"A method for every operation.\"\"\"
"""
_REFERENCE = """# Commands

Every command with its arguments and options, generated from the declarations. All take `--json`, `--db FILE`,
`--utc`, `--color WHEN`, `--debug` and `--allow-superuser`. `orchestrator schema COMMAND` prints the JSON Schema of an
answer. In a batch and over Python parameters have the names of their options, with underscores.
"""


def stub() -> str:
    """The stub of the methods."""
    every = [*operations.every().values()]
    modules = sorted({name.partition(".")[0] for each in every for name in each.answer})
    return _STUB.format(modules=", ".join(modules)) + "".join(map(_method, every))


def _method(request: type[Request]) -> str:
    signature = methods.signature(request)
    shown: list[str] = []
    for each in signature.parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and "*" not in shown:
            shown.append("*")
        annotation = "" if each.name == "self" else f": {each.annotation}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        shown.append(f"{each.name}{annotation}{default}")
    lines = "".join(f"        {each},\n" for each in shown)
    head = f"\n    def {methods.name(request.words)}(\n{lines}    ) -> {signature.return_annotation}:\n"
    text = "\n        ".join(textwrap.wrap(request.help(), 100, break_long_words=False, break_on_hyphens=False))
    return f'{head}        """{text}"""\n'


def _default(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


def reference() -> str:
    """The reference of all commands."""
    return _REFERENCE + "".join(map(_section, catalogue.every().values()))


def _section(command: Command) -> str:
    rows = "".join(map(_row, command.parameters))
    table = f"\n| | | |\n| --- | --- | --- |\n{rows}" if rows else ""
    return f"\n## {command.words}\n\n{command.help}\n\n```\n{command.example}\n```\n{table}"


def _row(parameter: Parameter) -> str:
    value = "" if parameter.kind == options.FLAG or not parameter.flags else f" {_value(parameter)}"
    name = ", ".join(f"`{each}{value}`" for each in parameter.flags) or f"`{parameter.metavar}`"
    needed = "required" if parameter.required else ""
    return f"| {name} | {needed} | {parameter.help} |\n".replace(" |  | ", " | | ")


def _value(parameter: Parameter) -> str:
    return "\\|".join(parameter.choices) or parameter.metavar or parameter.name.upper()


@functools.cache
def _workflow() -> model.Workflow:
    return model.parse(json.loads((ROOT / "workflow" / "transitions.json").read_text("utf-8")))


def agent_file(path: pathlib.Path) -> str:
    """An agent file with its tables as the shipped workflow makes them; the rest is its author's."""
    return agents_render.render(path.read_text("utf-8"), _workflow())


ROOT = pathlib.Path(__file__).parents[2]
_STORE = pathlib.Path(schema_rendering.__file__).parent
FILES = {
    pathlib.Path(methods.__file__).with_suffix(".pyi"): stub,
    ROOT / "docs" / "commands.md": reference,
    **{
        path: functools.partial(agent_file, path)
        for folder in ("agents", "agents/templates")
        for path in sorted((ROOT / folder).glob("*.md"))
    },
    schema_script.FILE: schema_rendering.sqlite,
    schema_script.POSTGRESQL_FILE: schema_rendering.postgresql,
    _STORE / "task_conditions.py": schema_rendering.task_conditions,
    _STORE / "path_statements.py": schema_rendering.path_statements,
}


if __name__ == "__main__":
    for path, text in FILES.items():
        path.parent.mkdir(exist_ok=True)
        path.write_text(text(), encoding="utf-8")
