"""Frozen values with named fields, made without compiling anything for a class that is seldom used.

`typing.NamedTuple` compiles each annotation that is text, which every annotation here is, and `collections.namedtuple`
a constructor for each class; both cost a cold command more than reading the database. Type checkers see
`typing.NamedTuple` itself.
"""

from __future__ import annotations

import collections

from orchestrator.hints import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import NamedTuple as NamedTuple
else:
    _new = tuple.__new__
    _OFTEN = 8
    """So often values of a class are made by name before it is worth compiling a constructor for it."""

    class _Values(tuple):
        """What all frozen values can do; each class adds its fields and its constructor."""

        __slots__ = ()
        _fields: tuple[str, ...] = ()
        _field_defaults: Mapping[str, Any] = {}

        @classmethod
        def _make(cls, values: Iterable[Any]) -> Any:
            """The value of these fields, in their order."""
            return cls(*values)

        def _replace(self, /, **named: Any) -> Any:
            """The value with other fields."""
            values, place = list(self), self._fields.index
            try:
                for name, value in named.items():
                    values[place(name)] = value
            except ValueError:
                raise ValueError(f"{type(self).__name__} has no {name}") from None
            return _new(type(self), values)

        def _asdict(self) -> dict[str, Any]:
            """The fields by their names."""
            return dict(zip(self._fields, self, strict=True))

        def __repr__(self) -> str:
            listed = ", ".join(f"{name}={value!r}" for name, value in zip(self._fields, self, strict=True))
            return f"{type(self).__name__}({listed})"

        def __getnewargs__(self) -> tuple[Any, ...]:
            return tuple(self)

    def _filled(
        cls: type, fields: tuple[str, ...], values: tuple[Any, ...], named: dict[str, Any], defaults: Mapping[str, Any]
    ) -> tuple[Any, ...]:
        given = {**dict(zip(fields, values, strict=False)), **named}
        found = {**defaults, **given}
        missing, unknown = [name for name in fields if name not in found], sorted(found.keys() - fields)
        if missing or unknown or len(given) != len(values) + len(named):
            what = f"missing: {missing}, unknown: {unknown}, or one twice"
            raise TypeError(f"{cls.__name__} has the fields {', '.join(fields)}; {what}")
        return tuple(map(found.__getitem__, fields))

    def _constructor(fields: tuple[str, ...], defaults: Mapping[str, Any]) -> Any:
        size, calls = len(fields), 0

        def __new__(cls: Any, *values: Any, **named: Any) -> Any:
            nonlocal calls
            if len(values) == size and not named:
                return _new(cls, values)
            calls += 1
            if calls == _OFTEN:
                compiled = collections.namedtuple(cls.__name__, fields, defaults=defaults.values())
                cls.__new__ = staticmethod(compiled.__new__)
            return _new(cls, _filled(cls, fields, values, named, defaults))

        return __new__

    class _Maker(type):
        """Makes a frozen value of what stands in the body of a class."""

        def __new__(cls, name: str, bases: tuple[type, ...], body: dict[str, Any]) -> type:
            if not bases:
                return super().__new__(cls, name, bases, body)
            fields = tuple(body.get("__annotations__", ()))
            defaults = {field: body[field] for field in fields if field in body}
            made = {
                **body,
                "__slots__": (),
                "__match_args__": fields,
                "_fields": fields,
                "_field_defaults": defaults,
                "__new__": _constructor(fields, defaults),
            }
            for place, field in enumerate(fields):
                made[field] = collections._tuplegetter(place, None)
            return type(name, (_Values,), made)

    class NamedTuple(metaclass=_Maker):
        """What a frozen value is declared by: fields with annotations, defaults, properties and methods."""
