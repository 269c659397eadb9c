"""The folder that holds what the product keeps in a project: its database, backups, evidence and logs."""

from __future__ import annotations

NAME = ".orchestrator"
IGNORE_FILE = ".gitignore"
IGNORE_ALL = b"*\n"
"""What git is told in it: a checkout, a reset or a stash must never move what lies there."""
