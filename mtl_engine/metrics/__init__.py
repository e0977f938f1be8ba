"""How good answers are: span F1 as conlleval, attachment scores, strict relation F1, accuracy.

The scores of a task are its kind's, see ``mtl_engine.kinds``.
"""

from mtl_engine.metrics.chunks import read_chunks, write_tags
from mtl_engine.metrics.counts import PRF, Counts, accuracy
from mtl_engine.metrics.spans import relation_f1, span_answer_f1, span_f1
from mtl_engine.metrics.tables import METRIC_TITLES, counts_by_label, span_table
from mtl_engine.metrics.trees import attachment_scores

__all__ = [
    "METRIC_TITLES",
    "PRF",
    "Counts",
    "accuracy",
    "attachment_scores",
    "counts_by_label",
    "read_chunks",
    "relation_f1",
    "span_answer_f1",
    "span_f1",
    "span_table",
    "write_tags",
]
