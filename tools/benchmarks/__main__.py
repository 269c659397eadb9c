"""Print the table of speed in Markdown: `python -m tools.benchmarks [--rounds N] [--rows 1,2] [--steps N]`.

Exit 1 when a figure misses what it must reach.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterable

from tools.benchmarks import harness, rows, table, verified


def numbers(text: str) -> set[int]:
    """Row numbers between commas."""
    known = {row.number for row in rows.ROWS}
    chosen = {int(part) for part in text.split(",")}
    if not chosen <= known:
        raise argparse.ArgumentTypeError(f"there are rows {', '.join(map(str, sorted(known)))}")
    return chosen


def steps(text: str) -> int:
    """How many steps; each four are a finished group."""
    number = int(text.replace("_", ""))
    if number < 4 or number % 4:
        raise argparse.ArgumentTypeError("it takes a multiple of four")
    return number


def figures(row: table.Row, rounds: int) -> Iterable[table.Figure]:
    """A row's figures; a command that fails is named in its row and does not stop the others."""
    try:
        yield from row.measure(rounds)
    except harness.CommandFailed as failure:
        yield table.Figure(row.title, "", None, note=str(failure))


def main() -> int:
    """Measure and print."""
    parser = argparse.ArgumentParser(prog="python -m tools.benchmarks", description="Print the table of speed.")
    parser.add_argument("--rounds", type=int, default=15, help="at least 11; the least time of all counts")
    parser.add_argument("--rows", type=numbers, help="only these, between commas")
    parser.add_argument(
        "--steps", type=steps, help="how many steps row 11 verifies, such as 1_000_000; 100_000 where left out"
    )
    options = parser.parse_args()
    if options.steps is not None:
        verified.STEPS, verified.STEPS_TOLD = options.steps, min(options.steps, verified.STEPS_TOLD)
    print(f"Measured {table.machine()}; least of {options.rounds} rounds.\n\n{table.HEAD}", flush=True)
    failed = False
    for row in rows.ROWS:
        if options.rows is None or row.number in options.rows:
            for figure in figures(row, options.rounds):
                print(table.line(row.number, figure), flush=True)
                failed = failed or table.missed(figure)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
