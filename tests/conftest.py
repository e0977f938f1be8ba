"""What tests of several rooms share."""

import pytest

from tests.openapi import WATCH

MOST_STARTS = 4  # of a cluster: its processes have 30 seconds to start, which a busy machine misses

WATCH.install()


@pytest.fixture(autouse=True)
def _described_responses():
    """Fail a test in which the API answered anything that its description does not describe."""
    yield
    found, WATCH.found = WATCH.found, []
    assert found == []


@pytest.fixture(scope="session")
def two_nodes():
    """A real Ray cluster of two nodes on loopback, one core each."""
    pytest.importorskip("ray", reason="Ray is in requirements-cluster.txt")
    from ray.cluster_utils import Cluster

    for number in range(MOST_STARTS):
        cluster = Cluster()
        try:
            for _ in range(2):
                cluster.add_node(num_cpus=1)
            break
        except Exception:  # Ray raises no other
            cluster.shutdown()
            if number == MOST_STARTS - 1:
                raise
    yield cluster
    cluster.shutdown()
