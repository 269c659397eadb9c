"""A process that works on a database until it has done its count, or is killed.

It writes `try ID`, does the step, and writes `done ID MILLISECONDS DECISION`; a line comes out whole or not at all.
It begins when a line comes in.
"""

from __future__ import annotations

import os
import pathlib
import sys
import time

from tests.drills import field


def main() -> None:
    """Take path, name, number of groups and count from the command line."""
    path, name, groups, count = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
    with field.opened(path) as context:
        say("ready")
        sys.stdin.readline()
        for number in range(count):
            request = f"{name}-{number}"
            say(f"try {request}")
            begun = time.monotonic()
            answer = field.call(context, "route", **arguments(request, groups))
            say(f"done {request} {(time.monotonic() - begun) * 1000:.1f} {answer['decision_id']}")


def arguments(request: str, groups: int) -> dict[str, object]:
    """The report that a request id stands for, always the same."""
    number = sum(request.encode())
    return field.partial(f"G{number % groups}", request_id=request, summary=request, details={"files": [request]})


def say(line: str) -> None:
    """Write a line at once."""
    os.write(1, f"{line}\n".encode())


if __name__ == "__main__":
    main()
