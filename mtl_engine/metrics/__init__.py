"""How good answers are: span F1 as conlleval, attachment scores, strict relation F1, accuracy."""

from mtl_engine.metrics.accuracy import accuracy, sentence_accuracy
from mtl_engine.metrics.chunks import read_chunks, write_tags
from mtl_engine.metrics.counts import PRF, Counts
from mtl_engine.metrics.relations import relation_f1
from mtl_engine.metrics.spans import span_answer_f1, span_f1
from mtl_engine.metrics.tables import MAIN_SCORE, answer_scores, label_table, span_table
from mtl_engine.metrics.trees import attachment_scores

__all__ = [
    "MAIN_SCORE",
    "PRF",
    "Counts",
    "accuracy",
    "answer_scores",
    "attachment_scores",
    "label_table",
    "read_chunks",
    "relation_f1",
    "sentence_accuracy",
    "span_answer_f1",
    "span_f1",
    "span_table",
    "write_tags",
]
