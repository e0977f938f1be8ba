"""SequentialLDA: tasks as mixtures of shared sequence generators (Crawford and Pineau).

LDA with sequence models as topics: a task is a document, a sequence a word, and every sequence is
made by one of K generators that all tasks share.
"""

from analysis.methods.sequential_lda.mixtures import TaskMixtures
from analysis.methods.sequential_lda.model import SequentialLDA
from analysis.methods.sequential_lda.model_selection import TopicChoice, choose_n_topics
from analysis.methods.sequential_lda.stochastic import Pace
from analysis.methods.sequential_lda.storage import load_model, save_model
from analysis.methods.sequential_lda.topics.registry import FAMILIES

__all__ = [
    "FAMILIES",
    "Pace",
    "SequentialLDA",
    "TaskMixtures",
    "TopicChoice",
    "choose_n_topics",
    "load_model",
    "save_model",
]
