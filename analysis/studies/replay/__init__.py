"""A project's past, annotated again with another strategy."""
