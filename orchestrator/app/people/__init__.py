"""People: enrolment, how they prove who they are, and their answers to questions."""
