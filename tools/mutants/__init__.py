"""Mutants: each guard of the program taken away in turn; a test must notice. `python -m tools.mutants`."""
