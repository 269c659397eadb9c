"""Runs: executions of tasks by an executor, judged by the runner alone."""
