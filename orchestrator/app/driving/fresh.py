"""A worktree made ready for its first agent: ignored files are copied into it and the project's commands run, once.

Source: 80 section 5 (fresh worktrees).
"""

from __future__ import annotations

from collections.abc import Callable

from orchestrator.app.driving.trees import Tell, Tree
from orchestrator.app.kernel.context import Context
from orchestrator.app.running import tree_evidence
from orchestrator.app.session import pending_commands
from orchestrator.core import project_settings
from orchestrator.core.suggestions import joined, local, quoted, sentence, suggest
from orchestrator.errors import EnvironmentProblem, InvalidInput
from orchestrator.hints import Any
from orchestrator.runner import commands, fresh_trees
from orchestrator.store.queries import Row

TIMEOUT_S = 900.0
"""Seconds that one command of a set-up may take."""
_KEPT = 16_384
"""Characters of a command's output, from its end, that are kept."""
_SHOWN = 1_000


def make_ready(
    context: Context, start: Row, tree: Tree, tell: Tell, cancelled: Callable[[], bool] | None = None
) -> tuple[tuple[str, str], ...]:
    """Set a tree up where that was not done yet.

    Returns:
        The variables that whoever works in it gets.

    Raises:
        EnvironmentProblem: SETUP_FAILED, with what failed, which is on record; nothing in the tree is undone, and the
            next start begins the set-up anew. SETTINGS_INVALID.
    """
    variables = fresh_trees.variables(tree.root, tree.path)
    if fresh_trees.is_set_up(tree.root, tree.path):
        return variables
    # Those of the main checkout: an agent could have changed the file in its tree (AUT-26).
    settings = _settings(tree.root)
    if settings.worktree_setup or settings.worktree_copy:
        _set_up(context, start, tree, settings, variables, tell, cancelled)
    # Noted only at the end, so that a set-up that was broken off begins anew (AUT-24).
    fresh_trees.note_set_up(tree.root, tree.path)
    return variables


def problem(root: str) -> str | None:
    """Why trees of a project cannot be set up, as far as that can be seen before; None where nothing speaks against it.
    """
    try:
        settings = _settings(root)
        for path in settings.worktree_copy:
            fresh_trees.require_source(root, path)
    except EnvironmentProblem as found:
        return found.message
    return None


def _settings(root: str) -> project_settings.Settings:
    try:
        return pending_commands.settings(root) or project_settings.Settings()
    except InvalidInput as problem:
        raise EnvironmentProblem(problem.code, problem.message, problem.suggestion, **problem.data) from None


def _set_up(
    context: Context, start: Row, tree: Tree, settings: project_settings.Settings,
    variables: tuple[tuple[str, str], ...], tell: Tell, cancelled: Callable[[], bool] | None,
) -> None:
    done: list[dict[str, Any]] = []
    try:
        for path in settings.worktree_copy:
            done.append({"copied": path, "new": fresh_trees.copy(tree.root, tree.path, path)})
        for command in settings.worktree_setup:
            tell("waiting", reason=sentence(
                "its worktree is set up: {}", joined([quoted(each) for each in command], " ")
            ))
            ended = commands.run(
                command, folder=tree.path, timeout_s=TIMEOUT_S, cancelled=cancelled, extra=variables
            )
            output = ended.output[-_KEPT:]
            done.append({"command": list(command), "why": ended.why, "output": output, "size": ended.size})
            if ended.status != 0:
                raise _failed(command, ended.why, output)
    except EnvironmentProblem as problem:
        why = f"failed: {problem.message}".partition("\n")[0]
        tree_evidence.record(context, start, tree_evidence.SETUP, why, {"folder": tree.path, "done": done})
        raise
    tree_evidence.record(context, start, tree_evidence.SETUP, "done", {"folder": tree.path, "done": done})


def _failed(command: tuple[str, ...], why: str, output: str) -> EnvironmentProblem:
    said = f"\n{output[-_SHOWN:].strip()}" if output.strip() else ""
    what = sentence(
        "worktree_setup in orchestrator.json: {} did not succeed: {}.{}",
        joined([quoted(each) for each in command], " "), why, local(said, ""),
    )
    return EnvironmentProblem(
        "SETUP_FAILED", what,
        sentence("Fix the command, then {}", suggest("drive")), command=list(command),
    )  # fmt: skip
