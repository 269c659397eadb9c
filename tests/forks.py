"""The command without the start of an interpreter: every call is a fork of one process that has started already.

A call is a process of its own still, with its own streams, folder, environment and exit code; what it saves is the
time in which Python starts and imports. What only a new interpreter can have (another locale, another encoding, other
options of Python's) is refused, and what a fresh start itself promises is for `installed` to test.
"""

from __future__ import annotations

import contextlib
import importlib
import json
import os
import pathlib
import pkgutil
import runpy
import signal
import socket
import subprocess
import sys
import threading
from collections.abc import Iterator, Mapping, Sequence
from typing import NoReturn

Completed = subprocess.CompletedProcess[bytes]

AT_THE_START = ("PYTHON", "LC_", "LANG", "TZ")
"""How the variables begin that an interpreter reads once, when it starts."""

LEFT_OUT = ("orchestrator.doors.cli.typed", "orchestrator.runner.executors")
"""What is loaded by the calls that need it: Typer looks at the terminal when it is loaded."""


def of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that an interpreter reads when it starts."""
    return {name: value for name, value in environment.items() if name.startswith(AT_THE_START)}


class Forks:
    """The process that forks, and how to ask it for a call."""

    def __init__(self, script: pathlib.Path, environment: Mapping[str, str]) -> None:
        self.start = of_the_start(environment)
        self._socket, theirs = socket.socketpair()
        with theirs:
            argv = [sys.executable, __file__, str(script), str(theirs.fileno())]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                argv, env=dict(environment), pass_fds=[theirs.fileno()], stdin=pipe, stdout=pipe, stderr=pipe
            )

    def run(
        self,
        arguments: Sequence[str | bytes],
        *,
        stdin: bytes,
        environment: Mapping[str, str],
        cwd: pathlib.Path,
        timeout: float = 60,
    ) -> Completed:
        """One call, as `subprocess.run` makes it.

        Args:
            arguments: the words after the program's name.
            stdin: what it reads.
            environment: its variables; those that an interpreter reads when it starts are the ones of these forks.
            cwd: the folder that it runs in.
            timeout: seconds after which it is killed.

        Raises:
            TimeoutExpired: it did not end in time.
        """
        assert of_the_start(environment) == self.start
        words = [os.fsdecode(each) for each in arguments]
        given, out, err = os.pipe(), os.pipe(), os.pipe()
        question = json.dumps([words, dict(environment), str(cwd)]).encode()
        socket.send_fds(self._socket, [len(question).to_bytes(8, "big")], [given[0], out[1], err[1]])
        self._socket.sendall(question)
        for descriptor in (given[0], out[1], err[1]):
            os.close(descriptor)
        process = self._number()
        late = threading.Event()

        def kill() -> None:
            late.set()
            os.kill(process, signal.SIGKILL)

        killing = threading.Timer(timeout, kill)
        killing.start()
        said = _talk(given[1], stdin, out[0], err[0])
        code = self._number()
        killing.cancel()
        if late.is_set():
            raise subprocess.TimeoutExpired(words, timeout, *said)
        return Completed(words, code, *said)

    def close(self) -> None:
        """End the process that forks."""
        self._socket.close()
        _, said = self._process.communicate(timeout=60)
        assert (self._process.returncode, said) == (0, b"")

    def _number(self) -> int:
        received = self._socket.recv(8, socket.MSG_WAITALL)
        assert len(received) == 8, self._process.communicate()
        return int.from_bytes(received, "big", signed=True)


def _talk(given: int, stdin: bytes, *streams: int) -> list[bytes]:
    """Write what a call reads, and return what it writes until it has closed its streams."""
    said: dict[int, bytes] = {}

    def read(stream: int) -> None:
        with open(stream, "rb") as source:
            said[stream] = source.read()

    readers = [threading.Thread(target=read, args=(stream,)) for stream in streams]
    for each in readers:
        each.start()
    # Who ends without reading has its reasons, and its exit code.
    with contextlib.suppress(BrokenPipeError), open(given, "wb") as sink:
        sink.write(stdin)
    for each in readers:
        each.join()
    return [said[stream] for stream in streams]


def _modules(package: str) -> Iterator[str]:
    for each in pkgutil.iter_modules(importlib.import_module(package).__path__, f"{package}."):
        if not each.name.startswith(LEFT_OUT):
            yield each.name
            if each.ispkg:
                yield from _modules(each.name)


def serve(script: str, connection: socket.socket) -> None:
    """Fork for every call that is asked for, until nobody can ask any more."""
    sys.path[0] = os.path.dirname(script)
    for name in _modules("orchestrator"):
        importlib.import_module(name)
    while True:
        head, streams, _, _ = socket.recv_fds(connection, 8, 3)
        if not head:
            return
        words, environment, cwd = json.loads(connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL))
        process = os.fork()
        if process == 0:
            connection.close()
            _become(script, words, environment, cwd, streams)
        for stream in streams:
            os.close(stream)
        connection.sendall(process.to_bytes(8, "big", signed=True))
        _, status = os.waitpid(process, 0)
        connection.sendall(os.waitstatus_to_exitcode(status).to_bytes(8, "big", signed=True))


def _become(
    script: str, words: Sequence[str], environment: Mapping[str, str], cwd: str, streams: Sequence[int]
) -> NoReturn:
    """Be the call, and end as the interpreter would."""
    code = 1
    try:
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [script, *words]
        runpy.run_path(script, run_name="__main__")
    except SystemExit as ended:
        code = ended.code if isinstance(ended.code, int) else int(ended.code is not None)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(code)


if __name__ == "__main__":
    serve(sys.argv[1], socket.socket(fileno=int(sys.argv[2])))
