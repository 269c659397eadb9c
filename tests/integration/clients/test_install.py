"""`install claude-code` and `install codex`: what they write, what they leave, and that they leave no trace."""

from __future__ import annotations

import contextlib
import functools
import json
import os
import pathlib
import re
import shutil
import stat
import sys
import tomllib
from collections.abc import Iterator
from typing import Any, NamedTuple

import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st

from orchestrator.app.clients import (
    claude_code_checks,
    claude_code_files,
    client_files,
    codex_checks,
    codex_files,
)
from orchestrator.app.clients import install as installation
from orchestrator.core import agents
from orchestrator.errors import InvalidInput, OrchestratorError, Refused, UsageError
from orchestrator.runner import atomic_files
from tests.conftest import LONG

ROLES = (
    "developer", "investigator", "project_manager", "qa_expert", "requirements_engineer", "senior_software_engineer",
    "tech_lead",
)  # fmt: skip


class Kind(NamedTuple):
    """A client as these tests see it: where its settings and files lie."""

    client: client_files.Client
    program: str
    developer: str
    skill: str
    events: dict[str, client_files.Hook]
    versions: tuple[str, ...]

    @property
    def local(self) -> str:
        return self.client.settings["local"]

    @property
    def shared(self) -> str:
        return self.client.settings["project"]

    def install(self, root: pathlib.Path, **more: Any) -> dict[str, Any]:
        return installation.install(None, self.client, project=str(root), **more)

    def checked(self, root: pathlib.Path, **more: Any) -> set[tuple[str, str]]:
        found = self.install(root, check=True, **more)["problems"]
        return {(each["id"], each["path"]) for each in found}

    def document(self, root: pathlib.Path, path: str = "") -> dict[str, Any]:
        found: dict[str, Any] = json.loads((root / (path or self.local)).read_bytes().decode("utf-8-sig"))
        return found


CLAUDE = Kind(
    installation.CLAUDE_CODE, "claude", ".claude/agents/developer.md", claude_code_files.SKILL,
    claude_code_files.EVENTS, claude_code_checks.VERSIONS,
)  # fmt: skip
CODEX = Kind(
    installation.CODEX, "codex", ".codex/agents/developer.toml", codex_files.SKILL, codex_files.EVENTS,
    codex_checks.VERSIONS,
)  # fmt: skip
KINDS = (CLAUDE, CODEX)
LOCAL = CLAUDE.local


@pytest.fixture(params=KINDS, ids=lambda kind: kind.client.name)
def kind(request: pytest.FixtureRequest) -> Kind:
    found: Kind = request.param
    return found


@pytest.fixture(autouse=True, scope="module")
def _made_once() -> Iterator[None]:
    """The agent files are the same for all, and parsing them is most of the work."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(client_files, "shipped_agents", functools.cache(client_files.shipped_agents))
        patch.setattr(agents, "parse", functools.cache(agents.parse))
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


def put(root: pathlib.Path, path: str, text: str | bytes) -> pathlib.Path:
    file = root / path
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(text.encode() if isinstance(text, str) else text)
    return file


# What is written


def test_every_role_gets_its_agent_file_under_its_own_name(kind: Kind, tmp_path: pathlib.Path) -> None:
    assert kind.install(tmp_path)["exit_code"] == 0
    folder = (tmp_path / kind.developer).parent
    assert sorted(file.stem for file in folder.iterdir()) == sorted(ROLES)
    for role in ROLES:
        text = (folder / f"{role}{pathlib.Path(kind.developer).suffix}").read_text()
        assert re.search(rf"""\nname(: {role}| = "{role}")\n""", text)
        assert client_files.is_unchanged(text)


def test_the_agent_files_of_codex_say_what_the_shipped_ones_say(tmp_path: pathlib.Path) -> None:
    CODEX.install(tmp_path)
    for role, text in client_files.shipped_agents(ROLES).items():
        found = tomllib.loads((tmp_path / f".codex/agents/{role}.toml").read_text())
        shipped = agents.parse(text, role)
        assert found == {
            "name": role, "description": shipped.description, "developer_instructions": shipped.text,
        }  # fmt: skip


@given(st.text(st.characters(exclude_categories=["Cs"], exclude_characters="\r"), max_size=60))
@example('"""\n\\n\\\\n\x7f\\')
def test_any_text_is_read_from_toml_as_it_was(text: str) -> None:
    assert tomllib.loads(f"a = {codex_files._toml(text)}\n") == {"a": text}


def test_what_codex_may_run_stands_in_rules_and_the_skill_waits_to_be_typed(tmp_path: pathlib.Path) -> None:
    CODEX.install(tmp_path, scope="project")
    rules = (tmp_path / codex_files.RULES).read_text().splitlines()[2:]
    assert rules == [
        f'prefix_rule(pattern={json.dumps(["orchestrator", *words.split()])}, decision="allow")'
        for words in client_files.COMMANDS
    ]
    assert "allow_implicit_invocation: false" in (tmp_path / codex_files.POLICY).read_text()
    assert len((tmp_path / codex_files.SKILL).read_text()) < 3500


def test_the_skill_allows_its_commands_and_runs_nothing_with_the_goal(tmp_path: pathlib.Path) -> None:
    CLAUDE.install(tmp_path)
    text = (tmp_path / claude_code_files.SKILL).read_text()
    (allowed,) = [line for line in text.splitlines() if line.startswith("allowed-tools: ")]
    assert allowed.removeprefix("allowed-tools: ").split(", ") == claude_code_files.permissions("project")
    assert text.count("$ARGUMENTS") == 1
    assert "\n$ARGUMENTS\n" in text
    assert "!`" not in text
    assert len(text) < 3500


@pytest.mark.parametrize("scope", ["local", "project"])
def test_hooks_and_permissions_go_to_the_settings_of_their_scope(
    kind: Kind, tmp_path: pathlib.Path, scope: str
) -> None:
    kind.install(tmp_path, scope=scope)
    path, other = (kind.local, kind.shared) if scope == "local" else (kind.shared, kind.local)
    found = kind.document(tmp_path, path)
    assert other == path or not (tmp_path / other).exists()
    assert set(found["hooks"]) == set(kind.events)
    assert found.get("permissions", {}).get("allow", []) == kind.client.permissions(scope)
    machine = str(pathlib.Path(sys.executable).parent)
    with_place = {path, codex_files.RULES} if kind is CODEX else {path}
    files = [file for file in tmp_path.rglob("*.*") if file.is_file() and ".orchestrator" not in file.parts]
    others = {file.relative_to(tmp_path).as_posix() for file in files if machine in file.read_text()}
    assert others == (with_place if scope == "local" else set())


@pytest.mark.parametrize(("kind", "starts", "builds"), [
    (CLAUDE, "Agent|Task|SendMessage|SubagentHandback", "|Edit|Write|NotebookEdit"),
    (CODEX, "^[A-Za-z0-9_]*(spawn_agent|send_input|send_message|followup_task", "|apply_patch"),
])  # fmt: skip
def test_strict_guards_the_tools_that_build(kind: Kind, tmp_path: pathlib.Path, starts: str, builds: str) -> None:
    end = ")$" if kind is CODEX else ""
    kind.install(tmp_path, strict=True)
    (entry,) = kind.document(tmp_path)["hooks"]["PreToolUse"]
    assert entry["matcher"] == f"{starts}{builds}{end}"
    assert " --strict ||" in entry["hooks"][0]["command"]
    kind.install(tmp_path)
    (entry,) = kind.document(tmp_path)["hooks"]["PreToolUse"]
    assert entry["matcher"] == f"{starts}{end}"


def test_a_second_run_changes_nothing(kind: Kind, tmp_path: pathlib.Path) -> None:
    put(tmp_path, kind.local, '{"permissions": {"allow": ["Bash(ls:*)"]}}')
    kind.install(tmp_path)
    before = tree(tmp_path)
    times = {path: (tmp_path / path).stat().st_mtime_ns for path in before}
    answer = kind.install(tmp_path)
    assert (answer["changes"], answer["problems"]) == ([], [])
    assert tree(tmp_path) == before
    assert {path: (tmp_path / path).stat().st_mtime_ns for path in before} == times


@pytest.mark.parametrize("more", [{"dry_run": True}, {"check": True}])
def test_a_dry_run_and_a_check_write_nothing(kind: Kind, tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    answer = kind.install(tmp_path, **more)
    assert tree(tmp_path) == {}
    told = [each["path"] for each in answer["changes"]] + [each["path"] for each in answer["problems"]]
    assert kind.local in told
    assert kind.developer in told


# What is kept


def test_settings_that_were_there_are_kept(kind: Kind, tmp_path: pathlib.Path) -> None:
    own = {
        "model": "opus",
        "hooks": {"PreToolUse": [{"matcher": "Bash", "hooks": [{"type": "command", "command": "true"}]}]},
        "permissions": {"deny": ["WebFetch"], "allow": ["Bash(ls:*)", "Bash(orchestrator status:*)"]},
    }
    put(tmp_path, kind.local, json.dumps(own, indent=4))
    kind.install(tmp_path)
    found = kind.document(tmp_path)
    assert found["hooks"]["PreToolUse"][0] == own["hooks"]["PreToolUse"][0]  # type: ignore[index]
    assert found["permissions"]["allow"][:2] == own["permissions"]["allow"]  # type: ignore[index]
    assert found["permissions"]["allow"].count("Bash(orchestrator status:*)") == 1
    # What the client writes itself meanwhile, in its own formatting, stays; ours goes.
    found["permissions"]["allow"].insert(0, "Bash(make:*)")
    put(tmp_path, kind.local, json.dumps(found, indent=2))
    assert kind.install(tmp_path, uninstall=True)["problems"] == []
    own["permissions"]["allow"].insert(0, "Bash(make:*)")  # type: ignore[index]
    assert kind.document(tmp_path) == own


def test_what_the_client_writes_into_a_file_of_ours_stays_and_nothing_else(kind: Kind, tmp_path: pathlib.Path) -> None:
    kind.install(tmp_path)
    found = kind.document(tmp_path)
    found["model"] = "opus"
    put(tmp_path, kind.local, json.dumps(found))
    kind.install(tmp_path, uninstall=True)
    assert kind.document(tmp_path) == {"model": "opus"}


def test_without_the_note_hooks_and_permissions_are_found_all_the_same(kind: Kind, tmp_path: pathlib.Path) -> None:
    kind.install(tmp_path)
    shutil.rmtree(tmp_path / ".orchestrator")
    assert kind.install(tmp_path)["changes"] == []
    shutil.rmtree(tmp_path / ".orchestrator")
    assert kind.install(tmp_path, uninstall=True)["problems"] == []
    left = [path for path in tree(tmp_path) if (tmp_path / path).is_file()]
    assert left == [kind.local]
    allowed = {"permissions": {"allow": []}} if kind.client.permissions("local") else {}
    assert kind.document(tmp_path) == {"hooks": {event: [] for event in kind.events}, **allowed}


@pytest.mark.parametrize("file", ["developer", "skill"])
@pytest.mark.parametrize("is_ours", [True, False])
def test_a_file_that_was_changed_or_is_not_ours_is_named_and_left(
    kind: Kind, tmp_path: pathlib.Path, file: str, is_ours: bool
) -> None:
    path = str(getattr(kind, file))
    if is_ours:
        kind.install(tmp_path)
        put(tmp_path, path, (tmp_path / path).read_text() + "\nAlso: be kind.\n")
    else:
        put(tmp_path, path, "---\nname: developer\n---\nAlso: be kind.\n")
    there = (tmp_path / path).read_bytes()
    answer = kind.install(tmp_path)
    (problem,) = answer["problems"]
    assert (answer["exit_code"], problem["path"], problem["id"]) == (1, path, "changed" if is_ours else "foreign")
    assert not is_ours or "+Also: be kind." in problem["difference"]
    removed = kind.install(tmp_path, uninstall=True)
    assert (tmp_path / path).read_bytes() == there
    assert removed["exit_code"] == int(is_ours)
    before = tree(tmp_path)
    answer = kind.install(tmp_path, force=True)
    assert answer["exit_code"] == 0
    assert (tmp_path / f"{path}.orig").read_bytes() == there
    assert client_files.is_unchanged((tmp_path / path).read_text())
    kind.install(tmp_path, uninstall=True)
    assert tree(tmp_path) == {each: at for each, at in before.items() if not each.startswith(".orchestrator")}


def test_a_hook_that_was_changed_is_named_and_left(kind: Kind, tmp_path: pathlib.Path) -> None:
    kind.install(tmp_path)
    found = kind.document(tmp_path)
    found["hooks"]["Stop"][0]["hooks"][0]["timeout"] = 1
    put(tmp_path, kind.local, json.dumps(found))
    for more in ({}, {"uninstall": True}):
        answer = kind.install(tmp_path, **more)
        assert answer["exit_code"] == 1
        assert "hook for Stop" in answer["problems"][0]["message"]
        assert '+   "timeout": 1' in answer["problems"][0]["difference"]
        assert kind.document(tmp_path)["hooks"]["Stop"] == found["hooks"]["Stop"]
    kind.install(tmp_path, force=True)
    assert kind.document(tmp_path)["hooks"]["Stop"][0]["hooks"][0]["timeout"] == 10


def test_a_file_of_another_version_is_updated(kind: Kind, tmp_path: pathlib.Path) -> None:
    kind.install(tmp_path)
    old = client_files.stamped("---\nname: developer\n---\nThe former text.\n")
    put(tmp_path, kind.developer, old.replace("\n", "\r\n"))
    assert ("outdated", kind.developer) in kind.checked(tmp_path)
    assert kind.install(tmp_path)["changes"] == [{"path": kind.developer, "change": "update", "copy": None}]


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
    kind: Kind, tmp_path: pathlib.Path, text: str | bytes, code: str, place: str, uninstall: bool
) -> None:
    put(tmp_path, kind.local, text)
    before = tree(tmp_path)
    with pytest.raises(InvalidInput) as caught:
        kind.install(tmp_path, uninstall=uninstall)
    assert caught.value.code == code
    assert place in caught.value.message + caught.value.data["problems"][0]["path"]
    assert kind.local in caught.value.message + caught.value.suggestion
    assert tree(tmp_path) == before


@pytest.mark.parametrize(("kind", "path"), [
    (kind, path) for kind in KINDS
    for path in (kind.client.folders[0], os.path.dirname(kind.developer), kind.developer, kind.local, kind.skill)
])  # fmt: skip
@pytest.mark.parametrize("what", ["link", "other"])
def test_a_target_that_is_a_link_or_of_another_kind_is_refused(
    kind: Kind, tmp_path: pathlib.Path, path: str, what: str
) -> None:
    place, elsewhere = tmp_path / "project" / path, tmp_path / "elsewhere"
    place.parent.mkdir(parents=True)
    is_file = path.endswith((".md", ".json", ".toml"))
    if what == "link":
        elsewhere.touch() if is_file else elsewhere.mkdir()
        place.symlink_to(elsewhere)
    elif is_file:
        place.mkdir()
    else:
        place.touch()
    before = tree(tmp_path)
    with pytest.raises(Refused, match=str(place)) as caught:
        kind.install(tmp_path / "project")
    assert caught.value.code == "E103"
    assert tree(tmp_path) == before


@pytest.mark.parametrize("more", [
    {"check": True, "uninstall": True}, {"check": True, "force": True}, {"uninstall": True, "session_id": "S1"},
])  # fmt: skip
def test_flags_that_contradict_each_other_are_refused(kind: Kind, tmp_path: pathlib.Path, more: dict[str, Any]) -> None:
    with pytest.raises(UsageError, match="cannot be given together"):
        kind.install(tmp_path, **more)
    with pytest.raises(UsageError, match="not a folder"):
        kind.install(tmp_path / "nowhere")


@pytest.mark.parametrize("flag", ["check", "uninstall", "force", "session_id"])
def test_each_flag_stands_by_itself(flag: str) -> None:
    given: dict[str, Any] = {"check": False, "uninstall": False, "force": False, "session_id": None}
    installation._check_flags(installation.CODEX, **given | {flag: "S1" if flag == "session_id" else True})


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
_MINE = (
    ".claude/agents/mine.md", ".claude/skills/mine/SKILL.md", ".codex/agents/mine.toml", ".agents/skills/mine/x.md",
)  # fmt: skip
PROJECTS = st.fixed_dictionaries({}, optional={
    CLAUDE.local: CONTENTS, CLAUDE.shared: CONTENTS, CODEX.local: CONTENTS,
    CLAUDE.developer: st.just(b"mine"), CODEX.developer: st.just(b"mine"), "README.md": st.just(b"hello\r\n"),
    "CLAUDE.md": st.just(b"rules"), **{path: st.just(b"mine") for path in _MINE},
})  # fmt: skip
CALLS = st.lists(st.fixed_dictionaries({
    "kind": st.sampled_from([0, 1]),
    "scope": st.sampled_from(["local", "project"]), "strict": st.booleans(), "force": st.booleans(),
}), min_size=1, max_size=3)  # fmt: skip


class _Cut(BaseException):
    """The process ends."""


@settings(max_examples=100 if LONG else 6, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@example(files={CLAUDE.developer: b"mine"}, calls=[{"kind": 0, "force": True}], cut=0, removals=2)
@example(files={CODEX.developer: b"mine"}, calls=[{"kind": 1, "force": True}], cut=0, removals=2)
@example(files={CLAUDE.developer: b"mine"}, calls=[{"kind": 0, "force": True}], cut=2, removals=0)
@given(files=PROJECTS, calls=CALLS, cut=st.one_of(st.none(), st.integers(0, 12)), removals=st.integers(0, 8))
def test_a_project_is_as_it_was_after_uninstall_also_where_calls_were_cut(
    tmp_path_factory: pytest.TempPathFactory, files: dict[str, bytes], calls: list[dict[str, Any]], cut: int | None,
    removals: int,
) -> None:  # fmt: skip
    root = tmp_path_factory.mktemp("project")
    for path, data in files.items():
        put(root, path, data)
    before = tree(root)
    for number, call in enumerate(calls):
        kind, more = KINDS[call["kind"]], {name: value for name, value in call.items() if name != "kind"}
        _cut_after(kind, root, cut if number == 0 else None, **more)
        assert kind.install(root, **more)["changes"] == []
    for number, index in enumerate(dict.fromkeys(call["kind"] for call in calls)):
        kind = KINDS[index]
        _cut_after(kind, root, removals if cut is not None and number == 0 else None, uninstall=True)
        assert kind.install(root, uninstall=True)["problems"] == []
    assert tree(root) == before
    shutil.rmtree(root)


def test_one_client_is_taken_out_and_the_other_stays_as_it_is(tmp_path: pathlib.Path) -> None:
    for one, other in (KINDS, KINDS[::-1]):
        other.install(tmp_path, uninstall=True)
        one.install(tmp_path)
        before = tree(tmp_path)
        other.install(tmp_path)
        assert one.install(tmp_path)["changes"] == []
        other.install(tmp_path, uninstall=True)
        assert tree(tmp_path) == before


def _cut_after(kind: Kind, root: pathlib.Path, writes: int | None, **more: Any) -> None:
    """A call; with `writes`, one that is ended after so many writes and made again."""
    left = [writes]
    write, unlink = atomic_files.write, os.unlink

    def counted(act: Any) -> Any:
        def acting(*given: Any, **named: Any) -> Any:
            if left[0] == 0:
                raise _Cut
            left[0] = left[0] and left[0] - 1
            return act(*given, **named)

        return acting

    if writes is not None:
        with pytest.MonkeyPatch.context() as patch, contextlib.suppress(_Cut):
            patch.setattr(installation.atomic_files, "write", counted(write))
            patch.setattr(installation.os, "unlink", counted(unlink))
            kind.install(root, **more)
    kind.install(root, **more)


def test_a_file_that_cannot_be_written_leaves_what_was_there(
    kind: Kind, tmp_path: pathlib.Path, monkeypatch: Any
) -> None:
    put(tmp_path, kind.local, "{}")

    def fails(path: Any, *_: Any) -> None:
        with atomic_files.failing(str(path)):
            raise OSError(28, "No space left on device")

    monkeypatch.setattr(installation.atomic_files, "write", fails)
    with pytest.raises(OrchestratorError, match="could not be written") as caught:
        kind.install(tmp_path)
    assert caught.value.exit_code == 5
    assert (tmp_path / kind.local).read_bytes() == b"{}"


def test_a_file_that_cannot_be_read_is_refused_and_nothing_changes(
    kind: Kind, tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    put(tmp_path, kind.local, "{}")
    before = tree(tmp_path)

    def fails(path: Any) -> None:
        raise PermissionError(13, "Permission denied")

    monkeypatch.setattr(installation.atomic_files, "read", fails)
    with pytest.raises(Refused, match="cannot be read: Permission denied") as caught:
        kind.install(tmp_path)
    assert (caught.value.code, tree(tmp_path)) == ("E103", before)


# The check


def trusts_claude(home: pathlib.Path, root: pathlib.Path) -> None:
    put(home, ".claude.json", json.dumps({"projects": {str(root): {"hasTrustDialogAccepted": True}}}))


def trusts_codex(home: pathlib.Path, root: pathlib.Path) -> None:
    """A user of Codex trusts a folder and has reviewed its hooks."""
    lines = [f'[projects."{root}"]', 'trust_level = "trusted"']
    for event, (entry,) in CODEX.document(root)["hooks"].items():
        known = codex_checks.trusted_hash(event, entry, entry["hooks"][0])
        key = f"{root}/{codex_files.HOOKS}:{re.sub('(?<!^)(?=[A-Z])', '_', event).lower()}:0:0"
        lines += [f'[hooks.state."{key}"]', f'trusted_hash = "{known}"']
    put(home, ".codex/config.toml", "\n".join(lines))


@pytest.fixture
def home(tmp_path: pathlib.Path, monkeypatch: pytest.MonkeyPatch) -> pathlib.Path:
    """The home of a user who has the programs of both clients, of versions that nobody has tested."""
    programs = tmp_path / "bin"
    put(programs, "claude", "#!/bin/sh\necho '9.9.9 (Claude Code)'\n").chmod(0o755)
    put(programs, "codex", "#!/bin/sh\necho 'codex-cli 9.9.9'\n").chmod(0o755)
    put(programs, "orchestrator", "#!/bin/sh\n").chmod(0o755)
    monkeypatch.setenv("PATH", f"{programs}:/usr/bin:/bin")
    monkeypatch.setenv("HOME", str(tmp_path / "home"))
    for name in ("CLAUDE_CONFIG_DIR", "CODEX_HOME"):
        monkeypatch.delenv(name, raising=False)
    return tmp_path / "home"


UNTRUSTED = {"claude": {("untrusted", ".")}, "codex": {("untrusted", "."), ("untrusted", codex_files.HOOKS)}}
TRUSTS = {"claude": trusts_claude, "codex": trusts_codex}
RIVALS = {
    "claude": (".claude/agents/dev.md", "---\ndescription: x\nname: 'developer'\n---\n"),
    "codex": (".codex/agents/dev.toml", "description = 'x'\nname = 'developer'\n"),
}


def test_a_check_names_what_is_missing_changed_untrusted_or_unknown(
    kind: Kind, tmp_path: pathlib.Path, home: pathlib.Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root, programs = tmp_path / "project", tmp_path / "bin"
    root.mkdir()
    kind.install(root, scope="project")
    rest = {("missing", ".orchestrator")}
    waiting = {(id_, path.replace(".", str(root), 1) if path == "." else path) for id_, path in UNTRUSTED[kind.program]}
    assert kind.checked(root, scope="project") == rest | {("unknown", kind.program)} | waiting
    TRUSTS[kind.program](home, root)
    said = (programs / kind.program).read_text().replace("9.9.9", kind.versions[-1])
    put(programs, kind.program, said)
    assert kind.checked(root, scope="project") == rest
    put(root, *RIVALS[kind.program])
    found = kind.document(root, kind.shared)
    found["hooks"] |= {"PreToolUze": [{"hooks": [{"type": "command", "command": "true", "timeuot": 1}]}]}
    del found["hooks"]["Stop"]
    put(root, kind.shared, json.dumps(found))
    (root / kind.developer).unlink()
    told = kind.install(root, check=True, scope="project")
    assert {(each["id"], each["path"]) for each in told["problems"]} == rest | {
        ("foreign", RIVALS[kind.program][0]), ("unknown", kind.shared), ("outdated", kind.shared),
        ("missing", kind.developer),
    }  # fmt: skip
    assert any("did you mean PreToolUse?" in each["message"] for each in told["problems"])
    assert any("timeuot" in each["message"] for each in told["problems"])
    monkeypatch.setenv("PATH", "/nowhere")
    assert {("not_found", kind.program), ("not_found", "orchestrator")} <= kind.checked(root, scope="project")


def test_a_check_of_codex_names_hooks_that_were_not_reviewed_or_are_switched_off(
    tmp_path: pathlib.Path, home: pathlib.Path
) -> None:
    root = tmp_path / "project"
    root.mkdir()

    def untrusted() -> list[str]:
        problems = CODEX.install(root, check=True)["problems"]
        return [each["message"] for each in problems if each["id"] == "untrusted"]

    CODEX.install(root)
    trusts_codex(home, root)
    config = home / ".codex/config.toml"
    reviewed = config.read_text()
    assert untrusted() == []
    # A hook that was changed since has another hash.
    CODEX.install(root, strict=True)
    (waiting,) = untrusted()
    assert "not reviewed: PreToolUse." in waiting
    CODEX.install(root)
    config.write_text(reviewed.replace(':stop:0:0"]\n', ':stop:0:0"]\nenabled = false\n'))
    assert untrusted() == ["Hooks are switched off in Codex: Stop. Switch them on by /hooks."]
    config.write_text(f"[features]\nhooks = false\n{reviewed}")
    assert untrusted() == [f"{config} switches hooks off (features.hooks); remove that line."]


def test_a_check_names_what_the_events_of_a_client_cannot_hold(kind: Kind, tmp_path: pathlib.Path) -> None:
    found = kind.install(tmp_path, check=True)
    assert found["limits"] == list(kind.client.limits)
    assert (found["limits"] == []) == (kind is CLAUDE)
    assert kind.install(tmp_path)["limits"] == []
