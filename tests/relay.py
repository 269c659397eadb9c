"""The body of a stand-in for a script: hands a call over to `tests.forks`, and ends as it does.

It is copied into the stand-in, and imports next to nothing.
"""

from __future__ import annotations

import os
import signal
import socket
import sys

PASSED_ON = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGQUIT, signal.SIGUSR1)


def main(address: str, script: str, start: dict[str, str]) -> None:
    """Be the script where this interpreter was started otherwise than the one that forks, else have it forked."""
    names = ("PYTHON", "LC_", "LANG", "TZ")
    mine = {
        name: value
        for name, value in os.environ.items()
        if name.startswith(names) and (value or not name.startswith("PYTHON"))
    }
    if mine != start:
        os.execv(sys.executable, [sys.executable, script, *sys.argv[1:]])  # noqa: S606 - there is no shell
    with socket.socket(socket.AF_UNIX) as connection:
        connection.connect(address)
        ended = hand_over(connection)
    if ended < 0:
        signal.signal(-ended, signal.SIG_DFL)
        os.kill(os.getpid(), -ended)
    os._exit(ended)


def hand_over(connection: socket.socket) -> int:
    """Give the call away with all that belongs to it; return its exit code, or the negative number of its signal."""
    process, early = 0, list[int]()

    def pass_on(received: int, _: object) -> None:
        if process:
            os.kill(process, received)
        else:
            early.append(received)

    # Before anything is handed over: from then on the fork speaks, and whoever hears it may send a signal.
    for each in PASSED_ON:
        if signal.getsignal(each) is not signal.SIG_IGN:
            signal.signal(each, pass_on)
    question = repr([sys.argv[1:], dict(os.environ), os.getcwd()]).encode()
    socket.send_fds(connection, [len(question).to_bytes(8, "big")], [0, 1, 2])
    connection.sendall(question)
    process = number(connection)
    for received in early:
        os.kill(process, received)
    nothing = os.open(os.devnull, os.O_RDWR)
    for stream in range(3):
        os.dup2(nothing, stream)
    return number(connection)


def number(connection: socket.socket) -> int:
    """The next number that the server tells."""
    return int.from_bytes(connection.recv(8, socket.MSG_WAITALL), "big", signed=True)
