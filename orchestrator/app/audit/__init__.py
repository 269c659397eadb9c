"""What happened, and whether it can be trusted: reading, explaining, verifying, replaying, taking out and in."""
