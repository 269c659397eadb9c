"""P24: a program gets the variables that its documentation names, and none of the others."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from orchestrator.core.running import program_variables

NETWORK = {"http_proxy", "HTTPS_PROXY", "no_proxy", "NODE_EXTRA_CA_CERTS", "SSL_CERT_FILE"}
CLAUDE = {
    "ANTHROPIC_API_KEY", "ANTHROPIC_AUTH_TOKEN", "ANTHROPIC_BASE_URL", "ANTHROPIC_MODEL", "CLAUDE_CODE_USE_BEDROCK",
    "CLAUDE_CODE_USE_VERTEX", "CLAUDE_CODE_USE_FOUNDRY", "AWS_PROFILE", "AWS_REGION", "AWS_BEARER_TOKEN_BEDROCK",
    "GOOGLE_APPLICATION_CREDENTIALS", "CLOUD_ML_REGION", "VERTEX_REGION_CLAUDE_4_5_SONNET", "CLAUDE_CONFIG_DIR",
    "ANTHROPIC_FOUNDRY_API_KEY", "CLAUDE_CODE_CLIENT_CERT", "CLAUDE_CODE_OAUTH_TOKEN", "ANTHROPIC_FOUNDRY_AUTH_TOKEN",
    "CLAUDE_CODE_USE_ANTHROPIC_GOOGLE_CLOUD", "ANTHROPIC_GOOGLE_CLOUD_PROJECT", "CLAUDE_CODE_API_KEY_HELPER_TTL_MS",
}  # fmt: skip
CODEX = {"CODEX_HOME", "CODEX_API_KEY", "CODEX_ACCESS_TOKEN", "OPENAI_API_KEY", "OPENAI_BASE_URL", "AWS_REGION"}
OTHERS = {"GITHUB_TOKEN", "DATABASE_PASSWORD", "NPM_TOKEN", "AWSOME", "ANTHROPIC_API_KEY_OF_MY_FRIEND", "PYTHONPATH"}


@pytest.mark.parametrize(
    ("program", "wanted", "kept"),
    [
        ("claude-code", CLAUDE, {"OPENAI_API_KEY", "CODEX_API_KEY"}),
        ("codex", CODEX, {"ANTHROPIC_API_KEY", "GOOGLE_APPLICATION_CREDENTIALS"}),
        ("anthropic", {"ANTHROPIC_API_KEY", "ANTHROPIC_BASE_URL"}, {"OPENAI_API_KEY", "AWS_REGION"}),
        ("openai", {"OPENAI_API_KEY", "OPENAI_BASE_URL"}, {"ANTHROPIC_API_KEY", "AWS_REGION"}),
    ],
)
def test_P24_each_program_gets_its_own_variables_and_no_others(program: str, wanted: set[str], kept: set[str]) -> None:
    given = dict.fromkeys((*wanted, *kept, *OTHERS, *NETWORK), "some-value")
    found = program_variables.child(given, needs=program_variables.OF_PROGRAM[program])
    assert found.keys() == wanted | NETWORK


@given(st.sampled_from([*program_variables.OF_PROGRAM]), st.text(alphabet="ABC_KEYXDG", max_size=12))
def test_P24_a_variable_that_no_table_names_is_never_passed_on(program: str, name: str) -> None:
    found = program_variables.child({name: "value-1234"}, needs=program_variables.OF_PROGRAM[program])
    assert not found or name.startswith(program_variables.ALLOWED_PREFIXES) or name in program_variables.ALLOWED


@pytest.mark.parametrize("blank", ["", " ", "\t\n"])
def test_P24_a_blank_variable_is_not_set(blank: str) -> None:
    given = {"ANTHROPIC_API_KEY": blank, "http_proxy": blank}
    assert program_variables.child(given, needs=program_variables.OF_PROGRAM["claude-code"]) == {}
    assert program_variables.told("claude-code", given) == "none of its variables is set"


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("ANTHROPIC_AUTH_TOKEN", True), ("AWS_SECRET_ACCESS_KEY", True), ("AZURE_CLIENT_SECRET", True),
        ("AZURE_CLIENT_CERTIFICATE_PASSWORD", True), ("GOOGLE_APPLICATION_CREDENTIALS", True), ("CODEX_API_KEY", True),
        ("ANTHROPIC_BASE_URL", False), ("AWS_REGION", False), ("https_proxy", False),
    ],
)  # fmt: skip
def test_P24_what_a_name_calls_a_secret_is_masked(name: str, expected: bool) -> None:
    assert program_variables.secrets({name: "some-value", "GITHUB_TOKEN": "other"}) == (
        {name: "some-value"} if expected else {}
    )


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("ANTHROPIC_CUSTOM_HEADERS", "X-Team: blue-team\nX-Gateway-Auth: gate-1234\nAuthorization: Bearer bear-1234",
         {"gate-1234", "bear-1234"}),
        ("ANTHROPIC_CUSTOM_HEADERS", "Cookie: sid=1234; more=5678\nApi-Key:\nno header", {"sid=1234; more=5678"}),
        ("ANTHROPIC_CUSTOM_HEADERS", "x-api-key:tight-1234", {"tight-1234"}),
        ("ANTHROPIC_BASE_URL", "https://user:p%40ss@w:1@gate.example/v1", {"p%40ss@w:1", "p@ss@w:1"}),
        ("ANTHROPIC_BASE_URL", "https://token-1234@gate.example", {"token-1234"}),
        ("ANTHROPIC_BASE_URL", "https://user:@gate.example", {"user"}),
        ("ANTHROPIC_BASE_URL", "https://gate.example/a:b@c", set()), ("ANTHROPIC_MODEL", "a-model@20250514", set()),
        ("https_proxy", "bob:pass-1234@proxy:3128", {"pass-1234"}), ("NO_PROXY", "localhost,10.0.0.0/8", set()),
        ("SOME_URL", "https://user:pass-1234@h", set()),
    ],
)  # fmt: skip
def test_P24_the_secret_part_of_a_value_is_masked(name: str, value: str, expected: set[str]) -> None:
    assert set(program_variables.secrets({name: value}).values()) - {""} == expected


def test_P24_what_is_set_is_told_by_names_alone() -> None:
    given = {"ANTHROPIC_API_KEY": "the-value-of-it", "AWS_REGION": "eu-west-1", "OTHER": "x"}
    assert program_variables.told("claude-code", given) == "set for it: ANTHROPIC_API_KEY, AWS_REGION"
