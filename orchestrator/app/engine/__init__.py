"""What follows from a change: decisions carried out, turns started, groups completed or ended, tasks blocked."""
