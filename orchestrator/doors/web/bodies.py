"""What programs send and get, where no answer of an operation says it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, create_model

from orchestrator.app.kernel.requests import REQUIRED, Parameter


class Body(BaseModel):
    """Something sent: what is not known is refused, and nothing is made of another type."""

    model_config = ConfigDict(extra="forbid", strict=True)


class Failure(BaseModel):
    """Why something was not done."""

    error: str
    message: str


class Health(BaseModel):
    """The store can be written."""

    status: Literal["ok"]


def failures(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The failures that an endpoint documents."""
    return {status: {"model": Failure} for status in statuses}


def made(name: str, help: str, parameters: Mapping[str, Parameter]) -> type[Body]:
    """The body that has these parameters.

    Args:
        name: how the description calls it.
        help: what is asked for by it.
        parameters: by the names that they have in the body.
    """
    fields: dict[str, Any] = {key: (_type(each), _default(each)) for key, each in parameters.items()}
    return create_model(name, __base__=Body, __doc__=help, **fields)


def _type(parameter: Parameter) -> Any:
    field, (kind,) = parameter.field, parameter.kinds
    least, most = field.span or (None, None)
    fits = Field(min_length=least or None, max_length=most, description=field.help)
    found: Any = Literal[field.choices] if field.choices else kind
    return Annotated[found | None if parameter.nullable else found, fits]


def _default(parameter: Parameter) -> Any:
    return ... if parameter.default is REQUIRED else parameter.default
