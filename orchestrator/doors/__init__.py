"""The doors: how a use case is called from outside. They differ only in how they read and show."""
