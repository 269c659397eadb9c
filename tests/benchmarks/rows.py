"""Every row of the table, in order. A new measure is a function of the number of rounds and one line here."""

from __future__ import annotations

from tests.benchmarks import cold
from tests.benchmarks.table import Row

ROWS = (
    Row(1, "cold `route`", cold.route),
    Row(2, "other cold commands", cold.other_verbs),
    Row(3, "a peer's step", cold.peer_step),
    Row(4, "`--help`", cold.help_text),
)
