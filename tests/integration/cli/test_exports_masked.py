"""What looks like a secret and is no key is stored as it was said: an export masks it, unless it is asked not to."""

from __future__ import annotations

import json
import pathlib

import pytest

from orchestrator.core import masking
from tests.integration.cli.conftest import Run, jsonl

SECRETS = {
    "authorization header": ("Authorization: Basic aHVudGVyMjpzd29yZGZpc2g=", "aHVudGVyMjpzd29yZGZpc2g="),
    "cookie": ("Cookie: sid=hunter2swordfish", "hunter2swordfish"),
    "bearer": ("it sent Bearer hunter2swordfish99", "hunter2swordfish99"),
    "json credential": ('the body was {"password": "hunter2swordfish"}', "hunter2swordfish"),
    "environment": ("export DB_TOKEN=hunter2swordfish", "hunter2swordfish"),
    "address": ("see postgres://me:hunter2swordfish@db/x", "hunter2swordfish"),
    "words": ("password: hunter2swordfish", "hunter2swordfish"),
}


def report(run: Run, text: str) -> None:
    given = {"session_id": "S1", "current_agent": "project_manager", "status": "PLANNING_COMPLETE", "summary": text}
    done = run("batch", stdin=jsonl([("route", {**given, "details": {"note": text}})]))
    assert done.returncode == 0, done.stdout


@pytest.mark.parametrize(("text", "secret"), SECRETS.values(), ids=SECRETS)
def test_no_pattern_reaches_an_export_that_is_not_asked_to_hold_it(
    run: Run, tmp_path: pathlib.Path, text: str, secret: str
) -> None:
    report(run, text)
    for format in ("jsonl", "csv"):
        done = run("audit", "export", "S1", "--format", format)
        assert (done.returncode, secret.encode() in done.stdout, b"[MASKED:" in done.stdout) == (0, False, True)
        assert b"Masked events: 1" in done.stderr
        whole = run("audit", "export", "S1", "--format", format, "--unmasked")
        assert (secret.encode() in whole.stdout, whole.stderr) == (True, b"")


def test_a_masked_export_says_so_and_is_no_import(run: Run, tmp_path: pathlib.Path) -> None:
    report(run, "password: hunter2swordfish")
    answer = json.loads(run("audit", "export", "S1", "--output", str(tmp_path / "m.jsonl"), "--json").stdout)
    assert answer["masked"] == 1
    done = run("audit", "import", str(tmp_path / "m.jsonl"), "--db", str(tmp_path / "m.db"), "--json")
    refused = json.loads(done.stdout)
    assert (done.returncode, refused["code"]) == (4, "IMPORT_MASKED")
    assert "--unmasked" in refused["suggestion"]
    assert not (tmp_path / "m.db").exists()
    done = run("audit", "export", "S1", "--unmasked", "--output", str(tmp_path / "w.jsonl"), "--json")
    whole = json.loads(done.stdout)
    assert whole["masked"] == 0
    assert run("audit", "import", str(tmp_path / "w.jsonl"), "--db", str(tmp_path / "w.db")).returncode == 0
    assert run("audit", "verify", "--db", str(tmp_path / "w.db")).returncode == 0


def test_the_tokens_of_claims_are_no_secrets(run: Run) -> None:
    report(run, "a plan")
    run("task", "create", "T1", "-s", "S1", "-g", "A", "--title", "t", "--by", "project_manager")
    claim = json.loads(run("task", "claim", "-s", "S1", "--agent-id", "developer", "--json").stdout)["claim"]
    run("task", "heartbeat", "T1", "-s", "S1", "--by", "developer", "--claim-token", claim["token"])
    done = run("audit", "export", "S1")
    assert (done.stderr, f'\\"claim_token\\":\\"{claim["token"]}\\"'.encode() in done.stdout) == (b"", True)


def test_what_is_behind_a_token_of_a_claim_is_masked_all_the_same() -> None:
    own = '"claim_token":"S1:C7"'
    text = f'{{{own},"note":"password: hunter2swordfish","deep":{{"claim_token":"hunter2swordfish"}}}}'
    shown = masking.mask_event(text)
    assert ("hunter2swordfish" in shown, own in shown) == (False, True)
    assert json.loads(shown)["note"].startswith("password: [MASKED:")
