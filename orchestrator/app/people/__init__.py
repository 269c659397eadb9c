"""What people prove, and what they answer."""
