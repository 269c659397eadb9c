"""The rules by which a run of a task is prepared, watched and judged."""
