"""HTTP: the runs, sessions and questions of a database for programs, and the reply page for people."""
