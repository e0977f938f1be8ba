"""A plugin of pytest: says at the end which modules that compute were loaded meanwhile."""

import sys

COMPUTES = (
    *("torch", "transformers", "sklearn", "scipy.stats", "scipy.optimize", "numba", "joblib"),
    *("spacy", "mip", "mtl_engine.training", "mtl_engine.prediction"),
    *("analysis.methods.sequential_lda", "analysis.methods.forecast.extrapolation"),
)


def pytest_sessionfinish(session, exitstatus):
    """Print the names of those that were loaded."""
    loaded = [name for name in COMPUTES if name in sys.modules]
    print(f"\nLoaded: {' '.join(loaded) or 'nothing'}.")
