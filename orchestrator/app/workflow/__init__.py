"""Workflow versions: loaded, shown, compared, pinned."""
