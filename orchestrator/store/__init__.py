"""The store: SQLite, its schema, guards, migrations, and the statements that read and write it."""
