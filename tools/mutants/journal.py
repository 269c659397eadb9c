"""What became of each mutant, kept as soon as it is known, so that a run which was interrupted is gone on with."""

from __future__ import annotations

import contextlib
import json
import pathlib

from tools.mutants import hosting
from tools.mutants.catalogue import Mutant
from tools.mutants.hosting import Outcome

CERTAIN = (hosting.KILLED, hosting.SURVIVED, hosting.UNREACHED)
"""Only these are kept: a timeout or a broken trial may be the machine's doing, and is tried again."""


class Journal:
    """The verdicts of one state of the sources: a file of one line of JSON for each.

    A line that was cut, as its writer was killed, counts for nothing.
    """

    def __init__(self, file: pathlib.Path) -> None:
        self._file = file
        self._known: dict[tuple[str, str], Outcome] = {}
        for line in file.read_text("utf-8").splitlines() if file.exists() else ():
            with contextlib.suppress(json.JSONDecodeError):
                name, what, *outcome = json.loads(line)
                self._known[name, what] = Outcome(*outcome)

    def of(self, mutant: Mutant) -> Outcome | None:
        """What is known of a mutant, if anything is."""
        return self._known.get((mutant.name, mutant.what))

    def add(self, mutant: Mutant, outcome: Outcome) -> None:
        """Keep an outcome, where it is certain."""
        if outcome.word in CERTAIN:
            with self._file.open("a", encoding="utf-8") as lines:
                lines.write(json.dumps([mutant.name, mutant.what, *outcome]) + "\n")
