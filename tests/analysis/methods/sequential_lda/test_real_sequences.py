"""SequentialLDA on real sequences: surnames of 18 languages, family states of birth cohorts."""

from pathlib import Path

import numpy as np
import pytest

from analysis.sequential_lda.baselines import Recipe
from analysis.sequential_lda.comparison import compare
from benchmarks.sequential_lda_data import read_biofam, read_names, split

DATA = Path(__file__).resolve().parents[4] / "shared" / "data"

pytestmark = pytest.mark.skipif(
    not (DATA / "names").is_dir(), reason=f"the data sets are not in {DATA}"
)


@pytest.mark.parametrize(("read", "topics"), [(read_names, 16), (read_biofam, 4)])
def test_tasks_with_little_data_gain_from_sharing_topics(read, topics):
    source = read(DATA)
    parts = split(source, 20, 20, seed=0)
    options = (("halting", source.halting), ("shrinkage", 20.0), ("n_restarts", 3))
    methods = ["one by one", "aggregate", "SequentialLDA"]
    found = compare(parts.train, parts.test, methods, Recipe(topics, options=options))
    for method in ("one by one", "aggregate"):
        assert found["SequentialLDA"].log_likelihood > found[method].log_likelihood


def test_the_parts_of_a_split_share_no_sequence_of_a_task_and_keep_their_test():
    source = read_names(DATA)
    few, many = (split(source, n, 20, seed=3) for n in (5, 50))
    assert few.test == many.test
    for train, test in zip(many.train, many.test, strict=True):
        assert not set(train) & set(test)
    assert np.median([len(train) for train in many.train]) == 50
