"""A round in the worker: train, score, select, open the new queue."""
