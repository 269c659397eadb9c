"""The shapes of what replays, exports, imports, certificates, the gate and `workflow what-if` answer."""

from __future__ import annotations

from typing import Any, Literal, NotRequired

from typing_extensions import TypedDict

from orchestrator.app.answers.shapes import Answer

Value = str | int | float | None


class Difference(TypedDict):
    """A row that was told otherwise than it is recorded, or is on one side only."""

    chain: str
    seq: int
    table: str
    key: list[Value]
    columns: list[str]
    recorded: list[Value] | None
    told: list[Value] | None
    why: str
    engine_changed: bool


class Replay(Answer):
    """`audit replay`."""

    session_id: str
    equal: bool
    told: int
    rules_version: int
    differences: list[Difference]
    count: int
    engine_changed: int
    head: str | None
    told_head: str | None


class SessionReplay(TypedDict):
    """The replay of one of several sessions."""

    session_id: str
    equal: bool
    told: int
    differences: list[Difference]
    count: int
    engine_changed: int
    head: str | None
    told_head: str | None


class Replays(Answer):
    """`audit replay --all`."""

    sessions: list[SessionReplay]
    equal: bool
    told: int
    rules_version: int
    count: int
    engine_changed: int


class WhatIfWorkflow(TypedDict):
    """The file that sessions were told under."""

    name: str
    hash: str
    source: str


class WhatIfSpawn(TypedDict):
    """Whom a decision starts."""

    group_id: str | None
    agent: str
    model: str | None


class WhatIfDecision(TypedDict):
    """One side of a difference: a decision in words and in parts, or the code of a refusal."""

    text: str
    next_agent: str | None
    action: str | None
    reason: str | None
    rules: list[str]
    spawns: list[WhatIfSpawn]
    refused: str | None


class WhatIfDifference(TypedDict):
    """A decision that differs; a side is null that has none."""

    seq: int
    call: str
    group_id: str | None
    current_agent: str | None
    response_status: str | None
    recorded: WhatIfDecision | None
    told: WhatIfDecision | None


class WhatIfEnd(TypedDict):
    """The first step that the file does not accept: from there on nothing is compared."""

    seq: int
    call: str
    current_agent: str | None
    response_status: str | None
    code: str
    message: str


class WhatIfGroup(TypedDict):
    """A group whose status differs, or whose comparison ended."""

    group_id: str
    recorded: str | None
    told: str | None
    ended: WhatIfEnd | None


class WhatIfStatus(TypedDict):
    """How a session stands at the end."""

    status: str
    outcome: str | None


class WhatIfVersion(TypedDict):
    """A workflow version under which a session was decided."""

    id: int
    name: str
    hash: str


class WhatIfSession(TypedDict):
    """One session under the file."""

    session_id: str
    equal: bool
    versions: list[WhatIfVersion]
    decisions: int
    compared: int
    differences: list[WhatIfDifference]
    count: int
    handoffs_changed: int
    groups: list[WhatIfGroup]
    ended: WhatIfEnd | None
    status: dict[str, WhatIfStatus | None]
    warnings: list[str]


class WhatIf(Answer):
    """`workflow what-if`."""

    workflow: WhatIfWorkflow
    equal: bool
    count: int
    sessions: list[WhatIfSession]


class AbsentFile(TypedDict):
    """A file of evidence that is in no export: the evidence that names it, its path, and why."""

    of: str
    path: str
    why: str


class Export(Answer):
    """`audit export --output FILE`; without a file the document itself is printed."""

    session_id: str
    format: Literal["jsonl", "csv", "html"]
    output: str
    lines: int
    bytes: int
    head: str
    masked: int
    files: int
    absent: list[AbsentFile]


class Import(Answer):
    """`audit import`."""

    session_id: str
    events: int
    head: str
    files: int
    absent: list[AbsentFile]


class MadeCertificate(Answer):
    """`certificate make`; without a file the document itself is printed."""

    session_id: str
    verdict: Literal["ACCEPT", "REJECT"]
    head: str
    events: int
    proven: int
    groups: int
    signed: bool
    bytes: int
    output: str | None
    document: NotRequired[dict[str, Any]]


class CertificateProblem(TypedDict):
    """Something in a certificate that was altered or does not hold."""

    place: str
    message: str


class CertificateSignature(TypedDict):
    """The signature of a certificate: by which key, and who that is where the known keys say it."""

    key: str | None
    signer: str | None


class CheckedCertificate(Answer):
    """`certificate check`; nothing is told of what a certificate says in which something is wrong."""

    ok: bool
    file: str
    session_id: str | None
    goal: str | None
    verdict: Literal["ACCEPT", "REJECT"] | None
    made_at: str | None
    head: str | None
    events: int | None
    proven: int | None
    groups: dict[str, int] | None
    commits: list[str]
    signature: CertificateSignature | None
    problems: list[CertificateProblem]


class GatedCommit(TypedDict):
    """A commit of a range: by what it is covered, or why it is not, and then the files that it changes."""

    id: str
    subject: str
    covered: bool
    by: str
    files: list[str]


class GatedCertificate(TypedDict):
    """A certificate that was given, and why it does not count."""

    file: str
    session_id: str | None
    counts: bool
    problems: list[str]


class Gate(Answer):
    """`gate`."""

    ok: bool
    base: str
    head: str
    commits: list[GatedCommit]
    uncovered: int
    certificates: list[GatedCertificate]
    sessions: list[str]
