"""Read with a second connection in a thread, while this one goes on with something else."""

from __future__ import annotations

import contextlib
import sqlite3
import threading
from collections.abc import Callable, Iterator

_WAIT_S = 0.02

Read = Callable[[sqlite3.Connection], None]


@contextlib.contextmanager
def run(read: Read, connection: sqlite3.Connection, second: sqlite3.Connection | None) -> Iterator[None]:
    """Call `read` with the second connection while the block runs, and wait for it; with the first one without it.

    Args:
        read: uses no connection but the one that it is given.
        second: threads may share it; None, and `read` is called with the first one, before the block.

    Raises:
        Exception: what `read` raised. Where the block fails, `read` is interrupted and its own error is lost.
    """
    if second is None:
        read(connection)
        yield
        return
    errors: list[BaseException] = []

    def work() -> None:
        try:
            read(second)
        except BaseException as error:
            errors.append(error)

    thread = threading.Thread(target=work)
    thread.start()
    try:
        yield
    except BaseException:
        # What is interrupted is one statement; others may follow.
        while thread.is_alive():
            second.interrupt()
            thread.join(_WAIT_S)
        raise
    finally:
        thread.join()
    if errors:
        raise errors[0]
