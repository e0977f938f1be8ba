"""Whether heads make a tree."""

from collections.abc import Sequence


def tree_fault(heads: Sequence[int]) -> tuple[int, str] | None:
    """The token number (from 1) and what is wrong with its head; None if the heads are a tree.

    A tree has one root (head 0), every other head is the number of another token, and every token
    is reached from the root.
    """
    n = len(heads)
    if min(heads) < 0 or max(heads) > n:
        token = next(i for i, head in enumerate(heads, 1) if not 0 <= head <= n)
        return token, f"head {heads[token - 1]} is out of range; heads are 0 (root) to {n}"
    roots = heads.count(0)
    if roots > 1:
        token = [i for i, head in enumerate(heads, 1) if head == 0][1]
        return token, f"a second root; {roots} tokens have head 0, a tree has exactly one"
    token = _token_on_a_cycle(heads)
    if token:
        return token, f"token {token} is on a cycle of heads; every token must lead to the root"
    return None


def _token_on_a_cycle(heads: Sequence[int]) -> int:
    """A token on a cycle, 0 if every token leads to head 0.

    Each turn doubles the steps taken along the heads; after n steps whoever is not at the root
    goes round on a cycle.
    """
    reached = [0, *heads]
    for _ in range(len(heads).bit_length()):
        if not any(reached):
            return 0
        reached = [reached[head] for head in reached]
    return max(reached)
