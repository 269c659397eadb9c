"""`route` and all that follows from a report: the decision, its consequences, turns and hand-offs."""
