"""The providers' APIs as executors: every kind of failure has its name, and the key stays where it belongs.

With the real packages where they are installed, against an API on the loopback.
"""

from __future__ import annotations

import json
import pathlib
import socket
from collections.abc import Iterator
from typing import Any

import pytest

from orchestrator import resources
from orchestrator.runner.executors import api
from tests.contract.executors import kits, making

BOTH = pytest.mark.parametrize("of", [api.ANTHROPIC, api.OPENAI], ids=lambda of: of.name)


@pytest.fixture
def provider() -> Iterator[making.Provider]:
    """Both providers' APIs on the loopback."""
    running = making.Provider()
    yield running
    running.close()


def ask(of: api.Provider, folder: pathlib.Path, url: str | None, model: str | None = "good", **settings: Any) -> Any:
    if not api.is_installed(of.name):
        pytest.skip(f"the Python package {of.name} is not installed")
    executor = api.Api(of, kits.surroundings(), base_url=url, **settings)
    return executor.execute(making.task(folder, model=model))


@BOTH
def test_one_message_goes_out_and_one_text_comes_back(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    result = ask(of, tmp_path, provider.url(of.name))
    assert (result.status, result.output, result.session_id) == ("COMPLETE", "It answers.", making.SESSION)
    (request,) = provider.requests
    assert request["body"]["messages"] == [{"role": "user", "content": "What is this project?"}]
    assert request["body"]["model"] == "good"
    assert making.KEY in request["headers"].get("x-api-key", "") + request["headers"].get("authorization", "")
    assert sorted(result.usage.values()) in ([5, 7], [5, 7, 12])
    assert result.tool_calls == 0


@pytest.mark.usefixtures("sdks_loaded")
@BOTH
@pytest.mark.parametrize(
    ("model", "kind", "cause"),
    [
        ("refuse-400", "REQUEST_INVALID", "invalid_specification"),
        ("refuse-400-credit", "CREDIT", "external"),
        ("refuse-401", "AUTHENTICATION", "external"),
        ("refuse-403", "AUTHENTICATION", "external"),
        ("refuse-404", "MODEL_UNKNOWN", "invalid_specification"),
        ("refuse-408", "API_TIMEOUT", "timeout"),
        ("refuse-429", "RATE_LIMIT", "mcp_transient"),
        ("refuse-429-quota", "CREDIT", "external"),
        ("refuse-500", "SERVICE", "mcp_transient"),
        ("refuse-529", "SERVICE", "mcp_transient"),
        ("overloaded", "SERVICE", "mcp_transient"),
        ("drop", "CONNECTION", "mcp_transient"),
        ("decline", "ANSWER_REFUSED", None),
    ],
)
def test_P24_each_failure_of_the_api_has_its_kind(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider, model: str, kind: str, cause: str | None
) -> None:
    result = ask(of, tmp_path, provider.url(of.name), model)
    assert (result.status, (result.error or "").partition(":")[0], result.cause) == ("ERROR", kind, cause)
    assert (result.session_id, result.exit_code) == (making.SESSION, 1)
    assert len(provider.requests) == 1


@pytest.mark.usefixtures("sdks_loaded")
@BOTH
def test_an_answer_that_ends_early_is_incomplete(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    result = ask(of, tmp_path, provider.url(of.name), "cut")
    assert (result.status, result.output, result.cause) == ("INCOMPLETE", "It answers.", "phase_incomplete")


@pytest.mark.usefixtures("sdks_loaded")
@BOTH
def test_nobody_at_the_other_end_is_no_connection(of: api.Provider, tmp_path: pathlib.Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        url = f"http://127.0.0.1:{server.getsockname()[1]}"
    result = ask(of, tmp_path, url)
    assert (result.status, (result.error or "").partition(":")[0]) == ("ERROR", "CONNECTION")


@pytest.mark.usefixtures("sdks_loaded")
@BOTH
def test_an_api_that_is_silent_for_too_long_is_a_timeout(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    result = ask(of, tmp_path, provider.url(of.name), "hang", request_timeout_s=0.5)
    assert (result.status, (result.error or "").partition(":")[0]) == ("ERROR", "API_TIMEOUT")
    assert result.blocked_reason is None


@pytest.mark.usefixtures("sdks_loaded")
@pytest.mark.slow
@BOTH
def test_P35_an_answer_that_comes_slowly_is_no_silence(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    if not api.is_installed(of.name):
        pytest.skip(f"the Python package {of.name} is not installed")
    limits = making.limits(progress_timeout_ms=2_500)
    executor = api.Api(of, kits.surroundings(), base_url=provider.url(of.name))
    result = executor.execute(making.task(tmp_path, model="slow", limits=limits))
    assert (result.status, result.output) == ("COMPLETE", "It answers.")


@pytest.mark.usefixtures("sdks_loaded")
@BOTH
def test_the_address_may_come_from_the_environment(
    of: api.Provider, tmp_path: pathlib.Path, provider: making.Provider
) -> None:
    if not api.is_installed(of.name):
        pytest.skip(f"the Python package {of.name} is not installed")
    variables = kits.surroundings() | {of.base_url: provider.url(of.name)}
    assert api.Api(of, variables).execute(making.task(tmp_path, model="good")).status == "COMPLETE"


@BOTH
@pytest.mark.parametrize("model", [None, "", " "], ids=["none", "empty", "blank"])
def test_P23_a_model_must_be_chosen(
    of: api.Provider, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, model: str | None
) -> None:
    monkeypatch.setattr(api, "is_installed", lambda package: True)
    result = api.Api(of, kits.surroundings()).execute(making.task(tmp_path, model=model))
    expected = f"MODEL_MISSING: {of.name} needs a model. Name it with --model NAME; in a REPL, with /model NAME"
    assert (result.status, result.error) == ("ERROR", expected)


@BOTH
@pytest.mark.parametrize("value", [None, "", "  "], ids=["unset", "empty", "blank"])
def test_P24_a_key_that_is_not_set_is_told_with_how_to_set_it(
    of: api.Provider, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, value: str | None
) -> None:
    monkeypatch.setattr(api, "is_installed", lambda package: True)
    monkeypatch.setattr(api.process, "supervise", None)
    executor = api.Api(of, {} if value is None else {of.key: value})
    state = executor.is_available()
    assert state == (False, "KEY_NOT_SET", f"{of.key} is NOT SET.", f"set it with: export {of.key}=KEY")
    result = executor.execute(making.task(tmp_path, model="m"))
    assert result.error == f"KEY_NOT_SET: {state.reason} {state.suggestion}"


@BOTH
def test_P37_without_its_package_it_says_what_to_install(
    of: api.Provider, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api, "is_installed", lambda package: False)
    executor = api.Api(of, kits.surroundings())
    assert executor.is_available() == (
        False, "EXTRA_MISSING", f"The Python package {of.name} is not installed.",
        f"install it with: {resources.installing(of.name)}",
    )  # fmt: skip
    assert executor.execute(making.task(tmp_path, model="m")).cause == "missing_dependency"


# What the child says, without any package: the reading alone.


def child(folder: pathlib.Path, monkeypatch: pytest.MonkeyPatch, body: str) -> Any:
    monkeypatch.setattr(api, "is_installed", lambda package: True)
    monkeypatch.setattr(api, "CHILD", making.program(folder, body, "child"))
    return api.Api(api.ANTHROPIC, kits.surroundings()).execute(making.task(folder, model="m"))


@pytest.mark.parametrize(
    ("body", "expected"),
    [
        pytest.param(making.printed('{"received": 4}', '{"text": "a", "usage": {"input_tokens": 5, "x": null}}'),
                     ("COMPLETE", "a", None), id="an answer"),
        pytest.param(making.printed('{"kind": "RATE_LIMIT", "message": "slow down", "text": "a"}', status=1),
                     ("ERROR", "a", "RATE_LIMIT: slow down"), id="a failure with a part of the answer"),
        pytest.param(making.printed('{"text": "a", "usage": {}}', status=1),
                     ("ERROR", "a", "EXIT_STATUS: the program ended with status 1"), id="an answer and a failure"),
        pytest.param("raise ValueError('no')", ("ERROR", None, "EXIT_STATUS: the program ended with status 1"),
                     id="a fault of the child"),
        pytest.param(making.printed('{"text": "a'), ("ERROR", None, "RESULT_CUT"), id="half an answer"),
    ],
)  # fmt: skip
def test_what_the_child_says_is_read(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, body: str, expected: tuple[str, str | None, str | None]
) -> None:
    result = child(tmp_path, monkeypatch, body)
    status, output, error = expected
    assert (result.status, result.session_id) == (status, making.SESSION)
    assert output in (None, result.output)
    assert (result.error is None) == (error is None)
    assert (result.error or "").startswith(error or "")


def test_the_request_holds_the_prompt_and_no_key_and_is_gone_afterwards(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = """
path = sys.argv[1]
seen = {"path": path, "mode": oct(os.stat(path).st_mode & 0o777), "request": open(path).read()}
print(json.dumps({"text": json.dumps(seen), "usage": {}}))
"""
    seen = json.loads(child(tmp_path, monkeypatch, body).output)
    assert (seen["mode"], pathlib.Path(seen["path"]).exists()) == ("0o600", False)
    assert making.KEY not in seen["request"]
    assert json.loads(seen["request"]) == {
        "provider": "anthropic", "key": "ANTHROPIC_API_KEY", "model": "m", "prompt": "What is this project?",
        "base_url": None, "timeout_s": 600.0, "max_tokens": 8192,
    }  # fmt: skip


def test_a_project_s_own_modules_are_not_imported_by_the_child(
    tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch, provider: making.Provider
) -> None:
    task = making.task(tmp_path, model="good")
    for name in ("json", "anthropic", "openai"):
        (pathlib.Path(task.project) / f"{name}.py").write_text("raise SystemExit('imported from the project')", "utf-8")
    monkeypatch.setattr(api, "is_installed", lambda package: True)
    result = api.Api(api.ANTHROPIC, kits.surroundings(), base_url=provider.url("anthropic")).execute(task)
    assert "imported from the project" not in repr(result)
    assert (result.error is None) or result.error.startswith("EXTRA_MISSING")
