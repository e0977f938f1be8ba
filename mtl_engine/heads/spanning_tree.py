"""The best tree over a sentence's words, with exactly one word under ROOT."""

import numpy as np


def best_heads(scores: np.ndarray) -> np.ndarray:
    """Return (m,) heads of the highest-scoring tree; 0 = ROOT, else the head's number from 1.

    scores (m, m + 1): row = word, column 0 = ROOT; minus infinity where a head is not admissible
    (a word itself always is not). Chu-Liu & Edmonds, with every ROOT arc so expensive that the
    best tree has just one.
    """
    m = len(scores)
    graph = np.full((m + 1, m + 1), -np.inf)
    graph[1:] = scores
    np.fill_diagonal(graph, -np.inf)
    finite = graph[np.isfinite(graph)]
    graph[1:, 0] -= (finite.max() - finite.min() + 1.0) * m
    return _arborescence(graph)[1:]


def are_trees(heads: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (B,) whether the heads (B, T) of each sentence form a tree with one root.

    Places from a sentence's count on are padding and may hold anything.
    """
    n, width = heads.shape
    is_word = np.arange(width) < counts[:, None]
    above = np.zeros((n, width + 1), dtype=np.int64)  # column 0 = ROOT, which is above itself
    above[:, 1:] = np.where(is_word, heads, 0)
    has_one_root = ((above[:, 1:] == 0) & is_word).sum(1) == 1
    for _ in range(max(1, int(width).bit_length())):
        above = np.take_along_axis(above, above, axis=1)
    return np.asarray(has_one_root & (above == 0).all(1))


def _arborescence(graph: np.ndarray) -> np.ndarray:
    """Return the head of every node of graph[node, head]; node 0 is the root."""
    heads = graph.argmax(1)
    heads[0] = 0
    cycle = _cycle(heads)
    if cycle is None:
        return heads
    inside = np.flatnonzero(cycle)
    outside = np.flatnonzero(~cycle)  # begins with the root
    broken = graph[np.ix_(inside, outside)] - graph[inside, heads[inside]][:, None]
    entry = inside[broken.argmax(0)]  # for each outside head: where it best breaks the cycle
    leaving = graph[np.ix_(outside, inside)]
    exit_ = inside[leaving.argmax(1)]  # for each outside node: its best head in the cycle
    k = len(outside)
    smaller = np.full((k + 1, k + 1), -np.inf)
    smaller[:k, :k] = graph[np.ix_(outside, outside)]
    smaller[k, :k] = broken.max(0)
    smaller[1:k, k] = leaving.max(1)[1:]
    found = _arborescence(smaller)
    for number in range(1, k):
        heads[outside[number]] = exit_[number] if found[number] == k else outside[found[number]]
    heads[entry[found[k]]] = outside[found[k]]
    return heads


def _cycle(heads: np.ndarray) -> np.ndarray | None:
    """Return which nodes form a cycle, or None."""
    seen = np.zeros(len(heads), dtype=np.int64)
    seen[0] = -1
    for start in range(1, len(heads)):
        node = start
        while seen[node] == 0:
            seen[node] = start
            node = int(heads[node])
        if seen[node] == start:
            cycle = np.zeros(len(heads), dtype=bool)
            while not cycle[node]:
                cycle[node] = True
                node = int(heads[node])
            return cycle
    return None
