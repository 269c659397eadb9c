"""Row 6: a durable route beside one step of three engines that keep what happened, each as it is delivered.

They are installed into an environment of their own, inside the one that measures, when the row is first asked for.
"""

from __future__ import annotations

import contextlib
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from typing import NamedTuple

from tools.benchmarks import harness, mix
from tools.benchmarks.table import Bound, Figure

SESSION = "S1"
STEPS_A_ROUND = 100
LOCK = pathlib.Path(__file__).parents[2] / "requirements-engines.lock"
PLACE = pathlib.Path(sys.prefix) / "engines"


class Engine(NamedTuple):
    """An engine, and the program that makes as many steps as each line of its input says and answers `done`."""

    name: str
    bound: Bound
    program: str


DBOS = """
import sys
from dbos import DBOS

DBOS(config={"name": "steps", "system_database_url": f"sqlite:///{sys.argv[1]}", "log_level": "ERROR"})

@DBOS.step()
def step(number):
    return {"next_agent": "qa_expert", "action": "spawn", "number": number}

@DBOS.workflow()
def steps(count):
    for number in range(count):
        step(number)

DBOS.launch()
for line in sys.stdin:
    steps(int(line))
    print("done", flush=True)
DBOS.destroy()
"""
LANGGRAPH = """
import sys
from typing import TypedDict
from langgraph.checkpoint.sqlite import SqliteSaver
from langgraph.graph import END, START, StateGraph

class State(TypedDict):
    number: int
    until: int

built = StateGraph(State)
built.add_node("step", lambda state: {"number": state["number"] + 1})
built.add_edge(START, "step")
built.add_conditional_edges("step", lambda state: END if state["number"] >= state["until"] else "step")
with SqliteSaver.from_conn_string(sys.argv[1]) as saver:
    graph = built.compile(checkpointer=saver)
    for thread, line in enumerate(sys.stdin):
        options = {"configurable": {"thread_id": str(thread)}, "recursion_limit": int(line) + 2}
        graph.invoke({"number": 0, "until": int(line)}, options)
        print("done", flush=True)
"""
BURR = """
import sys
from burr.core import ApplicationBuilder, action
from burr.core.persistence import SQLitePersister

@action(reads=["number"], writes=["number"])
def step(state):
    return state.update(number=state["number"] + 1)

saver = SQLitePersister.from_values(db_path=sys.argv[1], table_name="steps")
saver.initialize()
builder = ApplicationBuilder().with_actions(step=step).with_transitions(("step", "step"))
builder = builder.with_state(number=0).with_entrypoint("step").with_identifiers(app_id="steps", partition_key="one")
app = builder.with_state_persister(saver).build()
for line in sys.stdin:
    for _ in range(int(line)):
        app.step()
    print("done", flush=True)
saver.cleanup()
"""
ENGINES = (
    Engine("DBOS step, its SQLite", Bound(5, 10, at_least=True), DBOS),
    Engine("LangGraph node, SqliteSaver", Bound(2, 4, at_least=True), LANGGRAPH),
    Engine("Burr step, SQLitePersister", Bound(2, 3, at_least=True), BURR),
)


def installed() -> pathlib.Path:
    """The interpreter that has the engines; it is made anew where the lock file says something else.

    Raises:
        harness.CommandFailed: they cannot be installed, as without a network.
    """
    python, mark = PLACE / "bin" / "python", PLACE / LOCK.name
    if not mark.is_file() or mark.read_bytes() != LOCK.read_bytes():
        harness.call((sys.executable, "-m", "venv", "--clear", PLACE), LOCK.parent, os.environ)
        pip = (python, "-m", "pip", "--quiet", "--disable-pip-version-check", "--no-input", "install")
        harness.call((*pip, "--require-hashes", "-r", LOCK), LOCK.parent, os.environ)
        shutil.copyfile(LOCK, mark)
    return python


@contextlib.contextmanager
def running(engine: Engine, python: pathlib.Path, folder: pathlib.Path) -> Iterator[harness.Case]:
    """A case that makes a round of steps in a process of the engine's own, started before and ended after."""
    argv = [python, "-c", engine.program, folder / f"{engine.name.split()[0]}.db"]
    with subprocess.Popen(argv, cwd=folder, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        asked, answers = process.stdin, process.stdout
        assert asked is not None
        assert answers is not None

        def steps() -> None:
            asked.write(f"{STEPS_A_ROUND}\n")
            asked.flush()
            answer = answers.readline()
            if answer != "done\n":
                raise harness.CommandFailed(f"{engine.name} answered {answer!r}")

        yield steps
        asked.close()


def steps(rounds: int) -> Iterator[Figure]:
    """Row 6: how many routes are decided and written, synced to the disk, in the time of as many steps."""
    python = installed()
    calls = mix.calls(SESSION, mix.groups_for(STEPS_A_ROUND * (rounds + 1)))
    database = mix.content([SESSION], len(calls) // len(mix.STEPS))
    with tempfile.TemporaryDirectory() as name, contextlib.ExitStack() as stack:
        folder = pathlib.Path(name)
        context = mix.open_file(mix.write(folder / "ours.db", database), "FULL")
        cases = {"ours": harness.loop(lambda number: mix.route(context, calls[number]), STEPS_A_ROUND)}
        cases |= {each.name: stack.enter_context(running(each, python, folder)) for each in ENGINES}
        seconds = harness.interleaved(cases, rounds)
    for each in ENGINES:
        rates = [f"{STEPS_A_ROUND / seconds[name]:.0f}" for name in ("ours", each.name)]
        note = f"{rates[0]} routes a second against {rates[1]} steps"
        ratio = seconds[each.name] / seconds["ours"]
        yield Figure("durable `route` in process, FULL", each.name, ratio, each.bound, note)
