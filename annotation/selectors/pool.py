"""What a round can choose from: sentences with something left to answer."""

import hashlib
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from annotation.models import Annotation, Gold, Project, Sentence

CHUNK = 2000


@dataclass(frozen=True)
class Pool:
    """Open sentences in the order of their ids; a cell is closed when somebody has answered it."""

    ids: NDArray[np.int64]  # (n,)
    n_tokens: NDArray[np.int64]  # (n,)
    is_closed: NDArray[np.bool_]  # (n, t)
    tasks: tuple[str, ...]

    def fingerprint(self) -> str:
        """Return a hash of what can be chosen."""
        digest = hashlib.sha256("\n".join(self.tasks).encode())
        digest.update(np.ascontiguousarray(self.ids).tobytes())
        digest.update(np.ascontiguousarray(self.is_closed).tobytes())
        return digest.hexdigest()


def open_pool(project: Project, tasks: Sequence[str]) -> Pool:
    """Return the sentences outside the test slice that have a task left open."""
    rows = Sentence.objects.filter(project=project, is_test=False).order_by("id")
    pairs = np.array(list(rows.values_list("id", "n_tokens").iterator(CHUNK)), dtype=np.int64)
    pairs = pairs.reshape(-1, 2)
    is_closed = _closed_cells(project, pairs[:, 0], tasks)
    is_open = ~is_closed.all(axis=1)
    return Pool(pairs[is_open, 0], pairs[is_open, 1], is_closed[is_open], tuple(tasks))


def stream_tokens(ids: NDArray[np.int64]) -> Iterator[list[str]]:
    """Yield the tokens of sentences in the order of their ids, which must rise."""
    for first in range(0, len(ids), CHUNK):
        wanted = [int(i) for i in ids[first : first + CHUNK]]
        rows = Sentence.objects.filter(pk__in=wanted).order_by("id")
        yield from rows.values_list("tokens", flat=True)


def _closed_cells(
    project: Project, ids: NDArray[np.int64], tasks: Sequence[str]
) -> NDArray[np.bool_]:
    column = {name: i for i, name in enumerate(tasks)}
    names = dict(project.tasks.values_list("id", "name"))
    closed = np.zeros((len(ids), len(tasks)), dtype=bool)
    for model in (Gold, Annotation):
        answered = model.objects.filter(sentence__project=project, sentence__is_test=False)
        for sentence_id, task_id in answered.values_list("sentence_id", "task_id").iterator(CHUNK):
            row = int(np.searchsorted(ids, sentence_id))
            closed[row, column[names[task_id]]] = True
    return closed
