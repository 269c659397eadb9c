"""The workflow file: its model, every check of it, comparing and drawing it."""
