"""Projects, their tasks and labels, templates and progress."""
