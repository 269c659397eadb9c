"""Agents' reports: routing one, withholding one until a person has decided, redispatch, and hand-offs."""
