"""A project, executors of several kinds, and the installed `repl` and `run` on them: through pipes and at terminals."""

from __future__ import annotations

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import subprocess
import sys
import termios
import time
from collections.abc import Callable, Mapping, Sequence
from typing import Any

DEADLINE_S = 30.0
SUMMARY = re.compile(
    r"=== TASK SUMMARY ===\n\[RESULT\]  (COMPLETE|INCOMPLETE|ERROR)\n\[TASK\]    (task-\d+)\n\[NEXT\]    (\S.*)\n"
    r"\[WHY\]     (\S.*)\n\[HINT\]    (\S.*)\n====================\n"
)
OWN = ("ORCHESTRATOR_", "PM_", "NODE_ENV", "CLAUDECODE", "OPENAI_", "ANTHROPIC_")


def set_up(folder: pathlib.Path) -> pathlib.Path:
    """Make a folder a project."""
    inner = folder / ".claude"
    for name in ("agents", "rules"):
        (inner / name).mkdir(parents=True)
    (inner / "CLAUDE.md").write_text("# Project\n")
    (inner / "settings.json").write_text("{}\n")
    return folder


def initialised(folder: pathlib.Path, script: pathlib.Path) -> pathlib.Path:
    """A database to copy from."""
    path = folder / "orchestrator.db"
    subprocess.run([sys.executable, str(script), "init", "--db", str(path)], check=True, capture_output=True)
    return path


class House:
    """One project with a database, and the command on them.

    Args:
        base: a folder of the test's own.
        script: the installed command.
        database: an initialised one, to be copied.
        stand_in: what is started in its place where there is no terminal.
    """

    def __init__(
        self, base: pathlib.Path, script: pathlib.Path, database: pathlib.Path, stand_in: pathlib.Path | None = None
    ) -> None:
        self.base = base
        self.database = pathlib.Path(shutil.copy(database, base / "orchestrator.db"))
        self._terminals: list[Terminal] = []
        self.project = set_up(base / "project")
        self._script, self._stand_in = script, stand_in or script

    def environment(self, **more: str) -> dict[str, str]:
        """Nothing of the caller's own settings."""
        kept = {name: value for name, value in os.environ.items() if not name.startswith(OWN)}
        return kept | {"ORCHESTRATOR_DB": str(self.base / "orchestrator.db"), "TERM": "xterm"} | more

    def argv(
        self, command: str, *flags: str, executor: str | None = None, place: Sequence[str] | None = None,
        installed: bool = False,
    ) -> list[str]:
        """The whole call."""
        found = [sys.executable, str(self._script if installed else self._stand_in), command, *flags]
        found += [*(("--project", str(self.project)) if place is None else place)]
        return found + (["--executor", executor] if executor else [])

    def scripted(self, *steps: Mapping[str, Any]) -> str:
        """An executor that plays these steps."""
        path = self.base / f"steps-{len(list(self.base.iterdir()))}.json"
        path.write_text(json.dumps(list(steps)))
        return f"scripted:{path}"

    def program(self, text: str) -> str:
        """An executor that is a real program: a shell script."""
        path = self.base / f"program-{len(list(self.base.iterdir()))}.sh"
        path.write_text(f"#!/bin/sh\n{text}\n")
        path.chmod(0o755)
        return f"command:{path}"

    def run(
        self, *flags: str, lines: Sequence[str] | bytes = (), command: str = "repl", executor: str | None = None,
        place: Sequence[str] | None = None, **more: str,
    ) -> Played:
        """Call the command with lines on its stdin."""
        data = lines if isinstance(lines, bytes) else "".join(f"{line}\n" for line in lines).encode()
        done = subprocess.run(
            self.argv(command, *flags, executor=executor, place=place), input=data, capture_output=True,
            env=self.environment(**more), cwd=self.base, timeout=DEADLINE_S, check=False,
        )  # fmt: skip
        return Played(done.returncode, done.stdout.decode(), done.stderr.decode())

    def start(
        self, *flags: str, executor: str | None = None, command: str = "repl", place: Sequence[str] | None = None,
        installed: bool = False, **more: Any,
    ) -> subprocess.Popen[bytes]:
        """Start the command with pipes, to be talked to; the installed one itself where it is to be killed."""
        pipe = subprocess.PIPE
        streams = {"stdin": pipe, "stdout": pipe, "stderr": pipe} | more
        argv = self.argv(command, *flags, executor=executor, place=place, installed=installed)
        return subprocess.Popen(argv, env=self.environment(), cwd=self.base, **streams)

    def sit(
        self, *flags: str, executor: str | None = None, place: Sequence[str] | None = None, **more: str
    ) -> Terminal:
        """Start the loop at a terminal of its own."""
        argv = self.argv("repl", *flags, executor=executor, place=place, installed=True)
        self._terminals.append(Terminal(argv, self.environment(**more), self.base))
        return self._terminals[-1]

    def close(self) -> None:
        """End what a failed test has left at its terminals."""
        for terminal in self._terminals:
            terminal.close()

    def logs(self) -> list[dict[str, Any]]:
        """The logs of tasks on the disk of the project, in order."""
        found = sorted(self.project.glob(".orchestrator/sessions/*/logs/task-*.json"))
        return [json.loads(path.read_bytes()) for path in found]


class Played:
    """What came of a call."""

    def __init__(self, code: int, out: str, err: str) -> None:
        self.code, self.out = code, out
        # Tests live in the folder for temporary files, which is warned of.
        self.err = "".join(line for line in err.splitlines(keepends=True) if "and may be deleted." not in line)

    @property
    def results(self) -> list[str]:
        """What every summary says, in order."""
        return [found[1] for found in SUMMARY.finditer(self.out)]

    @property
    def whys(self) -> list[str]:
        """Why, likewise."""
        return [found[4] for found in SUMMARY.finditer(self.out)]


def _sit_down() -> None:
    # Without a terminal that controls it, no key would interrupt it. Tests that run under `nohup` would hand on that
    # the end of a terminal is ignored.
    fcntl.ioctl(0, termios.TIOCSCTTY, 0)
    signal.signal(signal.SIGHUP, signal.SIG_DFL)


class Terminal:
    """A person's terminal with the loop in it."""

    def __init__(self, argv: Sequence[str], environment: Mapping[str, str], folder: pathlib.Path) -> None:
        self._master, slave = pty.openpty()
        self.process = subprocess.Popen(
            argv, stdin=slave, stdout=slave, stderr=slave, env=environment, cwd=folder, start_new_session=True,
            preexec_fn=_sit_down,
        )  # fmt: skip
        os.close(slave)
        self.shown = ""
        self._seen = 0

    def wait_for(self, text: str) -> str:
        """Read until a text is shown behind what was waited for before; what is shown since then."""
        until = time.monotonic() + DEADLINE_S
        while text not in self.shown[self._seen :]:
            if time.monotonic() > until or not self._read(0.1):
                raise AssertionError(f"{text!r} was not shown: {self.shown[self._seen :]!r}")
        end = self.shown.index(text, self._seen) + len(text)
        found, self._seen = self.shown[self._seen : end], end
        return found

    def type(self, text: str) -> None:
        """Press keys."""
        os.write(self._master, text.encode())

    def interrupt(self) -> None:
        """Press Ctrl-C, as a person does: not in the very moment between a prompt and its wait for keys."""
        time.sleep(0.2)
        self.type("\x03")

    def ends(self) -> int:
        """Wait for the end; the exit code."""
        until = time.monotonic() + DEADLINE_S
        while self._read(0.1):
            assert time.monotonic() < until, f"it does not end: {self.shown!r}"
        code = self.process.wait(DEADLINE_S)
        self.close()
        return code

    def close(self) -> None:
        """Take the terminal away."""
        if self._master >= 0:
            os.close(self._master)
            self._master = -1
            if self.process.poll() is None:
                self.process.kill()
                self.process.wait()

    def hang_up(self) -> int:
        """Close the window; the exit code."""
        os.close(self._master)
        self._master = -1
        return self.process.wait(DEADLINE_S)

    def confirm(self) -> None:
        """Type the code that is shown."""
        self.type(re.findall(r"Type (\w+) to confirm: ", self.wait_for("to confirm: "))[-1] + "\n")

    def _read(self, seconds: float) -> bool:
        """Read what there is; False where the other side is closed."""
        ready, _, _ = select.select([self._master], [], [], seconds)
        if not ready:
            return True
        try:
            data = os.read(self._master, 65_536)
        except OSError:
            return False
        self.shown += data.decode("utf-8", "replace").replace("\r\n", "\n")
        return bool(data)


Make = Callable[[], House]
