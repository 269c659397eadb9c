"""Questions to a person: the inbox, and one question in full."""
