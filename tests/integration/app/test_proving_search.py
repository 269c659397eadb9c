"""The search of the proof checks itself: what it remembers has to be where its moves lead."""

from __future__ import annotations

import pytest

from orchestrator import resources
from orchestrator.app.prover import state_search
from orchestrator.app.prover.possible_moves import SMALL, Setting
from orchestrator.app.prover.sandbox import World
from orchestrator.app.prover.state_search import Search


def test_a_state_that_its_moves_do_not_lead_to_is_a_contradiction() -> None:
    content = (resources.path("workflow") / "transitions.json").read_text("utf-8")
    search = Search(World(content, {}), Setting("two", ({"id": "A"}, {"id": "B"}), reach=SMALL))
    search.run(states=30, seconds=60)
    move = search.edges[1][0].move
    search._stands = None
    search._make(1, move)
    elsewhere = next(node.place for node in search.nodes if node.place[1:] != search.nodes[1].place[1:])
    search.nodes[1] = search.nodes[1]._replace(place=elsewhere)
    search._stands = None
    with pytest.raises(state_search._Contradiction):
        search._make(1, move)
