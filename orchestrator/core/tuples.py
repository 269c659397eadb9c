"""Frozen values with named fields, made without a look at their annotations.

`typing.NamedTuple` compiles each annotation that is text, which every annotation here is; that costs a cold command
more than reading the database. Type checkers see `typing.NamedTuple` itself.
"""

from __future__ import annotations

import collections

from orchestrator.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from typing import NamedTuple as NamedTuple
else:
    _OWN = ("__module__", "__annotations__", "__classcell__")

    class _Maker(type):
        """Makes a named tuple of what stands in the body of a class."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = body.get("__annotations__", {})
            defaults = [body[field] for field in fields if field in body]
            made = collections.namedtuple(name, fields, defaults=defaults, module=body["__module__"])
            made.__annotations__ = fields
            for member, value in body.items():
                if member not in _OWN and member not in fields:
                    setattr(made, member, value)
            return made

    class NamedTuple(metaclass=_Maker):
        """What a frozen value is declared by: fields with annotations, defaults, properties and methods."""
