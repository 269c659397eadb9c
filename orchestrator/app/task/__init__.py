"""Tasks: their status, claims, blockers and dependencies, and what an agent does next."""
