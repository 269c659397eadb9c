"""The environment variables that each program's documentation names for its login, endpoint, proxy and certificates.

A program gets these besides the common ones, and none of the others, so that a new secret stays out by itself; `*` at
the end of a name stands for any ending.

Source: seed 001, Property 24; https://code.claude.com/docs/en/env-vars;
https://developers.openai.com/codex/environment-variables.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

ALLOWED = ("PATH", "HOME", "USER", "SHELL", "LANG", "TERM", "TMPDIR")
"""Variables that every program gets."""
ALLOWED_PREFIXES = ("LC_", "XDG_")
"""Beginnings of further ones."""

NETWORK = (
    "HTTPS_PROXY", "HTTP_PROXY", "ALL_PROXY", "NO_PROXY", "https_proxy", "http_proxy", "all_proxy", "no_proxy",
    "SSL_CERT_FILE", "SSL_CERT_DIR", "NODE_EXTRA_CA_CERTS",
)  # fmt: skip
"""The way out through a proxy, and whom to trust: what every program that asks a service needs."""

_AMAZON = ("AWS_*",)
_CLAUDE_CODE = (
    # Login.
    "CLAUDE_CONFIG_DIR", "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "CLAUDE_CODE_OAUTH_TOKEN",
    "CLAUDE_CODE_OAUTH_REFRESH_TOKEN", "CLAUDE_CODE_OAUTH_SCOPES", "ANTHROPIC_PROFILE", "ANTHROPIC_ORGANIZATION_ID",
    "ANTHROPIC_WORKSPACE_ID", "ANTHROPIC_SERVICE_ACCOUNT_ID", "ANTHROPIC_FEDERATION_RULE_ID",
    "ANTHROPIC_IDENTITY_TOKEN", "ANTHROPIC_IDENTITY_TOKEN_FILE", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
    # Endpoint and model.
    "ANTHROPIC_BASE_URL", "ANTHROPIC_CUSTOM_HEADERS", "ANTHROPIC_BETAS", "API_TIMEOUT_MS", "ANTHROPIC_MODEL",
    "ANTHROPIC_SMALL_FAST_MODEL", "ANTHROPIC_DEFAULT_OPUS_MODEL", "ANTHROPIC_DEFAULT_SONNET_MODEL",
    "ANTHROPIC_DEFAULT_HAIKU_MODEL", "ANTHROPIC_DEFAULT_FABLE_MODEL", "ANTHROPIC_CUSTOM_MODEL_OPTION",
    "CLAUDE_CODE_SUBAGENT_MODEL",
    # Amazon Bedrock.
    "CLAUDE_CODE_USE_BEDROCK", "CLAUDE_CODE_SKIP_BEDROCK_AUTH", "ANTHROPIC_BEDROCK_BASE_URL",
    "ANTHROPIC_BEDROCK_SERVICE_TIER", "ANTHROPIC_SMALL_FAST_MODEL_AWS_REGION", "CLAUDE_CODE_USE_MANTLE",
    "CLAUDE_CODE_SKIP_MANTLE_AUTH", "ANTHROPIC_BEDROCK_MANTLE_BASE_URL", "ANTHROPIC_BEDROCK_MANTLE_API_KEY",
    "CLAUDE_CODE_USE_ANTHROPIC_AWS", "CLAUDE_CODE_SKIP_ANTHROPIC_AWS_AUTH", "ANTHROPIC_AWS_API_KEY",
    "ANTHROPIC_AWS_BASE_URL", "ANTHROPIC_AWS_WORKSPACE_ID", *_AMAZON,
    # Google Cloud, as Vertex AI and as the service that Anthropic runs there.
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "CLAUDE_CODE_SKIP_ANTHROPIC_GOOGLE_CLOUD_AUTH",
    "ANTHROPIC_GOOGLE_CLOUD_*",
    "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_SKIP_VERTEX_AUTH", "ANTHROPIC_VERTEX_PROJECT_ID",
    "ANTHROPIC_VERTEX_BASE_URL", "CLOUD_ML_REGION", "VERTEX_REGION_*", "GOOGLE_APPLICATION_CREDENTIALS",
    "GOOGLE_CLOUD_PROJECT", "GCLOUD_PROJECT",
    # Microsoft Foundry.
    "CLAUDE_CODE_USE_FOUNDRY", "CLAUDE_CODE_SKIP_FOUNDRY_AUTH", "ANTHROPIC_FOUNDRY_RESOURCE",
    "ANTHROPIC_FOUNDRY_BASE_URL", "ANTHROPIC_FOUNDRY_API_KEY", "ANTHROPIC_FOUNDRY_AUTH_TOKEN",
    "AZURE_TENANT_ID", "AZURE_CLIENT_ID", "AZURE_CLIENT_SECRET", "AZURE_CLIENT_CERTIFICATE_PATH",
    "AZURE_CLIENT_CERTIFICATE_PASSWORD",
    "AZURE_FEDERATED_TOKEN_FILE", "AZURE_AUTHORITY_HOST",
    # Proxy and certificates.
    "CLAUDE_CODE_PROXY_RESOLVES_HOSTS", "CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_CLIENT_KEY",
    "CLAUDE_CODE_CLIENT_KEY_PASSPHRASE", "CLAUDE_CODE_CERT_STORE", *NETWORK,
)  # fmt: skip
_CODEX = (
    "CODEX_HOME", "CODEX_SQLITE_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL",
    "OPENAI_ORGANIZATION", "OPENAI_PROJECT", "OPENAI_FEDERATION_RULE_ID", "OPENAI_IDENTITY_TOKEN_FILE",
    "OPENAI_IDENTITY_TOKEN_SOURCE", "AZURE_OPENAI_API_KEY", "CODEX_OSS_BASE_URL", "CODEX_OSS_PORT",
    "CODEX_CA_CERTIFICATE", *_AMAZON, *NETWORK,
)  # fmt: skip
OF_PROGRAM: Mapping[str, tuple[str, ...]] = {
    "claude-code": _CLAUDE_CODE,
    "codex": _CODEX,
    "anthropic": ("ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL", *NETWORK),
    "openai": ("OPENAI_API_KEY", "OPENAI_BASE_URL", *NETWORK),
}
"""By executor, the names of what it gets of the environment besides the common variables."""

_HEADERS = "ANTHROPIC_CUSTOM_HEADERS"
_SECRET = ("KEY", "TOKEN", "SECRET", "PASSWORD", "CREDENTIALS")
_SECRET_HEADER = (*_SECRET, "AUTH", "COOKIE")
_SCHEME = re.compile(r"\A[\w-]+\s+")
_PERCENT = re.compile(rb"%([0-9A-Fa-f]{2})")
_NAMES = frozenset(name for names in OF_PROGRAM.values() for name in names if not name.endswith("*"))
_BEGINNINGS = tuple({name[:-1] for names in OF_PROGRAM.values() for name in names if name.endswith("*")})


def chosen(variables: Mapping[str, str], names: tuple[str, ...]) -> dict[str, str]:
    """Those variables that are named and not blank; a blank one is NOT SET."""
    beginnings = tuple(name[:-1] for name in names if name.endswith("*"))
    exact = frozenset(names)
    return {
        name: value for name, value in variables.items()
        if (name in exact or (beginnings and name.startswith(beginnings))) and value.strip()
    }  # fmt: skip


def is_secret(name: str) -> bool:
    """Whether a variable's name says that its value is a secret."""
    return any(word in name.upper() for word in _SECRET)


def secrets(variables: Mapping[str, str]) -> dict[str, str]:
    """What any program's variables hold that is masked wherever it occurs, by the variable's name and the part of it.

    The whole value where the name says so; of an address the password, of headers the values of those whose names say
    so, without the word for the kind of login before them.
    """
    found = {}
    for name, value in variables.items():
        if name in _NAMES or name.startswith(_BEGINNINGS):
            if is_secret(name):
                found[name] = value
            elif name == _HEADERS:
                found.update(_of_headers(value))
            elif "@" in value and ("://" in value or name.lower().endswith("_proxy")):
                found.update(_of_address(name, value))
    return found


def _of_headers(value: str) -> dict[str, str]:
    lines = [line.partition(":") for line in value.splitlines()]
    return {
        f"{_HEADERS}, {header.strip()},": _SCHEME.sub("", text.strip()) for header, _, text in lines
        if text.strip() and any(word in header.upper() for word in _SECRET_HEADER)
    }  # fmt: skip


def _of_address(name: str, value: str) -> dict[str, str]:
    """The password of an address, or the user where that is all it names; as it stands there and decoded."""
    login = (value.partition("://")[2] or value).partition("/")[0].rpartition("@")[0]
    user, _, password = login.partition(":")
    kept = password or user
    decoded = _PERCENT.sub(lambda found: bytes((int(found[1], 16),)), kept.encode("utf-8", "surrogateescape"))
    return {f"The login in {name}": kept, f"The decoded login in {name}": decoded.decode("utf-8", "replace")}


def told(program: str, variables: Mapping[str, str]) -> str:
    """Which of a program's variables are set, by their names alone."""
    found = sorted(chosen(variables, OF_PROGRAM[program]))
    return f"set for it: {', '.join(found)}" if found else "none of its variables is set"


def child(variables: Mapping[str, str], *, needs: tuple[str, ...] = ()) -> dict[str, str]:
    """Those variables that a program may see.

    Args:
        variables: all that there are.
        needs: names of what this program needs besides, such as its provider's key; blank ones are left out.

    Returns:
        A new mapping; a name that is not set is not in it.

    Source: seed 001, Property 24.
    """
    common = {
        name: value for name, value in variables.items() if name in ALLOWED or name.startswith(ALLOWED_PREFIXES)
    }  # fmt: skip
    return common | chosen(variables, needs)
