"""What clients say when a login, a key, a network or a service fails has one kind each."""

from __future__ import annotations

import pytest

from orchestrator.runner.executors import failures, service_errors

SAID = {
    "CLOUD_LOGIN": (
        "Could not load credentials from any providers", "The security token included in the request is invalid.",
        "ExpiredTokenException: the token is expired", "UnrecognizedClientException",
        "CredentialsProviderError: Token is expired. To refresh this SSO session run 'aws sso login'",
        "Could not load the default credentials.", "Could not refresh access token: invalid_grant",
        "ChainedTokenCredential authentication failed", "AADSTS7000215: Invalid client secret provided",
    ),
    "AUTHENTICATION": (
        "Invalid bearer token", "invalid x-api-key", "Failed to authenticate. API Error: 400",
        'API Error: 401 {"type":"error"}', "API Error: 403 {}",
    ),
    "RATE_LIMIT": ("API Error: 429 rate_limit_error",),
    "SERVICE": ("API Error: 529 overloaded", "API Error: 500 Internal server error"),
    "CONNECTION": (
        "API Error: Connection error.", "getaddrinfo ENOTFOUND gateway.example", "connect ECONNREFUSED 127.0.0.1:1",
        "fetch failed", "self-signed certificate in certificate chain", "unable to get local issuer certificate",
        "unable to verify the first certificate", "certificate has expired",
        "Proxy response (407) !== 200 when HTTP Tunneling",
    ),
    "MODEL_UNKNOWN": ("You don't have access to the model with the specified model ID.",),
    "REPORTED_ERROR": ("I could not do it", "API Error: 200", "API Error: 4011", "wrote certificate.md", ""),
}  # fmt: skip


@pytest.mark.parametrize(("kind", "text"), [(kind, text) for kind, texts in SAID.items() for text in texts])
def test_words_tell_the_kind_of_a_failure(kind: str, text: str) -> None:
    assert (service_errors.kind(text), kind in failures.KINDS) == (kind, True)
