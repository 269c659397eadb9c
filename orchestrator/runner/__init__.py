"""Everything that starts other programs. No transaction is open while anything here runs."""
