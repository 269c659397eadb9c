"""A script without the start of an interpreter: every call is a fork of one process that has started already.

A call is a process of its own still, with its own streams, folder, environment and exit code; what it saves is the
time in which Python starts and imports. What only a new interpreter can have (another locale, another encoding, other
options of Python's) is refused, and what a fresh start itself promises is for the script itself to test.

`Forks.run` makes a call and waits for it. Where a program is to be started in any other way (by the product, by a
client, to be talked to and sent signals), `Forks.stand_in` gives it a file to start in the script's place.
"""

from __future__ import annotations

import ast
import contextlib
import gc
import importlib
import os
import pathlib
import pkgutil
import runpy
import selectors
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import NoReturn

Completed = subprocess.CompletedProcess[bytes]

AT_THE_START = ("PYTHON", "LC_", "LANG", "TZ")
"""How the variables begin that an interpreter reads once, when it starts."""

PRODUCT = "orchestrator"
LEFT_OUT = ("orchestrator.doors.cli.typer_parser", "orchestrator.runner.executors")
"""What is loaded by the calls that need it: Typer looks at the terminal when it is loaded."""

RELAY = pathlib.Path(__file__).with_name("relay.py")


def of_the_start(environment: Mapping[str, str]) -> dict[str, str]:
    """The variables that an interpreter reads when it starts; an empty one of Python's own says nothing."""
    return {
        name: value
        for name, value in environment.items()
        if name.startswith(AT_THE_START) and (value or not name.startswith("PYTHON"))
    }


class Forks:
    """The process that forks, and how to ask it for a call.

    Args:
        script: what every call runs.
        environment: the variables that the interpreter starts with.
        loaded: what is loaded beforehand; of the product all modules.
    """

    def __init__(
        self, script: pathlib.Path, environment: Mapping[str, str], loaded: Sequence[str] = (PRODUCT,)
    ) -> None:
        self.start = of_the_start(environment)
        self.script = script
        self._folder = pathlib.Path(tempfile.mkdtemp())
        self._address = str(self._folder / "forks")
        with socket.socket(socket.AF_UNIX) as listener:
            listener.bind(self._address)
            listener.listen(100)
            argv = [sys.executable, __file__, str(script), str(listener.fileno()), *loaded]
            pipe = subprocess.PIPE
            self._process = subprocess.Popen(
                argv, env=dict(environment), pass_fds=[listener.fileno()], stdin=pipe, stdout=pipe, stderr=pipe
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
        with socket.socket(socket.AF_UNIX) as connection:
            connection.connect(self._address)
            question = repr([words, dict(environment), str(cwd)]).encode()
            socket.send_fds(connection, [len(question).to_bytes(8, "big")], [given[0], out[1], err[1]])
            connection.sendall(question)
            for descriptor in (given[0], out[1], err[1]):
                os.close(descriptor)
            process = self._number(connection)
            late = threading.Event()

            def kill() -> None:
                late.set()
                os.kill(process, signal.SIGKILL)

            killing = threading.Timer(timeout, kill)
            killing.start()
            said = _talk(given[1], stdin, out[0], err[0])
            code = self._number(connection)
            killing.cancel()
        if late.is_set():
            raise subprocess.TimeoutExpired(words, timeout, *said)
        return Completed(words, code, *said)

    def stand_in(self, path: pathlib.Path) -> pathlib.Path:
        """Write a script that does what `script` does, in a fork; where it cannot be one, it is the script itself.

        Whoever starts it has a small process that hands its streams on, passes signals on, and ends as the fork does;
        the fork is in a session of its own, so that there is no terminal, and is killed soon after that process is.
        """
        settings = f"ADDRESS, SCRIPT, START = {self._address!r}, {str(self.script)!r}, {self.start!r}\n"
        path.write_text(f"#!{sys.executable}\n{RELAY.read_text('utf-8')}\n{settings}main(ADDRESS, SCRIPT, START)\n")
        path.chmod(0o755)
        return path

    def close(self) -> None:
        """End the process that forks."""
        _, said = self._process.communicate(timeout=60)
        shutil.rmtree(self._folder)
        assert (self._process.returncode, said) == (0, b""), said.decode()

    def _number(self, connection: socket.socket) -> int:
        received = connection.recv(8, socket.MSG_WAITALL)
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


def _load(names: Sequence[str]) -> None:
    for name in names:
        for module in [name, *(_modules(name) if name == PRODUCT else ())]:
            importlib.import_module(module)
    # What is there now stays; no fork looks through it for garbage.
    gc.freeze()


class Server:
    """Forks for every call that is asked for, until its standard input ends."""

    def __init__(self, script: str, listener: socket.socket) -> None:
        self._script = script
        self._listener = listener
        self._running: dict[int, socket.socket] = {}
        self._woken, self._waker = socket.socketpair()
        self._waker.setblocking(False)
        self._selector = selectors.DefaultSelector()

    def serve(self) -> None:
        """Take calls; tell who asked the number of its process, and then how it ended."""
        signal.set_wakeup_fd(self._waker.fileno())
        signal.signal(signal.SIGCHLD, lambda *_: None)
        self._selector.register(sys.stdin, selectors.EVENT_READ, None)
        self._selector.register(self._listener, selectors.EVENT_READ, self._take)
        self._selector.register(self._woken, selectors.EVENT_READ, self._reap)
        while True:
            for key, _ in self._selector.select():
                what: Callable[[], None] | None = key.data
                if what is None:
                    return
                what()

    def _take(self) -> None:
        connection, _ = self._listener.accept()
        head, streams, _, _ = socket.recv_fds(connection, 8, 3)
        words, environment, cwd = ast.literal_eval(
            connection.recv(int.from_bytes(head, "big"), socket.MSG_WAITALL).decode()
        )
        process = os.fork()
        if process == 0:
            self._leave(connection)
            _become(self._script, words, environment, cwd, streams)
        for stream in streams:
            os.close(stream)
        self._running[process] = connection
        # Who asked and is gone wants it no more.
        self._selector.register(connection, selectors.EVENT_READ, lambda: self._kill(process))
        _tell(connection, process)

    def _leave(self, connection: socket.socket) -> None:
        """Keep nothing of this process in a fork."""
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        self._selector.close()
        for each in (connection, self._listener, self._woken, self._waker, *self._running.values()):
            each.close()

    def _kill(self, process: int) -> None:
        if process in self._running:
            self._selector.unregister(self._running[process])
            for kill in (os.killpg, os.kill):
                # It may not lead its group yet.
                with contextlib.suppress(ProcessLookupError):
                    kill(process, signal.SIGKILL)

    def _reap(self) -> None:
        self._woken.recv(4096)
        for process in [*self._running]:
            ended, status = os.waitpid(process, os.WNOHANG)
            if ended:
                with self._running.pop(process) as connection:
                    if connection in self._selector.get_map():
                        self._selector.unregister(connection)
                    _tell(connection, os.waitstatus_to_exitcode(status))


def _tell(connection: socket.socket, number: int) -> None:
    with contextlib.suppress(OSError):
        connection.sendall(number.to_bytes(8, "big", signed=True))


def _become(
    script: str, words: Sequence[str], environment: Mapping[str, str], cwd: str, streams: Sequence[int]
) -> NoReturn:
    """Be the call, and end as the interpreter would."""
    code = 1
    try:
        os.setsid()
        for place, stream in enumerate(streams):
            os.dup2(stream, place)
            os.close(stream)
        os.chdir(cwd)
        os.environ.clear()
        os.environ.update(environment)
        sys.argv = [script, *words]
        runpy.run_path(script, run_name="__main__")
        code = 0
    except SystemExit as ended:
        code = _code(ended)
    except BaseException:
        sys.excepthook(*sys.exc_info())
    finally:
        sys.stdout.flush()
        os._exit(code)


def _code(ended: SystemExit) -> int:
    if ended.code is None or isinstance(ended.code, int):
        return ended.code or 0
    sys.stderr.write(f"{ended.code}\n")
    return 1


def _serve_below(script: str, listener: int, *loaded: str) -> NoReturn:
    """Let a child be the server, and end as it does.

    It holds the streams of calls for a moment, and what is supervised ends every child of its runner that does.
    """
    server = os.fork()
    if server:
        os.close(listener)
        os._exit(os.waitstatus_to_exitcode(os.waitpid(server, 0)[1]) & 0xFF)
    # Neither these tests' modules nor those beside the script are what is loaded, as under `-P`.
    del sys.path[0]
    _load(loaded)
    Server(script, socket.socket(fileno=listener)).serve()
    sys.exit()


if __name__ == "__main__":
    _serve_below(sys.argv[1], int(sys.argv[2]), *sys.argv[3:])
