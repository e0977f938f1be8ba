"""Multi-task models of sentences and the choice of what to label next; knows no Django."""
