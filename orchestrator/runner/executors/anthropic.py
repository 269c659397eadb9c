"""Anthropic's API as an executor, by way of its package `anthropic`; the extra `anthropic` installs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestrator.runner.executors import api

PROVIDER: Final = api.Provider("anthropic", "ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL")


def make(variables: Mapping[str, str] | None = None, **settings: Any) -> api.Api:
    """The executor; settings are those of `api.Api`."""
    return api.Api(PROVIDER, variables, **settings)
