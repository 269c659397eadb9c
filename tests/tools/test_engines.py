"""The engines beside which a durable route is measured are programs that answer each round, and are pinned."""

from __future__ import annotations

import ast
import pathlib
import re
import sys

import pytest

from tools.benchmarks import engines, harness
from tools.benchmarks.engines import Engine
from tools.benchmarks.table import Bound

LISTENING = "import sys\nfor line in sys.stdin: open(sys.argv[1], 'a').write(line); print('done', flush=True)"


def engine(program: str) -> Engine:
    return Engine("Fake engine", Bound(1, 2), program)


def test_an_engine_makes_a_round_of_steps_each_time(tmp_path: pathlib.Path) -> None:
    with engines.running(engine(LISTENING), pathlib.Path(sys.executable), tmp_path) as steps:
        steps()
        steps()
    assert (tmp_path / "Fake.db").read_text().split() == [str(engines.STEPS_A_ROUND)] * 2


def test_an_engine_that_ends_early_is_no_figure(tmp_path: pathlib.Path) -> None:
    with (
        engines.running(engine("input(); print('no', flush=True)"), pathlib.Path(sys.executable), tmp_path) as steps,
        pytest.raises(harness.CommandFailed, match="Fake engine answered 'no"),
    ):
        steps()


@pytest.mark.parametrize("package", ["dbos", "langgraph", "langgraph-checkpoint-sqlite", "apache-burr"])
def test_the_engines_are_pinned_with_hashes(package: str) -> None:
    pinned = re.search(rf"^{package}==\S+ \\\n    --hash=sha256:", engines.LOCK.read_text("utf-8"), re.MULTILINE)
    assert pinned is not None


@pytest.mark.parametrize("each", engines.ENGINES, ids=lambda each: each.name.split()[0])
def test_the_program_of_an_engine_imports_that_engine_alone(each: Engine) -> None:
    found = [node for node in ast.walk(ast.parse(each.program)) if isinstance(node, ast.Import | ast.ImportFrom)]
    modules = {node.module or "" if isinstance(node, ast.ImportFrom) else node.names[0].name for node in found}
    roots = {module.partition(".")[0] for module in modules}
    assert roots - sys.stdlib_module_names == {each.name.split()[0].lower()}
