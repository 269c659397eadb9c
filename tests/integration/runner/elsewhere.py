"""Acts of a user whom file modes bind: another one where the tests run as root."""

from __future__ import annotations

import contextlib
import json
import os
import pathlib
import shutil
import tempfile
from collections.abc import Callable, Iterator
from typing import Any, NoReturn

NOBODY = 65534


@contextlib.contextmanager
def folder() -> Iterator[pathlib.Path]:
    """A folder that everybody can enter, which those of pytest are not."""
    path = pathlib.Path(tempfile.mkdtemp())
    path.chmod(0o755)
    yield path
    for each in (path, *path.rglob("*")):
        if not each.is_symlink():
            each.chmod(0o700)
    shutil.rmtree(path)


def as_another(act: Callable[[], object]) -> Any:
    """What a function returns in a fork, as JSON has it; an error as ``[code or type, message]``."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        _answer(act, writing)
    os.close(writing)
    with open(reading, encoding="utf-8") as stream:
        answer = json.loads(stream.read())
    os.waitpid(child, 0)
    return answer


def _answer(act: Callable[[], object], writing: int) -> NoReturn:
    try:
        if os.geteuid() == 0:
            os.setgroups([])
            os.setgid(NOBODY)
            os.setuid(NOBODY)
        answer = act()
    except BaseException as error:
        answer = [getattr(error, "code", type(error).__name__), str(error)]
    os.write(writing, json.dumps(answer).encode())
    os._exit(0)
