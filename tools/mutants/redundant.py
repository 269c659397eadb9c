"""Guards that stand behind another one, so that no test can notice when they are gone: each with the reason.

Whoever takes the guard in front away has the mutant in front to answer for. Nothing else may stand here.
"""

from __future__ import annotations

import re

from orchestrator.store.guards_tables import APPEND_ONLY
from tools.mutants.catalogue import Mutant

BEHIND: tuple[tuple[str, str], ...] = (
    (
        rf"trigger:({'|'.join(APPEND_ONLY)})_are_never_changed:0 .*",
        "rows that never change are refused to whoever asks, a stranger too",
    ),
    (
        r"trigger:(turn_)?runs_insert_needs_orchestrator_and_new_key:2 .*",
        "the id of a run is taken once in all sessions, so that it is in its own",
    ),
    (
        r"(part:group_marks|relation:path_history\._ACKNOWLEDGED):\d+ r\.part = 1 is 1( in ACKNOWLEDGED)?",
        "the table of reports takes one for each step; the part is named so that the unique key finds it",
    ),
    (
        r"part:group_reasons:\d+ standing_seq > base_seq is 1(, of what is waited for)?",
        "an answer of QA voids what was approved before it: what stands is newer than it, and so than the reopening",
    ),
    (
        r"part:group_reasons:\d+ kind = 'chat' is 0, of what is waited for",
        "four parts say that a chat is closed, and each alone is enough",
    ),
    (
        r"part:group_reasons:\d+ (standing_effect = 'approve'|"
        r"\(standing_effect = 'approve' AND standing_seq > base_seq\)) is [01], of what is waited for",
        "that the approval stands is asked by itself",
    ),
    (
        r"part:group_reasons:\d+ ((standing|merge)_seq (IS NULL|<= base_seq)|"
        r"submit_test_seq > base_seq|\(qa_answer_seq > submit_test_seq\) IS NOT 1) is [01], of what is waited for",
        "it tells two reasons apart that both say no, and the reason is told elsewhere",
    ),
    (
        r"part:group_reasons:\d+ (mandatory_seq IS NULL|security_sensitive = 0) is 1, of what is waited for",
        "it tells two reasons apart that both say yes, and the reason is told elsewhere",
    ),
    (
        r"part:group_reasons:\d+ merge_proof = '(nothing_to_merge|merged)' is 1, of what is waited for",
        "it tells two reasons apart that both say yes, and the reason is told elsewhere",
    ),
    (
        r"part:group_reasons:(55 d\.session_id = m\.session_id|56 d\.group_id = m\.group_id|"
        r"57 d\.removed_seq IS NULL) is 1",
        "it spares a walk over dependencies that finds nothing",
    ),
    (
        r"part:group_reasons:107 merge_seq > standing_seq is 1, of what is waited for",
        "of a merge that is not proven it tells two reasons apart that both say no, and the reason is told elsewhere",
    ),
    (
        r"part:group_marks:\d+ r\.effect = 'test_fail' is 0",
        "a failure that is open is told before answers are asked about, and one before the reopening answers nothing",
    ),
    (
        r"part:completion_paths:\d+ kind = 'code' is 1",
        "nothing but code has a merge that stands",
    ),
    (
        r"relation:gaps\.iteration_budget:\d+ d\..*",
        "the workflow's numbers say it, whichever row is looked at",
    ),
    (
        r"relation:gaps\._DECIDED:\d+ (NOT \( \(d\.cause .* is 1|s\.id = :session is 0|"
        r"EXISTS \(SELECT 1 FROM handoffs h .* is 0) in DECIDED",
        "it leaves out decisions with which nothing is wrong, which the columns would say as well",
    ),
    (
        r"relation:redirects\._CONTENT:\d+ d\.part = 1 is 1 in CONTENT",
        "the first part of a step comes first; where it is missing, no rule of that step can be asked about",
    ),
    (
        r"guard:app\.running\.run_answers:\d+ Refused in _may_continue",
        "what a run asks is closed with its session, so that it may not be continued anyhow; here it is said better",
    ),
    (
        r"guard:app\.audit\.peer_import:\d+ _exists in import_session",
        "the import looks before its step as well; the step looks again for another import between the two",
    ),
)
"""A pattern for `name what` of mutants, and what stands in front."""


def reason(mutant: Mutant) -> str:
    """What stands in front of a mutant's guard; empty where nothing does."""
    said = f"{mutant.name} {mutant.what}"
    return next((why for pattern, why in BEHIND if re.fullmatch(pattern, said)), "")
