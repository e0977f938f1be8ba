"""SequentialLDA and its baselines on planted and real sequences."""
