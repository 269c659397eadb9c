"""What every use case needs, and knows none of them: the unit of work, actors, parameters, answers, rows as shown."""
