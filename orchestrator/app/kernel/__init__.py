"""What every use case needs: the unit of work, who acts, parameters and answers. Knows none of them."""
