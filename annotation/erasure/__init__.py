"""Removing people and what they said, for good."""
