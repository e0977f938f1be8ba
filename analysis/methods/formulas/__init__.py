"""Formulas found in measurements: symbolic regression with the constants and units set right."""

from analysis.methods.formulas.baselines import constant_baseline, power_law_baseline
from analysis.methods.formulas.discovery import Formula, discover
from analysis.methods.formulas.expressions import Expression
from analysis.methods.formulas.replications import Discovery, discover_repeatedly

__all__ = [
    "Discovery",
    "Expression",
    "Formula",
    "constant_baseline",
    "discover",
    "discover_repeatedly",
    "power_law_baseline",
]
