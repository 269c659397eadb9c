"""Take each guard of the program away in turn, and see whether a test fails: `python -m tools.mutants`.

Exit 1 when a mutant survived, or could not be judged.
"""

from __future__ import annotations

import argparse
import fnmatch
import pathlib
import signal
import sys
import time
from collections.abc import Callable, Mapping, Sequence

from tools.mutants import catalogue, hosting, reach, redundant, table
from tools.mutants.catalogue import Mutant
from tools.mutants.hosting import Outcome, Trial
from tools.mutants.journal import Journal
from tools.mutants.table import RESULTS, Verdict


def kinds(text: str) -> list[str]:
    """Kinds between commas."""
    chosen = text.split(",")
    if not set(chosen) <= set(catalogue.KINDS):
        raise argparse.ArgumentTypeError(f"there are {', '.join(catalogue.KINDS)}")
    return chosen


def positive(text: str) -> int:
    """A whole number from 1."""
    if not text.isdecimal() or int(text) < 1:
        raise argparse.ArgumentTypeError("a whole number from 1")
    return int(text)


def arguments() -> argparse.Namespace:
    """What the call asks for."""
    parser = argparse.ArgumentParser(prog="python -m tools.mutants", description="Does a test notice a missing guard?")
    parser.add_argument("--kind", type=kinds, help=f"only these, between commas: {', '.join(catalogue.KINDS)}")
    parser.add_argument("--name", nargs="+", metavar="PATTERN", help="only these, such as 'guard:app.session.moving:*'")
    parser.add_argument("--sample", type=positive, metavar="N", help="N mutants, evenly spread; the same each time")
    parser.add_argument("--jobs", type=positive, default=1, help="mutants at a time (1)")
    parser.add_argument("--timeout", type=positive, default=120, metavar="SECONDS", help="for one test (120)")
    parser.add_argument("--tests", nargs="+", metavar="FILE", help="only the tests of these files")
    parser.add_argument("--markdown", type=pathlib.Path, metavar="FILE", help=f"the results ({RESULTS.name})")
    parser.add_argument("--correct", action="store_true", help="put these results among the older ones")
    parser.add_argument("--known", action="store_true", help="only write what is known from runs that were stopped")
    parser.add_argument("--list", action="store_true", help="only name the mutants")
    return parser.parse_args()


def chosen(mutants: Sequence[Mutant], options: argparse.Namespace) -> list[Mutant]:
    """The mutants that the options leave."""
    found = [mutant for mutant in mutants if options.kind is None or mutant.kind in options.kind]
    if options.name is not None:
        found = [mutant for mutant in found if any(fnmatch.fnmatchcase(mutant.name, each) for each in options.name)]
    return spread(found, options.sample) if options.sample else found


def spread(mutants: Sequence[Mutant], count: int) -> list[Mutant]:
    """So many of them, evenly spread; all where there are not so many."""
    if count >= len(mutants):
        return list(mutants)
    return [mutants[place * len(mutants) // count] for place in range(count)]


def progress(text: str) -> None:
    """Show how far it is, where somebody looks on."""
    if sys.stderr.isatty():
        print(f"\r\x1b[K{text}", end="", file=sys.stderr, flush=True)


def ordered(tests: Sequence[str], mutant: Mutant, before: Mapping[tuple[str, str], set[str]]) -> list[str]:
    """The tests, with what noticed the mutant before at the front."""
    known = noticed(mutant, before)
    return sorted(tests, key=lambda test: test not in known)


def noticed(mutant: Mutant, before: Mapping[tuple[str, str], set[str]]) -> set[str]:
    """What noticed a mutant before, by what it takes away."""
    return before.get((mutant.kind, mutant.what.replace("|", "/")), set())


def weighed(verdict: Verdict) -> Verdict:
    """The verdict, once it is known whether the guard stands behind another one."""
    unnoticed = verdict.lives or verdict.outcome.word == hosting.UNTRIED
    reason = redundant.reason(verdict.mutant) if unnoticed else ""
    return verdict._replace(outcome=Outcome(hosting.REDUNDANT, "", reason)) if reason else verdict


def judge(mutants: Sequence[Mutant], options: argparse.Namespace) -> list[Verdict]:
    """Try every mutant; tell of each that is not simply noticed as soon as it is known.

    What noticed a mutant the last time is tried before it is asked what else may.
    """
    journal = Journal(reach.verdicts(options.tests or ()))
    left = [mutant for mutant in mutants if journal.of(mutant) is None]
    if len(left) < len(mutants):
        print(f"{len(mutants) - len(left)} of {len(mutants)} are known from before", flush=True)
    if options.known:
        untried = Outcome(hosting.UNTRIED)
        return [weighed(Verdict(mutant, journal.of(mutant) or untried)) for mutant in mutants]
    before = {} if options.tests else table.noticed(RESULTS)
    new = heard(left, again(left, before), options, journal.add, only_killed=True)
    left = [mutant for mutant in left if mutant not in new]
    if left:
        progress("recording which tests reach what ...")
        rows = any(mutant.kind == reach.RELATION for mutant in left)
        known = reach.recorded(options.tests or (), catalogue.everything(), rows=rows)
        for test in known.failing:
            print(f"left out, as it fails without a mutant: {test}", flush=True)
        # What stands behind another guard survives every test and takes minutes, so that it comes last.
        left.sort(key=lambda each: bool(redundant.reason(each)))
        tried = [Trial(mutant.name, ordered(known.tests(mutant), mutant, before)) for mutant in left]
        new |= heard(left, tried, options, journal.add)
    earlier = ((mutant, journal.of(mutant)) for mutant in mutants)
    return [new[mutant] if outcome is None else weighed(Verdict(mutant, outcome)) for mutant, outcome in earlier]


def again(mutants: Sequence[Mutant], before: Mapping[tuple[str, str], set[str]]) -> list[Trial]:
    """What noticed each mutant the last time; first all of these tests without a mutant."""
    there = {file for file in {test.partition("::")[0] for tests in before.values() for test in tests}
             if (catalogue.ROOT / file).is_file()}  # fmt: skip
    tests = {
        mutant.name: [test for test in sorted(noticed(mutant, before)) if test.partition("::")[0] in there]
        for mutant in mutants
    }
    tried = [Trial(name, known, lenient=True) for name, known in tests.items() if known]
    every = sorted({test for trial in tried for test in trial.tests or ()})
    return [Trial("", every, lenient=True), *tried] if tried else []


def heard(
    mutants: Sequence[Mutant],
    tried: Sequence[Trial],
    options: argparse.Namespace,
    keep: Callable[[Mutant, Outcome], None],
    *,
    only_killed: bool = False,
) -> dict[Mutant, Verdict]:
    """What becomes of the trials.

    Args:
        only_killed: what no test notices is not known yet.
    """
    by_name = {mutant.name: mutant for mutant in mutants}
    found: dict[Mutant, Verdict] = {}
    failing: set[str] = set()

    def told(place: int, outcome: Outcome) -> None:
        name = tried[place].name
        if not name:
            failing.update(outcome.test.splitlines())
        elif outcome.test not in failing and (outcome.word == hosting.KILLED or not only_killed):
            mutant = by_name[name]
            keep(mutant, outcome)
            found[mutant] = weighed(Verdict(mutant, outcome))
            progress("")
            if outcome.word != hosting.KILLED:
                print(table.line(found[mutant]), flush=True)
        progress(f"{len(found)} of {len(mutants)} {name}")

    if tried:
        hosting.run(tried, told, jobs=options.jobs, timeout=options.timeout)
    progress("")
    return found


def stop(*_: object) -> None:
    """Whoever is asked to stop stops the forks as well."""
    raise hosting.Stop("stopped")


def main() -> int:
    """Judge and print."""
    options = arguments()
    everything = catalogue.everything()
    mutants = chosen(everything, options)
    if options.list:
        print("\n".join(f"{mutant.name}  {mutant.what}" for mutant in mutants))
        return 0
    signal.signal(signal.SIGTERM, stop)
    started = time.monotonic()
    asked = tuple(options.tests or ())
    verdicts = [verdict._replace(asked=asked) for verdict in judge(mutants, options)]
    print(f"\n{table.summary(verdicts)}\n\n{(time.monotonic() - started) / 60:.0f} minutes")
    whole = options.name is None and options.sample is None and options.tests is None
    if options.correct:
        table.correct(options.markdown or RESULTS, verdicts, everything)
    elif options.markdown or whole:
        table.write(options.markdown or RESULTS, verdicts)
    return 0 if all(verdict.is_well for verdict in verdicts) else 1


if __name__ == "__main__":
    sys.exit(main())
