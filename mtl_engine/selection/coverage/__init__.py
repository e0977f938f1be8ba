"""Expected-error coverage (MT-EEC): cells that remove the most expected errors per cost."""

from mtl_engine.selection.coverage.batch import CoverageBatch, cover
from mtl_engine.selection.coverage.duplicates import (
    LEAST_WORDS,
    REPEATED,
    RESIDUE,
    duplicate_groups,
    fragments,
    near_duplicates,
    text_keys,
)
from mtl_engine.selection.coverage.reasons import CellReason, Feature, explain_batch
from mtl_engine.selection.coverage.units import (
    MODES,
    PARTS,
    Mode,
    TaskUnits,
    Units,
    length_classes,
    length_names,
)

__all__ = [
    "LEAST_WORDS",
    "MODES",
    "PARTS",
    "REPEATED",
    "RESIDUE",
    "CellReason",
    "CoverageBatch",
    "Feature",
    "Mode",
    "TaskUnits",
    "Units",
    "cover",
    "duplicate_groups",
    "explain_batch",
    "fragments",
    "length_classes",
    "length_names",
    "near_duplicates",
    "text_keys",
]
