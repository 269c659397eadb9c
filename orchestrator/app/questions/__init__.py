"""Questions that wait for a person, as they are read."""
