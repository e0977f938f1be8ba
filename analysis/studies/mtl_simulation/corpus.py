"""Tagged sentences as arrays: word numbers, windows, IO labels and gold chunks."""

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analysis.errors import AnalysisError
from analysis.methods.simulator import to_io
from analysis.studies.mtl_simulation.scoring import GoldChunks, gold_chunks

Ints = NDArray[np.int64]
PADDING = 0  # the word beyond a sentence's ends
OUTSIDE = "O"


@dataclass(frozen=True)
class TaggedText:
    """The tokens of many sentences, one after the other."""

    words: Ints  # (m,) numbers in the corpus' vocabulary
    labels: Ints  # (m,) IO labels
    starts: Ints  # (sentences,) where each begins
    gold: GoldChunks

    def windows(self, context: int) -> Ints:
        """Return (m, 2c + 1) word numbers around each token, padded at its sentence's ends."""
        m = len(self.words)
        ends = np.append(self.starts[1:], m)
        sizes = ends - self.starts
        first, last = np.repeat(self.starts, sizes), np.repeat(ends, sizes)
        places = np.arange(m)[:, None] + np.arange(-context, context + 1)
        is_inside = (places >= first[:, None]) & (places < last[:, None])
        return np.where(is_inside, self.words[places.clip(0, m - 1)], PADDING)


@dataclass(frozen=True)
class TaggedCorpus:
    """Texts to learn from, to stop by and to test on, with one vocabulary and one label set."""

    vocabulary: tuple[str, ...]  # of word 1, 2, ...; word 0 is padding
    labels: tuple[str, ...]
    train: TaggedText
    dev: TaggedText
    test: TaggedText


Sentences = Sequence[tuple[Sequence[str], Sequence[str]]]  # tokens and their IOB2 tags


def read_tagged(
    train: Sentences,
    dev: Sentences,
    test: Sentences,
    *,
    dev_tokens: int = 0,
    test_tokens: int = 0,
) -> TaggedCorpus:
    """Return sentences as arrays; dev and test keep about their first so many tokens, 0 = all."""
    parts = [train, _first_tokens(dev, dev_tokens), _first_tokens(test, test_tokens)]
    words = dict.fromkeys(token for part in parts for tokens, _ in part for token in tokens)
    number = {word: i for i, word in enumerate(words, 1)}
    labels = sorted({label for _, tags in train for label in to_io(tags)})
    _check_labels(labels)
    texts = [_text(part, number, labels) for part in parts]
    return TaggedCorpus(tuple(words), tuple(labels), *texts)


def draw_tokens(text: TaggedText, n: int, rng: np.random.Generator) -> Ints:
    """Return n token numbers: random whole sentences, the last one cut."""
    m = len(text.words)
    if not 0 < n <= m:
        raise AnalysisError(f"{n} tokens cannot be drawn from a text of {m}.")
    order = rng.permutation(len(text.starts))
    sizes = np.diff(np.append(text.starts, m))[order]
    chosen = order[: int(np.searchsorted(sizes.cumsum(), n)) + 1]
    ends = np.append(text.starts[1:], m)
    tokens = np.concatenate([np.arange(text.starts[i], ends[i]) for i in chosen])
    return tokens[:n]


def _first_tokens(sentences: Sentences, most: int) -> Sentences:
    if not most:
        return sentences
    sizes = np.cumsum([len(tokens) for tokens, _ in sentences])
    return sentences[: int(np.searchsorted(sizes, most)) + 1]


def _text(sentences: Sentences, number: dict[str, int], labels: Sequence[str]) -> TaggedText:
    if not sentences:
        raise AnalysisError("A text to learn from or to test on has no sentences.")
    place = {label: i for i, label in enumerate(labels)}
    sizes = [len(tokens) for tokens, _ in sentences]
    io = [label for _, tags in sentences for label in to_io(tags)]
    strange = sorted(set(io) - place.keys())
    if strange:
        raise AnalysisError(f"Label '{strange[0]}' is tested but never trained. Known: {labels}.")
    return TaggedText(
        words=np.array([number[token] for tokens, _ in sentences for token in tokens]),
        labels=np.array([place[label] for label in io]),
        starts=np.cumsum([0, *sizes[:-1]]),
        gold=gold_chunks([tags for _, tags in sentences], labels, outside=OUTSIDE),
    )


def _check_labels(labels: Sequence[str]) -> None:
    strange = [label for label in labels if label != OUTSIDE and not label.startswith("I-")]
    if strange or OUTSIDE not in labels or len(labels) < 2:
        raise AnalysisError(
            f"Labels are those of entities (O, B-PER, I-PER, ...), not {list(labels)}: choose a "
            "layer of spans."
        )
