"""What the methods tell about a project: each insight is a job with a stored result.

Every module here but ``pages``, ``models`` and those of REST is one insight and registers itself;
what it needs to compute is imported when the worker computes.
"""

from importlib import import_module
from pkgutil import iter_modules


def register_insights() -> None:
    """Load every insight, which registers it with the annotation app."""
    for module in iter_modules(__path__):
        if module.name not in ("pages", "models") and not module.name.endswith("api"):
            import_module(f"{__name__}.{module.name}")
