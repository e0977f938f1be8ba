"""SequentialLDA: tasks as mixtures of shared sequence generators (Crawford and Pineau).

LDA with sequence models as topics: a task is a document, a sequence a word, and every sequence is
made by one of K generators that all tasks share.
"""

from .choosing import TopicChoice, choose_n_topics
from .mixtures import TaskMixtures
from .model import SequentialLDA
from .stochastic import Pace
from .storage import load_model, save_model
from .topics.registry import FAMILIES

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
