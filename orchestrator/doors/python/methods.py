"""The methods of the Python interface, one for each operation, made of the declarations.

What type checkers and editors see of them stands in `methods.pyi`, which is made of the same declarations.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable

from orchestrator.app.kernel import operations
from orchestrator.app.kernel.requests import REQUIRED, Parameter, Request
from orchestrator.doors.python.call import Answer, Caller
from orchestrator.hints import Any


def name(words: str) -> str:
    """The name of the method for an operation."""
    return words.replace(" ", "_").replace("-", "_")


def signature(request: type[Request]) -> inspect.Signature:
    """The signature of the method for an operation: what stands in a place or must be given comes first."""
    declared = [_parameter(each) for each in request.parameters().values()]
    needed = [each.name for each in declared if each.default is each.empty]
    placed = [each.name for each in request.parameters().values() if _has_place(each)]
    leading = [*dict.fromkeys((*placed, *needed))] if set(placed) <= set(needed) else placed
    leading = leading or [each.name for each in declared[:1]]
    last = max((place for place, each in enumerate(leading) if each in needed), default=-1)
    by_name = {each.name: each for each in declared}
    found = [inspect.Parameter("self", inspect.Parameter.POSITIONAL_OR_KEYWORD)]
    for place, each in enumerate(leading):
        # Nothing that may be left out stands before what must be given.
        default = by_name[each].empty if place < last else by_name[each].default
        found.append(by_name[each].replace(kind=inspect.Parameter.POSITIONAL_OR_KEYWORD, default=default))
    found += [each for each in declared if each.name not in leading]
    answer = "Answer" if not request.answer else " | ".join(request.answer)
    return inspect.Signature(found, return_annotation=answer)


def _has_place(parameter: Parameter) -> bool:
    """Whether the command line takes it in a place."""
    return bool(parameter.field.places) or (not parameter.field.flags and parameter.field.is_shown)


def _parameter(parameter: Parameter) -> inspect.Parameter:
    # The only open session is meant where none is named.
    is_found = parameter.field.is_found
    default = None if is_found else inspect.Parameter.empty if parameter.default is REQUIRED else parameter.default
    annotation = parameter.annotation + (" | None" if is_found and not parameter.nullable else "")
    return inspect.Parameter(parameter.name, inspect.Parameter.KEYWORD_ONLY, default=default, annotation=annotation)


def _method(request: type[Request]) -> Callable[..., Answer]:
    words, declared = request.words, signature(request)

    def method(self: Caller, *places: Any, **named: Any) -> Answer:
        given = declared.bind(self, *places, **named).arguments
        return self._call(words, **{name: value for name, value in given.items() if name != "self"})

    method.__name__ = name(words)
    method.__qualname__ = f"Methods.{method.__name__}"
    method.__doc__ = f"{request.help()}\n\nAs `orchestrator {words}`."
    method.__signature__ = declared  # type: ignore[attr-defined]  # what inspect looks for first
    return method


class Methods(Caller):
    """A method for every operation."""


for _request in operations.every().values():
    setattr(Methods, name(_request.words), _method(_request))
