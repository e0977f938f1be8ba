"""The kinds of tasks, one file each; every module beside this one is loaded and registers its own.

``KINDS["spans"]`` is the kind of that name. A new kind is a new file here, and nothing else.
"""

from importlib import import_module
from pkgutil import iter_modules

from mtl_engine.errors import Problem
from mtl_engine.kinds.kind import (
    KINDS,
    Answer,
    Clustering,
    Item,
    Judgement,
    Kind,
    Recut,
    TaskSpec,
    documentary,
    is_partial,
)

__all__ = [
    "KINDS",
    "Answer",
    "Clustering",
    "Item",
    "Judgement",
    "Kind",
    "Problem",
    "Recut",
    "TaskSpec",
    "documentary",
    "is_partial",
]

for _module in iter_modules(__path__):
    import_module(f"{__name__}.{_module.name}")
