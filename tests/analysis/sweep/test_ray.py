"""A real Ray cluster of two nodes on loopback."""

import pytest

from analysis.sweep.executors import RayExecutor
from analysis.sweep.plan import plan_sweep, sweep
from analysis.sweep.store import RunStore
from analysis.sweep.study_file import parse_study

TRIVIAL = "benchmarks.trivial_study"


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_runs_are_spread_over_a_cluster_of_two_nodes_and_come_back_whole(two_nodes, tmp_path):
    content = {
        "kind": TRIVIAL,
        "seeds": list(range(6)),
        "settings": {"fails_on": 3},
    }
    study = parse_study(content, where="x.toml")
    store = RunStore(tmp_path)
    result = sweep(plan_sweep(study, store), store, RayExecutor(two_nodes.address))
    assert result.n_finished == 5
    assert [config.seed for config, _ in result.failures] == [3]
    assert "asked to fail on seed 3" in result.failures[0][1]
