"""`audit verify` and `audit head`: whether the record is whole, and what to note outside so that it can be told."""

from __future__ import annotations

from orchestrator.doors.cli.options import LIMIT, OF_SESSION, SINCE, Command, argument, option

_SESSION = (
    argument("session", "The session; `store` is what belongs to none. Everything where left out.", target="session_id",
             required=False),
    OF_SESSION,
)  # fmt: skip

COMMANDS = {
    each.words: each
    for each in (
        Command(
            "audit verify",
            "Verify the record against its hash chain, every row against its event, and the database's guards against"
            " their texts. Exit 1 where anything was altered, added, taken away or cut off.",
            "orchestrator audit verify S1 --head 42:HASH",
            (
                *_SESSION,
                option("head", "A head that was noted before; it must be part of the record.", metavar="SEQ:HASH"),
                SINCE._replace(help="Trust what was verified up to this step of the session; look at what came after."),
                LIMIT._replace(help="How many findings to list; all are counted. 50 where left out."),
            ),
        ),
        Command(
            "audit head",
            "Print the newest step of a session, or of all, with its hash: to be noted outside, for `audit verify`.",
            "orchestrator audit head S1",
            _SESSION,
        ),
    )
}
