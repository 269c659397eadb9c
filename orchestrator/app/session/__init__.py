"""Sessions and their groups: making them, moving them, and where they stand."""
