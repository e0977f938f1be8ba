"""A linear-chain CRF over packed sentences: loss, marginals and the best sequence."""

import numpy as np
import torch
from torch import Tensor, nn

from mtl_engine.devices import array_of
from mtl_engine.heads.interface import lay_out

IMPOSSIBLE = -1e4  # as a score: a sequence through it counts nothing


class Crf(nn.Module):
    """Scores for a tag following another, and for starting and ending a sentence."""

    def __init__(self, n_tags: int) -> None:
        super().__init__()
        self.start = nn.Parameter(torch.zeros(n_tags))
        self.end = nn.Parameter(torch.zeros(n_tags))
        self.follow = nn.Parameter(torch.zeros(n_tags, n_tags))  # [from, to]

    def losses(
        self, logits: Tensor, gold: Tensor, counts: np.ndarray, smoothing: float
    ) -> Tensor:  # (B,)
        """Return the loss per word against (1 - a) gold + a uniform over all tag sequences.

        Below 0 the gold tag of a word is not known: all sequences through the known ones are right.
        """
        grid, is_word = lay_out(logits, counts)
        tags, _ = lay_out(gold, counts)
        norm = self._forward(grid, is_word)[-1]
        if bool((gold < 0).any()):
            is_other = torch.arange(grid.shape[2], device=grid.device) != tags[:, :, None]
            closed = is_other & (tags >= 0)[:, :, None]
            hit = self._forward(grid.masked_fill(closed, IMPOSSIBLE), is_word)[-1]
        else:
            hit = self._path(grid, tags, is_word)
        if smoothing:
            hit = (1 - smoothing) * hit + smoothing * self._mean_path(grid, is_word)
        result: Tensor = (norm - hit) / is_word.sum(1)
        return result

    def marginals(self, logits: Tensor, counts: np.ndarray) -> np.ndarray:  # (W, s)
        """Return the probability of each tag at each word."""
        with torch.enable_grad():
            scores = logits.detach().clone().requires_grad_()
            grid, is_word = lay_out(scores, counts)
            norm = self._forward(grid, is_word)[-1].sum()
            (marginals,) = torch.autograd.grad(norm, scores)
        rows = np.maximum(array_of(marginals).astype(np.float64), 0.0)
        return rows / rows.sum(1, keepdims=True)

    def best(self, logits: Tensor, counts: np.ndarray) -> np.ndarray:  # (W,)
        """Return the most probable sequence of tags of each sentence (Viterbi)."""
        grid, is_word = lay_out(logits.detach(), counts)
        score = self.start + grid[:, 0]
        back = []
        for t in range(1, grid.shape[1]):
            best, source = (score[:, :, None] + self.follow).max(1)
            alive = is_word[:, t, None]
            back.append(
                torch.where(alive, source, torch.arange(score.shape[1], device=score.device))
            )
            score = torch.where(alive, best + grid[:, t], score)
        path = [(score + self.end).argmax(1)]
        for source in reversed(back):
            path.append(source.gather(1, path[-1][:, None]).squeeze(1))
        tags = torch.stack(path[::-1], 1)
        return array_of(tags[is_word])

    def _forward(self, grid: Tensor, is_word: Tensor) -> list[Tensor]:
        """Return log-sums (B, s) after each word, and last the log normaliser (B,)."""
        sums = [self.start + grid[:, 0]]
        for t in range(1, grid.shape[1]):
            step = torch.logsumexp(sums[-1][:, :, None] + self.follow, 1) + grid[:, t]
            sums.append(torch.where(is_word[:, t, None], step, sums[-1]))
        return [*sums, torch.logsumexp(sums[-1] + self.end, 1)]

    def _path(self, grid: Tensor, tags: Tensor, is_word: Tensor) -> Tensor:  # (B,)
        words = grid.gather(2, tags[:, :, None]).squeeze(2)
        steps = self.follow[tags[:, :-1], tags[:, 1:]]
        last = tags.gather(1, is_word.sum(1, keepdim=True) - 1).squeeze(1)
        return (
            (words * is_word).sum(1)
            + (steps * is_word[:, 1:]).sum(1)
            + self.start[tags[:, 0]]
            + self.end[last]
        )

    def _mean_path(self, grid: Tensor, is_word: Tensor) -> Tensor:  # (B,)
        """Return the mean score of all tag sequences."""
        n_steps = is_word.sum(1) - 1
        words = (grid.mean(-1) * is_word).sum(1)
        return words + n_steps * self.follow.mean() + self.start.mean() + self.end.mean()
