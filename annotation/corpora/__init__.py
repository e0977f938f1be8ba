"""Import, export and browsing of sentences."""
