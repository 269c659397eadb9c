"""The stub of the Python interface's methods, made of the declarations.

`python -m tests.architecture.stub` writes it.
"""

from __future__ import annotations

import inspect
import pathlib
import textwrap

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.requests import Request
from orchestrator.doors.python import methods

FILE = pathlib.Path(methods.__file__).with_suffix(".pyi")
_HEAD = """from typing import Any

from orchestrator.app.answers import {modules}
from orchestrator.doors.python.calling import Caller

class Methods(Caller):
    \"\"\"A method for every operation.\"\"\"
"""


def text() -> str:
    """The whole stub."""
    every = [*operations.every().values()]
    modules = sorted({name.partition(".")[0] for each in every for name in each.answer})
    return _HEAD.format(modules=", ".join(modules)) + "".join(map(_method, every))


def _method(request: type[Request]) -> str:
    signature = methods.signature(request)
    shown: list[str] = []
    named = False
    for each in signature.parameters.values():
        if each.kind is inspect.Parameter.KEYWORD_ONLY and not named:
            shown.append("*")
            named = True
        annotation = "" if each.name == "self" else f": {each.annotation}"
        default = "" if each.default is each.empty else f" = {_default(each.default)}"
        shown.append(f"{each.name}{annotation}{default}")
    lines = "".join(f"        {each},\n" for each in shown)
    head = f"\n    def {methods.name(request.words)}(\n{lines}    ) -> {signature.return_annotation}:\n"
    help = "\n        ".join(textwrap.wrap(request.help(), 100, break_long_words=False, break_on_hyphens=False))
    return f'{head}        """{help}"""\n'


def _default(value: object) -> str:
    return f'"{value}"' if isinstance(value, str) else repr(value)


if __name__ == "__main__":
    FILE.write_text(text(), encoding="utf-8")
