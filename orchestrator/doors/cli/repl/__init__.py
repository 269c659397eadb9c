"""The read-evaluate-print loop: lines in, tasks and commands out, each finished before the next line is read."""
