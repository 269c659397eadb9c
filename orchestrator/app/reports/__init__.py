"""Reports: taken, decided on, withheld, told again; the hand-offs that decisions write."""
