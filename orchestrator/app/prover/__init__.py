"""`workflow check --prove`: what can happen under a workflow, searched with the code that decides."""
