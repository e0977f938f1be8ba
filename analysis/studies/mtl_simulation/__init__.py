"""The paper's simulation: multi-task taggers trained on simulated tasks."""
