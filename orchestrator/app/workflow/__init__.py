"""Workflow versions: loading, showing and comparing them, and what a session is pinned to."""
