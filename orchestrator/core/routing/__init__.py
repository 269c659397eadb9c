"""Deciding: from facts and one report to one decision, by one ordered list of rules."""
