"""Agents: who is registered, and under whom."""
