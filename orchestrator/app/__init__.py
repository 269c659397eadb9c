"""Use cases, one transaction each; `operations` is the table of what the doors offer."""
