"""What happens in a coding client, and what the rules answer to it: one adapter for each client, the rules once."""
