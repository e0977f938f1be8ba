"""Corpora, tables and vectors that studies read."""
