"""Source tasks of a target, chosen in several ways and compared."""
