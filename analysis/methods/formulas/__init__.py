"""Formulas found in measurements: symbolic regression with the constants and units set right."""

from analysis.formulas.baselines import constant_baseline, power_law_baseline
from analysis.formulas.discovery import Formula, discover
from analysis.formulas.expressions import Expression
from analysis.formulas.repeating import Discovery, discover_repeatedly

__all__ = [
    "Discovery",
    "Expression",
    "Formula",
    "constant_baseline",
    "discover",
    "discover_repeatedly",
    "power_law_baseline",
]
