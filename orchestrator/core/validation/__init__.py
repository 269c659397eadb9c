"""The validator: deterministic checks on a snapshot of one session. No language model, no database, no clock."""
