"""A peer's rows as sessions of this program: plain values in, plain values and findings out. Nothing is read here."""
