"""The executors: adapters between the runner and the programs that do the work."""
