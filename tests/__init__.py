"""The tests, one folder per kind."""
