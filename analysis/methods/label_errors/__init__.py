"""Suspected errors: answers that models without them, and the other layers, find unlikely."""

from analysis.methods.label_errors.contradictions import Reason, contradictions
from analysis.methods.label_errors.detector import Suspect, find_suspects, proofread
from analysis.methods.label_errors.judgement import (
    Judgement,
    adjusted_margin,
    estimated_errors,
    label_thresholds,
)

__all__ = [
    "Judgement",
    "Reason",
    "Suspect",
    "adjusted_margin",
    "contradictions",
    "estimated_errors",
    "find_suspects",
    "label_thresholds",
    "proofread",
]
