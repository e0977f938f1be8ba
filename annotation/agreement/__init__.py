"""How far people agree, for every kind of task: pure functions over answers."""

from annotation.agreement.report import Agreement, PairAgreement, measure_agreement

__all__ = ["Agreement", "PairAgreement", "measure_agreement"]
