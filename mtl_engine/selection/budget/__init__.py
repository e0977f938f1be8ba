"""Budgets: a checked request, and how its cells are bought."""
