DROP TABLE run_violations;

DROP TABLE run_locks;

DROP TABLE run_files;

DROP TABLE run_events;

DROP TABLE runs;
