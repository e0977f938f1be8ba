"""One-file archives of a project or of the whole server: a zip of tables with a manifest."""
