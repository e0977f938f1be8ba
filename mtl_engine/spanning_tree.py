"""The best tree over a sentence's words, with exactly one word under ROOT."""

import numpy as np

ROOT = 0


def best_heads(scores: np.ndarray) -> np.ndarray:
    """Return (m,) heads of the highest-scoring tree; 0 = ROOT, else the head's number from 1.

    scores (m, m + 1): row = word, column 0 = ROOT; minus infinity where a head is not admissible
    (a word itself never is). Chu-Liu & Edmonds in O(m^2), with every ROOT arc so expensive that
    the best tree has just one.
    """
    m = len(scores)
    graph = scores.astype(np.float64)
    graph[np.arange(m), np.arange(1, m + 1)] = -np.inf
    finite = graph[np.isfinite(graph)]
    graph[:, ROOT] -= (finite.max() - finite.min() + 1.0) * m
    return _Contraction(graph).heads()


def are_trees(heads: np.ndarray, counts: np.ndarray) -> np.ndarray:
    """Return (B,) whether the heads (B, T) of each sentence form a tree with one root.

    Places from a sentence's count on are padding and may hold anything.
    """
    n, width = heads.shape
    is_word = np.arange(width) < counts[:, None]
    above = np.zeros((n, width + 1), dtype=np.int64)  # column 0 = ROOT, which is above itself
    above[:, 1:] = np.where(is_word, heads, ROOT)
    has_one_root = ((above[:, 1:] == ROOT) & is_word).sum(1) == 1
    for _ in range(max(1, int(width).bit_length())):
        above = np.take_along_axis(above, above, axis=1)
    return np.asarray(has_one_root & (above == ROOT).all(1))


class _Contraction:
    """Words, and groups of words that were contracted because their best heads form a cycle.

    Group g has for every node h (a word's number, or ROOT) the score ``into[g, h]`` of attaching
    it under h, less the cycle arc that this replaces, and the word ``entry[g, h]`` where h enters.
    """

    def __init__(self, graph: np.ndarray) -> None:
        m = self.m = len(graph)
        self.into = np.concatenate([graph, np.empty_like(graph)])  # (2m, m + 1)
        self.entry = np.broadcast_to(np.arange(1, m + 1)[:, None], graph.shape)
        self.entry = np.concatenate([self.entry, np.zeros_like(self.entry)])
        self.group_of = np.arange(-1, m)  # outermost group of ROOT (none) and of every word
        self.around = np.full(2 * m, -1)  # the group that contains a group
        self.head = np.zeros(2 * m, dtype=np.int64)  # the arc that each group takes
        self.dependent = np.zeros(2 * m, dtype=np.int64)
        self.value = np.zeros(2 * m)
        self.n_groups = m

    def heads(self) -> np.ndarray:
        """Return each word's head in the best tree."""
        is_done = np.zeros(2 * self.m, dtype=bool)  # its arcs lead to ROOT
        for word in range(1, self.m + 1):
            if not is_done[self.group_of[word]]:
                is_done[self._climb(int(self.group_of[word]), is_done)] = True
        return self._expand()

    def _climb(self, group: int, is_done: np.ndarray) -> list[int]:
        """Follow best heads up to ROOT, contracting cycles; return the groups on the way."""
        path: list[int] = []
        while True:
            head = int(self.into[group].argmax())
            self.head[group], self.value[group] = head, self.into[group, head]
            self.dependent[group] = self.entry[group, head]
            path.append(group)
            above = int(self.group_of[head])
            if head == ROOT or is_done[above]:
                return path
            if above in path:
                start = path.index(above)
                group = self._contract(path[start:])
                del path[start:]
            else:
                group = above

    def _contract(self, cycle: list[int]) -> int:
        new, nodes = self.n_groups, np.arange(self.m + 1)
        self.n_groups += 1
        replaced = self.into[cycle] - self.value[cycle][:, None]
        best = replaced.argmax(0)
        is_in_cycle = np.zeros(2 * self.m, dtype=bool)
        is_in_cycle[cycle] = True
        is_inside = is_in_cycle[self.group_of]  # ROOT's group -1 is the last, which no cycle has
        self.into[new] = np.where(is_inside, -np.inf, replaced[best, nodes])
        self.entry[new] = self.entry[cycle][best, nodes]
        self.group_of[is_inside] = new
        self.around[cycle] = new
        return new

    def _expand(self) -> np.ndarray:
        """Give every word its arc: the outermost group's arc replaces those it passes through."""
        heads = np.zeros(self.m, dtype=np.int64)
        is_replaced = np.zeros(2 * self.m, dtype=bool)
        for group in range(self.n_groups - 1, -1, -1):
            if is_replaced[group]:
                continue
            word = self.dependent[group]
            heads[word - 1] = self.head[group]
            inner = word - 1
            while inner != group:
                is_replaced[inner] = True
                inner = self.around[inner]
        return heads
