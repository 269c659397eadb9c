"""`install claude-code`: what it writes, what it leaves, and that it can be taken out without a trace."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import shutil
import stat
import sys
from collections.abc import Iterator
from typing import Any

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestrator.app.clients import claude_code_files, install_checks
from orchestrator.app.clients import install as installation
from orchestrator.errors import InvalidInput, OrchestratorError, Refused, UsageError
from orchestrator.runner import durable

ROLES = (
    "developer", "investigator", "project_manager", "qa_expert", "requirements_engineer", "senior_software_engineer",
    "tech_lead",
)  # fmt: skip
LOCAL, SHARED = ".claude/settings.local.json", ".claude/settings.json"
DEVELOPER = ".claude/agents/developer.md"

@pytest.fixture(autouse=True, scope="module")
def _made_once() -> Iterator[None]:
    """The agent files are the same for all, and parsing them is most of the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(claude_code_files, "agent_files", functools.cache(claude_code_files.agent_files))
        patch.setattr(os, "fsync", lambda _: None)
        yield


Tree = dict[str, tuple[int, bytes | None]]


def tree(root: pathlib.Path) -> Tree:
    """Every file and folder with its mode and content."""
    found: Tree = {}
    for path in sorted(root.rglob("*")):
        is_file = path.is_file() and not path.is_symlink()
        mode = stat.S_IMODE(path.lstat().st_mode)
        found[path.relative_to(root).as_posix()] = (mode, path.read_bytes() if is_file else None)
    return found


def install(root: pathlib.Path, **more: Any) -> dict[str, Any]:
    return installation.install(None, project=str(root), **more)


def put(root: pathlib.Path, path: str, text: str | bytes) -> pathlib.Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


def document(root: pathlib.Path, path: str = LOCAL) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((root / path).read_bytes().decode("utf-8-sig"))
    return found


# What is written


def test_every_role_gets_its_agent_file_under_its_own_name(tmp_path: pathlib.Path) -> None:
    assert install(tmp_path)["exit_code"] == 0
    assert sorted(file.stem for file in (tmp_path / ".claude/agents").iterdir()) == sorted(ROLES)
    for role in ROLES:
        text = (tmp_path / f".claude/agents/{role}.md").read_text()
        assert f"\nname: {role}\n" in text
        assert claude_code_files.is_unchanged(text)


def test_the_skill_allows_its_commands_and_runs_nothing_with_the_goal(tmp_path: pathlib.Path) -> None:
    install(tmp_path)
    text = (tmp_path / claude_code_files.SKILL).read_text()
    (allowed,) = [line for line in text.splitlines() if line.startswith("allowed-tools: ")]
    assert allowed.removeprefix("allowed-tools: ").split(", ") == claude_code_files.permissions("project")
    assert text.count("$ARGUMENTS") == 1
    assert "\n$ARGUMENTS\n" in text
    assert "!`" not in text
    assert len(text) < 3500


@pytest.mark.parametrize("scope", ["local", "project"])
def test_hooks_and_permissions_go_to_the_settings_of_their_scope(tmp_path: pathlib.Path, scope: str) -> None:
    install(tmp_path, scope=scope)
    path, other = (LOCAL, SHARED) if scope == "local" else (SHARED, LOCAL)
    found = document(tmp_path, path)
    assert not (tmp_path / other).exists()
    assert set(found["hooks"]) == set(claude_code_files.EVENTS)
    assert "Bash(orchestrator status:*)" in found["permissions"]["allow"]
    machine = str(pathlib.Path(sys.executable).parent)
    assert (machine in (tmp_path / path).read_text()) == (scope == "local")
    others = [file for file in tmp_path.rglob("*.md") if machine in file.read_text()]
    assert others == []


def test_strict_guards_the_tools_that_build(tmp_path: pathlib.Path) -> None:
    install(tmp_path, strict=True)
    (entry,) = document(tmp_path)["hooks"]["PreToolUse"]
    assert entry["matcher"] == "Agent|Task|SendMessage|SubagentHandback|Edit|Write|NotebookEdit"
    assert " hook --strict ||" in entry["hooks"][0]["command"]
    install(tmp_path)
    (entry,) = document(tmp_path)["hooks"]["PreToolUse"]
    assert entry["matcher"] == "Agent|Task|SendMessage|SubagentHandback"


def test_a_second_run_changes_nothing(tmp_path: pathlib.Path) -> None:
    put(tmp_path, LOCAL, '{"permissions": {"allow": ["Bash(ls:*)"]}}')
    install(tmp_path)
    before = tree(tmp_path)
    times = {path: (tmp_path / path).stat().st_mtime_ns for path in before}
    answer = install(tmp_path)
    assert (answer["changes"], answer["problems"]) == ([], [])
    assert tree(tmp_path) == before
    assert {path: (tmp_path / path).stat().st_mtime_ns for path in before} == times


@pytest.mark.parametrize("more", [{"dry_run": True}, {"check": True}])
def test_a_dry_run_and_a_check_write_nothing(tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    answer = install(tmp_path, **more)
    assert tree(tmp_path) == {}
    told = [each["path"] for each in answer["changes"]] + [each["path"] for each in answer["problems"]]
    assert LOCAL in told
    assert DEVELOPER in told


# What is kept


def test_settings_that_were_there_are_kept(tmp_path: pathlib.Path) -> None:
    own = {
        "model": "opus",
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]},
        "permissions": {"deny": ["WebFetch"], "allow": ["Bash(ls:*)", "Bash(orchestrator status:*)"]},
    }
    put(tmp_path, LOCAL, json.dumps(own, indent=4))
    install(tmp_path)
    found = document(tmp_path)
    assert found["hooks"]["PreToolUse"][0] == own["hooks"]["PreToolUse"][0]  # type: ignore[index]
    assert found["permissions"]["allow"][:2] == own["permissions"]["allow"]  # type: ignore[index]
    assert found["permissions"]["allow"].count("Bash(orchestrator status:*)") == 1
    # What the client writes itself meanwhile, in its own formatting, stays; ours goes.
    found["permissions"]["allow"].insert(0, "Bash(make:*)")
    put(tmp_path, LOCAL, json.dumps(found, indent=2))
    assert install(tmp_path, uninstall=True)["problems"] == []
    own["permissions"]["allow"].insert(0, "Bash(make:*)")  # type: ignore[index]
    assert document(tmp_path) == own


def test_what_the_client_writes_into_a_file_of_ours_stays_and_nothing_else(tmp_path: pathlib.Path) -> None:
    install(tmp_path)
    found = document(tmp_path)
    found["model"] = "opus"
    put(tmp_path, LOCAL, json.dumps(found))
    install(tmp_path, uninstall=True)
    assert document(tmp_path) == {"model": "opus"}


def test_without_the_note_hooks_and_permissions_are_found_all_the_same(tmp_path: pathlib.Path) -> None:
    install(tmp_path)
    shutil.rmtree(tmp_path / ".orchestrator")
    assert install(tmp_path)["changes"] == []
    shutil.rmtree(tmp_path / ".orchestrator")
    assert install(tmp_path, uninstall=True)["problems"] == []
    left = [path for path in tree(tmp_path) if (tmp_path / path).is_file()]
    assert left == [LOCAL]
    assert document(tmp_path) == {
        "hooks": {event: [] for event in claude_code_files.EVENTS}, "permissions": {"allow": []}
    }


@pytest.mark.parametrize("path", [DEVELOPER, claude_code_files.SKILL])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_was_changed_or_is_not_ours_is_named_and_left(
    tmp_path: pathlib.Path, path: str, is_ours: bool
) -> None:
    if is_ours:
        install(tmp_path)
        put(tmp_path, path, (tmp_path / path).read_text() + "\nAlso: be kind.\n")
    else:
        put(tmp_path, path, "---\nname: developer\n---\nAlso: be kind.\n")
    there = (tmp_path / path).read_bytes()
    answer = install(tmp_path)
    (problem,) = answer["problems"]
    assert (answer["exit_code"], problem["path"], problem["id"]) == (1, path, "changed" if is_ours else "foreign")
    assert not is_ours or "+Also: be kind." in problem["difference"]
    removed = install(tmp_path, uninstall=True)
    assert (tmp_path / path).read_bytes() == there
    assert removed["exit_code"] == int(is_ours)
    before = tree(tmp_path)
    answer = install(tmp_path, force=True)
    assert answer["exit_code"] == 0
    assert (tmp_path / f"{path}.orig").read_bytes() == there
    assert claude_code_files.is_unchanged((tmp_path / path).read_text())
    install(tmp_path, uninstall=True)
    assert tree(tmp_path) == {each: at for each, at in before.items() if not each.startswith(".orchestrator")}


def test_a_hook_that_was_changed_is_named_and_left(tmp_path: pathlib.Path) -> None:
    install(tmp_path)
    found = document(tmp_path)
    found["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 1
    put(tmp_path, LOCAL, json.dumps(found))
    for more in ({}, {"uninstall": True}):
        answer = install(tmp_path, **more)
        assert answer["exit_code"] == 1
        assert "hook for Stop" in answer["problems"][0]["message"]
        assert '+   "timeout": 1' in answer["problems"][0]["difference"]
        assert document(tmp_path)["hooks"]["Stop"] == found["hooks"]["Stop"]
    install(tmp_path, force=True)
    assert document(tmp_path)["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 10


def test_a_file_of_another_version_is_updated(tmp_path: pathlib.Path) -> None:
    install(tmp_path)
    old = claude_code_files.stamped("---\nname: developer\n---\nThe former text.\n")
    put(tmp_path, DEVELOPER, old.replace("\n", "\r\n"))
    assert ("outdated", DEVELOPER) in checked(tmp_path)
    assert install(tmp_path)["changes"] == [{"path": DEVELOPER, "change": "update", "copy": None}]


# What is refused; then nothing was written


@pytest.mark.parametrize(
    ("text", "code", "place"),
    [
        ("", "E105", "$"), ('{"a": 1,}', "E105", "line 1"), ('{"a": 1, "a": 2}', "E105", "$.a"),
        ("// x\n{}", "E105", "line 1"), ("[]", "E104", "$"), ('{"hooks": []}', "E104", "$.hooks"),
        ('{"hooks": {"Stop": {}}}', "E104", "$.hooks.Stop"), ('{"permissions": null}', "E104", "$.permissions"),
        ('{"permissions": {"allow": "x"}}', "E104", "$.permissions.allow"), (b"\xff\xfe{\0}\0", "E105", "UTF-16"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("uninstall", [True, False])
def test_invalid_settings_are_refused_with_the_place(
    tmp_path: pathlib.Path, text: str | bytes, code: str, place: str, uninstall: bool
) -> None:
    put(tmp_path, LOCAL, text)
    before = tree(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        install(tmp_path, uninstall=uninstall)
    assert caught.value.code == code
    assert place in caught.value.message + caught.value.data["problems"][0]["path"]
    assert LOCAL in caught.value.message + caught.value.suggestion
    assert tree(tmp_path) == before


@pytest.mark.parametrize("path", [".claude", ".claude/agents", DEVELOPER, LOCAL, claude_code_files.SKILL])
@pytest.mark.parametrize("kind", ["link", "other"])
def test_a_target_that_is_a_link_or_of_another_kind_is_refused(tmp_path: pathlib.Path, path: str, kind: str) -> None:
    place, elsewhere = tmp_path / "project" / path, tmp_path / "elsewhere"
    place.parent.mkdir(parents=True)
    is_file = path.endswith((".md", ".json"))
    if kind == "link":
        elsewhere.touch() if is_file else elsewhere.mkdir()
        place.symlink_to(elsewhere)
    elif is_file:
        place.mkdir()
    else:
        place.touch()
    before = tree(tmp_path)
    with pytest.raises(Refused, match=str(place)) as caught:
        install(tmp_path / "project")
    assert caught.value.code == "E103"
    assert tree(tmp_path) == before


@pytest.mark.parametrize("more", [
    {"check": True, "uninstall": True}, {"check": True, "force": True}, {"uninstall": True, "session_id": "S1"},
])  # fmt: skip
def test_flags_that_contradict_each_other_are_refused(tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be given together"):
        install(tmp_path, **more)
    with pytest.raises(UsageError, match="not a folder"):
        install(tmp_path / "nowhere")


# Taking it out again

TEXTS = st.sampled_from([
    "{}", "{}\n", "{ }", "{\n}\n", '{"model": "opus"}', '{\n  "model": "opus"\n}\n', '{\n\t"hooks": {}\n}',
    '{\n    "permissions": {\n        "allow": [\n            "Bash(ls:*)"\n        ]\n    }\n}\n',
    '{"hooks": {"Stop": [{"hooks": [{"type": "command", "command": "true"}]}], "PreToolUse": []}}',
    '\n{ "a": "\\u00e4 \\"}]", "permissions": {"deny": [ ], "allow": ["Bash(orchestrator status:*)" ]}\n}\n\n',
])  # fmt: skip
CONTENTS = st.builds(
    lambda text, ends, bom, cut: bom + (text.rstrip("\n") if cut else text).replace("\n", ends).encode(),
    TEXTS, st.sampled_from(["\n", "\r\n"]), st.sampled_from([b"", b"\xef\xbb\xbf"]), st.booleans(),
)  # fmt: skip
PROJECTS = st.fixed_dictionaries({}, optional={
    LOCAL: CONTENTS, SHARED: CONTENTS, ".claude/agents/mine.md": st.just(b"---\nname: mine\n---\n"),
    DEVELOPER: st.just(b"mine"), ".claude/skills/mine/SKILL.md": st.just(b"mine"), "README.md": st.just(b"hello\r\n"),
    "CLAUDE.md": st.just(b"rules"),
})  # fmt: skip
CALLS = st.lists(st.fixed_dictionaries({
    "scope": st.sampled_from(["local", "project"]), "strict": st.booleans(), "force": st.booleans(),
}), min_size=1, max_size=3)  # fmt: skip


class _Cut(BaseException):
    """The process ends."""


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(files={DEVELOPER: b"mine"}, calls=[{"force": True}], cut=0, removals=2)
@given(files=PROJECTS, calls=CALLS, cut=st.one_of(st.none(), st.integers(0, 12)), removals=st.integers(0, 8))
def test_a_project_is_as_it_was_after_uninstall_also_where_calls_were_cut(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], calls: list[dict[str, Any]], cut: int | None,
    removals: int,
) -> None:  # fmt: skip
    root = tmp_path_factory.mktemp("project")
    for path, data in files.items():
        put(root, path, data)
    before = tree(root)
    for number, more in enumerate(calls):
        _cut_after(root, cut if number == 0 else None, **more)
        assert install(root, **more)["changes"] == []
    _cut_after(root, removals if cut is not None else None, uninstall=True)
    assert install(root, uninstall=True)["problems"] == []
    assert tree(root) == before
    shutil.rmtree(root)


def _cut_after(root: pathlib.Path, writes: int | None, **more: Any) -> None:
    """A call; with `writes`, one that is ended after so many writes and made again."""
    left = [writes]
    write, unlink = durable.write, os.unlink

    def counted(act: Any) -> Any:
        def acting(*given: Any, **named: Any) -> Any:
            if left[0] == 0:
                raise _Cut
            left[0] = left[0] and left[0] - 1
            return act(*given, **named)

        return acting

    if writes is not None:
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(_Cut):
            patch.setattr(installation.durable, "write", counted(write))
            patch.setattr(installation.os, "unlink", counted(unlink))
            install(root, **more)
    install(root, **more)


def test_a_file_that_cannot_be_written_leaves_what_was_there(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    put(tmp_path, LOCAL, "{}")

    def fails(path: Any, *_: Any) -> None:
        with durable.failing(str(path)):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(installation.durable, "write", fails)
    with pytest.raises(OrchestratorError, match="could not be written") as caught:
        install(tmp_path)
    assert caught.value.exit_code == 5
    assert (tmp_path / LOCAL).read_bytes() == b"{}"


# The check


def checked(root: pathlib.Path, **more: Any) -> set[tuple[str, str]]:
    return {(each["id"], each["path"]) for each in install(root, check=True, **more)["problems"]}


def test_a_check_names_what_is_missing_changed_untrusted_or_unknown(tmp_path: pathlib.Path, monkeypatch: Any) -> None:
    home, root = tmp_path / "home", tmp_path / "project"
    root.mkdir()
    programs = tmp_path / "bin"
    put(programs, "claude", "#!/bin/sh\necho '9.9.9 (Claude Code)'\n").chmod(0o755)
    put(programs, "orchestrator", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(home))
    monkeypatch.delenv("CLAUDE_CONFIG_DIR", raising=False)
    install(root, scope="project")
    rest = {("missing", ".orchestrator")}
    assert checked(root, scope="project") == rest | {("unknown", "claude"), ("untrusted", str(root))}
    put(home, ".claude.json", json.dumps({"projects": {str(root): {"hasTrustDialogAccepted": True}}}))
    put(programs, "claude", f"#!/bin/sh\necho '{install_checks.VERSIONS[-1]} (Claude Code)'\n")
    assert checked(root, scope="project") == rest
    put(root, ".claude/agents/dev.md", "---\ndescription: x\nname: 'developer'\n---\n")
    found = document(root, SHARED)
    found["hooks"] |= {"PreToolUze": [{"hooks": [{"type": "command", "command": "true", "timeuot": 1}]}]}
    del found["hooks"]["Stop"]
    put(root, SHARED, json.dumps(found))
    (root / DEVELOPER).unlink()
    told = install(root, check=True, scope="project")
    assert {(each["id"], each["path"]) for each in told["problems"]} == rest | {
        ("foreign", ".claude/agents/dev.md"), ("unknown", SHARED), ("outdated", SHARED), ("missing", DEVELOPER),
    }  # fmt: skip
    assert any("did you mean PreToolUse?" in each["message"] for each in told["problems"])
    assert any("timeuot" in each["message"] for each in told["problems"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert {("not_found", "claude"), ("not_found", "orchestrator")} <= checked(root, scope="project")
