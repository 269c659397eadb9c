"""A process that does, for some seconds, what one of several kinds of callers does in one busy session.

It begins when a line comes in, and writes at its end how many verdicts it asked for, and how each came out.
"""

from __future__ import annotations

import collections
import json
import pathlib
import random
import sys
import time

from orchestrator.app.kernel.context import Context
from orchestrator.errors import OrchestratorError
from tests.drills import field

KINDS = ("validates", "reports", "strays", "claims")


def main() -> None:
    """Take path, name, number of groups and seconds from the command line."""
    path, name, groups, seconds = pathlib.Path(sys.argv[1]), sys.argv[2], int(sys.argv[3]), float(sys.argv[4])
    chance, came = random.Random(name), collections.Counter[str]()  # noqa: S311 - a drill that can be repeated
    with field.opened(path) as context:
        print("ready", flush=True)
        sys.stdin.readline()
        ends = time.monotonic() + seconds
        # Each kind is somebody's first call.
        kind = KINDS[sum(name.encode()) % len(KINDS)]
        while time.monotonic() < ends:
            came[f"{kind} {once(context, kind, f'G{chance.randrange(groups)}')}"] += 1
            kind = chance.choice(KINDS)
    print(json.dumps(came), flush=True)


def once(context: Context, kind: str, group: str) -> str:
    """One call, and how it came out: an answer in a word, or the code of a refusal."""
    try:
        if kind == "validates":
            return str(field.call(context, "validate", session_id=field.SESSION, record=True)["verdict"])
        if kind == "reports":
            return str(field.call(context, "route", **field.partial(group))["action"])
        if kind == "strays":
            stray = {"session_id": field.SESSION, "current_agent": "qa_expert", "status": "PASS", "group_id": group}
            return str(field.call(context, "route", **stray)["action"])
        return str(field.call(context, "task claim", session_id=field.SESSION, agent_id="developer")["success"])
    except OrchestratorError as problem:
        return problem.code


if __name__ == "__main__":
    main()
