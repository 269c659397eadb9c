"""The table of speed: ratios measured side by side in one run, printed by `python -m tools.benchmarks`."""
