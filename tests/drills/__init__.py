"""Drills that really do what must never do harm."""
