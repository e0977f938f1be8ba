"""The queue of work, its workers and their recovery."""
