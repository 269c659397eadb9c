"""`completion SHELL`: the script with which a shell completes commands, options and values."""

from __future__ import annotations

from typer._completion_shared import get_completion_script  # its public module does not export it

from orchestrator.doors.cli.options import WORD, Command, Given, Parameter, Result

SHELLS = ("bash", "zsh", "fish")
VARIABLE = "_ORCHESTRATOR_COMPLETE"
"""Set by the script where it asks this program what may follow."""


def _completion(given: Given) -> Result:
    shell = given.arguments["shell"]
    script = get_completion_script(prog_name="orchestrator", complete_var=VARIABLE, shell=shell)
    return Result({"db": None, "shell": shell, "script": script}, script)


COMMANDS = {
    "completion": Command(
        "completion",
        "Print the script with which a shell completes commands, options and their values. For bash add"
        ' `eval "$(orchestrator completion bash)"` to ~/.bashrc, for zsh `eval "$(orchestrator completion zsh)"` to'
        " ~/.zshrc (after compinit); for fish write it to ~/.config/fish/completions/orchestrator.fish.",
        "orchestrator completion bash",
        (Parameter("shell", (), WORD, "The shell: bash, zsh or fish.", True, "SHELL", SHELLS),),
        None,
        _completion,
        line="Print the completion script for bash, zsh or fish.",
        answer=("shapes.CompletionScript",),
    ),
}
