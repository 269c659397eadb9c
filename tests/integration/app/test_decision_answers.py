"""Of a decision's answer its row keeps what other columns do not say, and gives back the same bytes."""

from __future__ import annotations

import pytest

from orchestrator.app.engine import decision_answers
from orchestrator.core import canonical_json
from orchestrator.core.routing import facts
from orchestrator.store import verify_chain
from tests.integration.app import twins
from tests.integration.app.table import SESSION, Table

BEFORE = facts.LEAN_SINCE - 1
KEPT = "SELECT seq, answer FROM router_decisions WHERE session_id = :session ORDER BY seq, part"


def played(story: str, rules_version: int) -> twins.Twin:
    """A story as rules of this version tell it; each begins anew, so that times and names are the same."""
    play, session = twins.STORIES[story]
    made = Table()
    made.context.rules_version = rules_version
    table = twins.Twin(story, context=made.context, **session)
    play(table)
    return table


@pytest.mark.parametrize("story", twins.STORIES)
def test_an_answer_is_put_together_as_it_was_stored_whole(story: str) -> None:
    older, newer = played(story, BEFORE), played(story, facts.LEAN_SINCE)
    stored = older.rows(KEPT, session=story)
    seqs = dict.fromkeys(seq for seq, _ in stored)
    found = [each for seq in seqs for each in decision_answers.of_step(newer.context.reader, story, seq)]
    assert [canonical_json.exact(each) for each in found] == [text for _, text in stored]
    lean = sum(len(text) for _, text in newer.rows(KEPT, session=story))
    assert lean < 0.6 * sum(len(text) for _, text in stored)


def test_what_was_decided_under_older_rules_is_answered_and_told_again_as_it_was() -> None:
    table = Table("A", "B")
    table.context.rules_version = BEFORE
    table.plan()
    turn = table.turn("A")
    first = table.says("developer", "READY_FOR_QA", "A", turn=turn)
    kept = table.rows(KEPT, session=SESSION)
    table.context.rules_version = facts.RULES_VERSION
    table.says("developer", "READY_FOR_QA", "B")
    again = table.says("developer", "READY_FOR_QA", "A", turn=turn)
    assert again == {**first, "repeated": True}
    assert table.rows(KEPT, session=SESSION)[: len(kept)] == kept
    assert table.do("audit replay", session_id=SESSION)["equal"]
    assert list(verify_chain.broken(table.context.connection, SESSION)) == []


def test_the_same_turn_sent_again_gets_the_same_answer() -> None:
    table = Table("A", plan=True)
    turn = table.turn("A")
    first = table.says("developer", "READY_FOR_QA", "A", turn=turn)
    again = table.says("developer", "READY_FOR_QA", "A", turn=turn)
    assert again == {**first, "repeated": True}
