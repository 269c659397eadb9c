"""Whether the work is done: criteria, the checks of `validate`, and what its verdict completes."""
