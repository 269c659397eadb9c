"""Running a team by itself: which turn is started next follows from the record alone."""
