"""Disputes, gold and agreement."""
