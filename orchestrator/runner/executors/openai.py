"""OpenAI's API, or one that speaks like it, as an executor, by way of its package `openai`; the extra installs it."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from orchestrator.runner.executors import api

PROVIDER: Final = api.Provider("openai", "OPENAI_API_KEY", "OPENAI_BASE_URL")


def make(variables: Mapping[str, str] | None = None, **settings: Any) -> api.Api:
    """The executor; settings are those of `api.Api`."""
    return api.Api(PROVIDER, variables, **settings)
