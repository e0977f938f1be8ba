"""Links of documents: pairs within a window of sentences, on spans that are known or predicted."""

import pickle

import numpy as np
import torch

from mtl_engine.config import EncoderConfig, EngineConfig, TrainingConfig
from mtl_engine.documents import DocumentWords, read_words
from mtl_engine.encoders.pack import Pieces, collate
from mtl_engine.heads.interface import States
from mtl_engine.heads.nested_spans import NOTHING
from mtl_engine.heads.span_pairs import near_pairs
from mtl_engine.prediction import predict
from mtl_engine.training import End, train
from mtl_engine.types import Example, TaskSpec
from tests.mtl_engine.states import head_for, states_of

SPANS = TaskSpec("s", "spans", ("A", "B"), is_nested=True)
LINKS = TaskSpec("r", "relations", ("to",), parent="s", is_document=True, window=2)
INNER = np.array([0, 0, 0, 1, 1, 2, 2])
KNOWN = {"s": [[0, 1, "A"], [3, 4, "B"], [5, 7, "A"]]}


def _states(inner=INNER, spans=()):
    states = states_of(len(inner))
    return States(states.words, states.counts, states.pooled, inner, tuple(spans))


def _scores(states, links=LINKS):
    spans, head = head_for(SPANS, links), head_for(links, SPANS)
    with torch.no_grad():
        return head, head(states, spans(states))


def _places(scores):
    candidates = scores.parent.spans
    return [
        tuple(int(edge[one]) for one in pair for edge in (candidates.start, candidates.end))
        for pair in zip(scores.first, scores.second, strict=True)
    ]


def test_pairs_are_those_whose_sentences_lie_in_one_window():
    first, second = near_pairs([np.array([0, 2, 5])], [np.array([1, 3, 5])], INNER, 2)
    assert list(zip(first, second, strict=True)) == [
        (0, 1), (0, 3), (2, 1), (2, 3), (5, 3), (5, 5),
    ]  # fmt: skip


def test_no_candidate_crosses_a_border_and_each_sentence_keeps_its_own():
    head, scores = _scores(_states())
    places = _places(scores)
    of = {(s, e): {INNER[s], INNER[e - 1]} for pair in places for s, e in (pair[:2], pair[2:])}
    assert all(len(sentences) == 1 for sentences in of.values())
    assert set().union(*of.values()) == {0, 1, 2}
    assert all(abs(INNER[a] - INNER[c]) < 2 for a, _, c, _ in places)
    taught = head.training_losses(
        scores.states,
        [head.encode(7, [[0, 1, 3, 4, "to"]])],
        0.0,
        *[type("P", (), {"scores": scores.parent, "targets": [None]})()],
    )
    assert torch.isfinite(taught).all()


def test_links_stand_on_known_spans_and_no_others():
    head, scores = _scores(_states(spans=[KNOWN]))
    near = {(0, 1, 3, 4), (3, 4, 0, 1), (3, 4, 5, 7), (5, 7, 3, 4)}
    assert set(_places(scores)) == near
    reading = head.read(scores)
    assert reading.is_between_answers().all()
    assert (reading.ends[0].labels != NOTHING).sum() == 3
    links = {tuple(link[:4]) for link in reading.answers()[0]}
    assert links <= near


def test_the_inside_of_documents_goes_along_through_batches_and_processes():
    document = DocumentWords.of([["a", "b"], ["c"]])
    assert (document.starts, document.sentence_of(1), document.sentence_of(2)) == ((0, 2), 0, 1)
    known = DocumentWords(document, document.starts, {"s": [[0, 1, "A"]]})
    again = pickle.loads(pickle.dumps(known))
    assert (again, again.starts, again.spans) == (known, known.starts, known.spans)

    class Reader:
        def read(self, sentences):
            one = np.array([1], dtype=np.int32)
            return [Pieces(np.arange(len(s)), one * len(s), np.arange(len(s))) for s in sentences]

    pack = collate(read_words(Reader(), [("x",), known]))
    assert pack.inner.tolist() == [0, 0, 0, 1]
    assert pack.spans == ({}, known.spans)
    assert collate(read_words(Reader(), [("x",)])).inner is None


def test_links_across_sentences_are_learned():
    names, examples = ["Ada", "Bob", "Cleo", "Dan"], []
    for n in range(24):
        who, other = names[n % 4], names[(n // 4) % 4]
        sentences = [[who, "came"], ["then", "she", "met", other], ["so", "it", "was"]]
        words = DocumentWords.of(sentences)
        spans = {"s": [[0, 1, "A"], [3, 4, "B"], [5, 6, "A"]]}
        known = DocumentWords(words, words.starts, spans)
        examples.append(Example(known, {"r": [[3, 4, 0, 1, "to"]]}))
    config = EngineConfig(
        encoder=EncoderConfig(kind="tiny", width=32, layers=1),
        training=TrainingConfig(epochs=20, learning_rate=1e-2),
    )
    *_, end = train(examples[:18], examples[18:], [SPANS, LINKS], config, device="cpu")
    assert isinstance(end, End)
    documents = [e.tokens for e in examples[18:]]
    found = [one.answers["r"] for one in predict(end.model, documents, tasks=["r"])]
    assert found == [[[3, 4, 0, 1, "to"]]] * len(documents)
