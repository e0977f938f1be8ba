"""Errors of the studies."""


class AnalysisError(ValueError):
    """A request that an analysis refuses; the message says what to change."""
