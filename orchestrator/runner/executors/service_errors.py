"""What a coding client says when its service or its login fails: which kind of failure that is, and what helps.

Clients tell most of these apart in words alone.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from orchestrator.core.running import program_variables, providers
from orchestrator.hints import Final
from orchestrator.runner import port, process
from orchestrator.runner.executors import failures

_OF_STATUS: Final = {
    400: "REQUEST_INVALID",
    401: "AUTHENTICATION",
    403: "AUTHENTICATION",
    404: "MODEL_UNKNOWN",
    408: "API_TIMEOUT",
    413: "REQUEST_INVALID",
    429: "RATE_LIMIT",
}
_WORDS: Final = tuple(
    (re.compile(pattern, re.IGNORECASE), kind)
    for pattern, kind in (
        (r"/login|not logged in|oauth token|codex login|log in again", "NOT_LOGGED_IN"),
        (
            r"could not load (?:the default )?credentials|could not refresh access token|invalid_grant|AADSTS\d|"
            r"security token included in the request|Expired_?Token|UnrecognizedClient|CredentialsProviderError|"
            r"aws sso login|gcloud auth|az login|(?:Azure|Token)\w*Credential",
            "CLOUD_LOGIN",
        ),
        (r"missing environment variable", "KEY_NOT_SET"),
        (r"credit balance|insufficient_quota|exceeded your current quota", "CREDIT"),
        (
            r"(?:invalid|incorrect) (?:x-)?api[- ]key|invalid bearer token|failed to authenticate|401 unauthorized|"
            r"status 401",
            "AUTHENTICATION",
        ),
        (r"hit your .{0,40}limit|usage limit|limit reached", "USAGE_LIMIT"),
        (r"429 too many|status 429", "RATE_LIMIT"),
        (
            r"model .{0,80}(?:does not exist|is not supported|not found)|selected model|access to the model",
            "MODEL_UNKNOWN",
        ),
        (r"timed out", "API_TIMEOUT"),
        (
            r"connection (?:error|failed|refused)|unable to connect|stream disconnected|lookup address|fetch failed|"
            r"ENOTFOUND|EAI_AGAIN|ECONN[A-Z]+|proxy response|(?:self[- ]signed|local issuer|first) certificate|"
            r"certificate (?:has expired|verify failed)",
            "CONNECTION",
        ),
    )
)
_NAMED_STATUS: Final = re.compile(r"API Error: (\d{3})\b")
_LOGIN: Final = {
    providers.CLAUDE_CODE: "run `claude` and log in, or: export ANTHROPIC_API_KEY=KEY",
    providers.CODEX: "run: codex login, or: export CODEX_API_KEY=KEY",
}
_HELP: Final = {
    "NOT_LOGGED_IN": "{login}",
    "KEY_NOT_SET": "{login}",
    "CLOUD_LOGIN": "log in to the cloud again: aws sso login, gcloud auth application-default login, or az login",
    "AUTHENTICATION": "check the key or token",
    "CREDIT": "add credit, or log in with another account",
    "USAGE_LIMIT": "enter the task again after the reset",
    "RATE_LIMIT": "wait a moment, then enter the task again",
    "MODEL_UNKNOWN": "choose another one with --model NAME",
    "CONNECTION": "check the network, the endpoint and the proxy",
}
_ABOUT_VARIABLES: Final = ("NOT_LOGGED_IN", "KEY_NOT_SET", "CLOUD_LOGIN", "AUTHENTICATION", "CONNECTION")


def kind(text: str, status: object = None) -> str:
    """The kind of a failure.

    Args:
        text: what the client says.
        status: the HTTP status that it names, if it names one beside its words.
    """
    by_words = next((kind for pattern, kind in _WORDS if pattern.search(text)), None)
    if by_words is not None:
        return by_words
    if not isinstance(status, int):
        named = _NAMED_STATUS.search(text)
        status = int(named[1]) if named else 0
    return _OF_STATUS.get(status, "SERVICE" if status >= 500 else "REPORTED_ERROR")


def of_status(task: port.ExecutorTask, ended: process.Ended) -> port.ExecutorResult:
    """The result of a client that ended with a status other than 0 and printed no result: by its last words."""
    said = failures.last_words(ended)
    found = kind(said)
    failure = failures.of_status(task, ended)
    if found == "REPORTED_ERROR":
        return failure
    return failure._replace(error=f"{found}: {failures.shortened(said)}", cause=failures.KINDS[found])


def explained(result: port.ExecutorResult, program: str, variables: Mapping[str, str]) -> port.ExecutorResult:
    """The result with what helps behind its error, and with the names of the variables that the program got."""
    found = (result.error or "").partition(":")[0]
    if result.status != failures.ERROR or found not in _HELP:
        return result
    help_ = _HELP[found].format(login=_LOGIN[program])
    if found in _ABOUT_VARIABLES:
        help_ = f"{help_}; {program_variables.told(program, variables)}"
    return result._replace(error=f"{result.error} ({help_})")
