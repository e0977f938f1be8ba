"""Which heads make a tree."""

import pytest

from annotation.formats.conllu import tree_fault


@pytest.mark.parametrize("heads", [[0], [2, 0], [0, 1, 2, 3], [3, 3, 0, 3], [2, 3, 4, 0]])
def test_trees_have_no_fault(heads):
    assert tree_fault(heads) is None


@pytest.mark.parametrize(
    ("heads", "token", "message"),
    [
        ([0, 3], 2, "head 3 is out of range"),
        ([-1, 0], 1, "head -1 is out of range"),
        ([0, 1, 0], 3, "a second root; 2 tokens have head 0"),
        ([1], 1, "cycle"),
        ([0, 3, 2], 3, "cycle"),
        ([2, 3, 1], 3, "cycle"),
        ([0, 1, 4, 5, 3, 5], 5, "cycle"),
    ],
)
def test_the_first_fault_is_named(heads, token, message):
    found = tree_fault(heads)
    assert found is not None
    assert message in found[1]
    if "cycle" not in message:
        assert found[0] == token


def test_the_token_named_is_on_the_cycle_and_not_only_above_it():
    token, _ = tree_fault([0, 3, 4, 3, 2])  # 5 -> 2 -> 3 <-> 4
    assert token in (3, 4)


def test_a_long_chain_is_a_tree_and_a_long_ring_is_none():
    n = 3_000
    assert tree_fault(list(range(n))) is None
    assert tree_fault([0, *range(3, n + 1), 2]) is not None
