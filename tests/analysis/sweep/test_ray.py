"""A real Ray cluster of two nodes on loopback."""

import pytest

from analysis.sweep.driver import plan_sweep, sweep
from analysis.sweep.executors import RayExecutor
from analysis.sweep.records import RunStore
from analysis.sweep.study_file import parse_study


@pytest.fixture
def cluster():
    pytest.importorskip("ray", reason="Ray is in requirements-cluster.txt")
    from ray.cluster_utils import Cluster

    two_nodes = Cluster(initialize_head=True, head_node_args={"num_cpus": 1})
    two_nodes.add_node(num_cpus=1)
    yield two_nodes
    two_nodes.shutdown()


@pytest.mark.ray
@pytest.mark.xdist_group("ray")
def test_runs_are_spread_over_a_cluster_of_two_nodes_and_come_back_whole(cluster, tmp_path):
    content = {"kind": "trivial", "seeds": list(range(6)), "settings": {"fails_on": 3}}
    study = parse_study(content, where="x.toml")
    store = RunStore(tmp_path)
    result = sweep(plan_sweep(study, store), store, RayExecutor(cluster.address))
    assert result.n_finished == 5
    assert [config.seed for config, _ in result.failures] == [3]
    assert "asked to fail on seed 3" in result.failures[0][1]
