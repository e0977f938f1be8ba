"""SequentialLDA on real sequences: surnames of 18 languages, family states of birth cohorts."""

import os
from pathlib import Path

import numpy as np
import pytest

from analysis.data.sequence_sets import read_biofam, read_names, split
from analysis.methods.sequential_lda.baselines import Recipe
from analysis.methods.sequential_lda.comparison import compare

DATA = Path(os.environ["TANDEM_DATA"])

pytestmark = pytest.mark.corpora("names", "biofam")


@pytest.mark.parametrize(
    ("read", "topics"),
    [
        (lambda: read_names(DATA / "names"), 16),
        (lambda: read_biofam(DATA / "biofam/biofam.tsv"), 4),
    ],
)
def test_tasks_with_little_data_gain_from_sharing_topics(read, topics):
    source = read()
    parts = split(source, 20, 20, seed=0)
    options = (("halting", source.halting), ("shrinkage", 20.0), ("n_restarts", 3))
    methods = ["one by one", "aggregate", "SequentialLDA"]
    found = compare(parts.train, parts.test, methods, Recipe(topics, options=options))
    for method in ("one by one", "aggregate"):
        assert found["SequentialLDA"].log_likelihood > found[method].log_likelihood


def test_the_parts_of_a_split_share_no_sequence_of_a_task_and_keep_their_test():
    source = read_names(DATA / "names")
    few, many = (split(source, n, 20, seed=3) for n in (5, 50))
    assert few.test == many.test
    for train, test in zip(many.train, many.test, strict=True):
        assert not set(train) & set(test)
    assert np.median([len(train) for train in many.train]) == 50
