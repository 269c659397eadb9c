"""What every change of a session leads to: decisions carried out, turns started, groups completed or ended."""
