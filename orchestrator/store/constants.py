"""The few names that hot verbs share with the declared schema, without importing SQLAlchemy."""

from __future__ import annotations

from orchestrator.core import names

STORE_CHAIN = "@store"
"""The chain of steps that belong to no session."""

SCHEMA_VERSION = 19
"""The newest migration, as `PRAGMA user_version` holds it: the number at the front of its file's name."""

OLDER_MARKS = ("task_groups_moves_are_legal", "task_groups_moves_are_recorded")
"""Names in the schema that every older version has and the newest has not: a file with one of them is of an older
version, whatever it says."""

APPLICATION_ID = 0x4F524348
"""`PRAGMA application_id` of our files: the letters ORCH. It tells another program's database from ours."""

WRITE_FUNCTION = "orchestrator_write"
"""Called by the guards of every table, and registered by our writing connections alone."""

FOLDER = names.OWN_FOLDER
FILE = "orchestrator.db"
IN_MEMORY = ":memory:"
"""The path of a database that lies in no file."""

SKIPPED = "_skipped"
"""In the data of BUSY: a driver passed over a session in which another step is under way."""

OVERTAKEN = "_overtaken"
"""In the data of BUSY: the step was given up in favour of another one, and may be taken again at once."""
