"""Kinds of studies, one a file; each registers itself with the sweep."""
