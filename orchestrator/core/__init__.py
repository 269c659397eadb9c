"""The pure core: rules on plain values. No database, no clock, no files, no processes."""
