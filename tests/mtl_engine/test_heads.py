"""Heads: losses against hand-made numbers, decoding against enumeration."""

from dataclasses import replace
from itertools import pairwise, product

import numpy as np
import pytest
import torch

from mtl_engine.calibration import best_threshold
from mtl_engine.config import ModelConfig
from mtl_engine.errors import EngineError, UnknownName
from mtl_engine.heads import new_head
from mtl_engine.heads.candidates import candidate_number, candidates
from mtl_engine.heads.crf import Crf
from mtl_engine.heads.interface import Parent, softmax
from mtl_engine.heads.losses import cross_entropy, masked_cross_entropy, null_cross_entropy
from mtl_engine.heads.nested_spans import SpanScores
from mtl_engine.heads.span_pairs import between, range_maxima, range_means
from mtl_engine.heads.tags import TagScores
from mtl_engine.types import TaskSpec
from tests.mtl_engine.corpus import MOVES, SPANS, TASKS
from tests.mtl_engine.states import WIDTH, head_for, states_of

# losses


@pytest.mark.parametrize(
    ("smoothing", "loss"), [(0.2, 0.5031793529), (0.1, 0.3365126862), (0.0, 0.1698460196)]
)
def test_label_smoothing_spreads_over_all_classes(smoothing, loss):
    logits, target = torch.tensor([[2.0, 0.0, -1.0]]), torch.tensor([0])
    assert cross_entropy(logits, target, smoothing).item() == pytest.approx(loss, abs=1e-6)
    everything = torch.ones(1, 3, dtype=torch.bool)
    masked = masked_cross_entropy(logits, target, everything, smoothing)
    assert masked.item() == pytest.approx(loss, abs=1e-6)


@pytest.mark.parametrize("smoothing", [0.0, 0.2])
def test_inadmissible_classes_take_no_part_in_the_loss(smoothing):
    wide = torch.tensor([[2.0, 9.0, 0.0, -1.0, 5.0]])
    mask = torch.tensor([[True, False, True, True, False]])
    narrow = wide[mask][None]
    assert masked_cross_entropy(wide, torch.tensor([2]), mask, smoothing).item() == pytest.approx(
        cross_entropy(narrow, torch.tensor([1]), smoothing).item()
    )


def test_a_tag_loss_is_the_mean_over_words_of_each_sentence():
    head = head_for(TaskSpec("pos", "tags", ("a", "b")))
    logits = torch.tensor([[0.0, 0.0], [0.0, 0.0], [np.log(3.0), 0.0]])
    scores = TagScores(states_of(2, 1), logits)
    losses = head.losses(scores, [head.encode(2, ["a", "b"]), head.encode(1, ["b"])], 0.0)
    assert losses.tolist() == pytest.approx([np.log(2), np.log(4)], abs=1e-6)


# conditional random field


def enumerate_paths(crf, logits):
    """Return {path: score} for one sentence, by brute force."""
    scores = {}
    for path in product(range(logits.shape[1]), repeat=len(logits)):
        score = crf.start[path[0]] + crf.end[path[-1]]
        score = score + sum(logits[t, tag] for t, tag in enumerate(path))
        score = score + sum(crf.follow[a, b] for a, b in pairwise(path))
        scores[path] = float(score)
    return scores


@pytest.fixture
def crf():
    torch.manual_seed(1)
    crf = Crf(3)
    for weight in crf.parameters():
        torch.nn.init.normal_(weight)
    return crf.requires_grad_(False)


def test_a_crf_agrees_with_enumeration(crf):
    counts = np.array([3, 1, 2])
    logits = torch.randn(6, 3)
    gold = torch.tensor([0, 2, 1, 1, 2, 2])
    smoothing = 0.1
    losses = crf.losses(logits, gold, counts, smoothing)
    marginals, best = crf.marginals(logits, counts), crf.best(logits, counts)
    for row, (start, end) in enumerate([(0, 3), (3, 4), (4, 6)]):
        paths = enumerate_paths(crf, logits[start:end])
        values = np.array(list(paths.values()))
        norm = np.log(np.exp(values).sum())
        right = paths[tuple(gold[start:end].tolist())]
        expected = norm - (1 - smoothing) * right - smoothing * values.mean()
        assert losses[row].item() == pytest.approx(expected / (end - start), abs=1e-4)
        assert tuple(best[start:end]) == max(paths, key=paths.get)
        for place in range(end - start):
            for tag in range(3):
                mass = sum(np.exp(v - norm) for path, v in paths.items() if path[place] == tag)
                assert marginals[start + place, tag] == pytest.approx(mass, abs=1e-4)


def test_a_crf_takes_all_paths_through_the_known_tags_for_right(crf):
    logits = torch.randn(4, 3)
    loss = crf.losses(logits, torch.tensor([-1, 2, -1, 0]), np.array([4]), 0.0)
    paths = enumerate_paths(crf, logits)
    norm = np.log(np.exp(list(paths.values())).sum())
    right = np.log(sum(np.exp(v) for path, v in paths.items() if path[1] == 2 and path[3] == 0))
    assert loss.item() == pytest.approx((norm - right) / 4, abs=1e-4)


# spans


def test_flat_spans_go_through_tags_and_back():
    head = head_for(TaskSpec("ner", "spans", ("PER", "LOC")))
    tags = head.encode(5, [[0, 2, "PER"], [2, 3, "PER"], [4, 5, "LOC"]])
    assert [head.names[tag] for tag in tags] == ["B-PER", "I-PER", "B-PER", "O", "B-LOC"]
    logits = torch.full((5, 5), -5.0)
    logits[range(5), tags] = 5.0
    reading = head.read(TagScores(states_of(5), logits))
    assert reading.answers() == [[[0, 2, "PER"], [2, 3, "PER"], [4, 5, "LOC"]]]
    assert reading.expected_items()[0] == pytest.approx(3, abs=0.01)


def test_a_span_is_as_sure_as_the_geometric_mean_of_its_words():
    head = head_for(TaskSpec("ner", "spans", ("X",)))
    probabilities = torch.tensor([[0.1, 0.8, 0.1], [0.25, 0.25, 0.5], [0.9, 0.05, 0.05]])
    reading = head.read(TagScores(states_of(3), probabilities.log()))
    assert reading.answers() == [[[0, 2, "X"]]]
    assert reading.item_confidence()[0] == pytest.approx([np.sqrt(0.8 * 0.5)])


def test_overlapping_spans_of_a_flat_task_are_refused():
    with pytest.raises(EngineError, match="flat.*overlap"):
        head_for(TaskSpec("ner", "spans", ("X",))).encode(4, [[0, 3, "X"], [2, 4, "X"]])


@pytest.mark.parametrize("span", [[0, 0, "X"], [2, 1, "X"], [0, 5, "X"], [-1, 2, "X"]])
def test_a_span_outside_its_sentence_is_refused(span):
    for is_nested in (False, True):
        with pytest.raises(EngineError, match="0 <= start < end <= 4"):
            head_for(TaskSpec("ner", "spans", ("X",), is_nested=is_nested)).encode(4, [span])


def test_candidates_are_all_runs_of_at_most_so_many_words():
    found = candidates(np.array([3, 1]), 2)
    spans = list(zip(found.sentence, found.start, found.end, strict=True))
    assert spans == [(0, 0, 1), (0, 0, 2), (0, 1, 2), (0, 1, 3), (0, 2, 3), (1, 0, 1)]
    assert found.counts.tolist() == [5, 1]
    assert found.first_row.tolist() == [0, 0, 1, 1, 2, 3]
    assert found.last_row.tolist() == [0, 1, 1, 2, 2, 3]
    for number, (_, start, end) in enumerate(spans[:5]):
        assert candidate_number(3, start, end, 2) == number
    assert candidate_number(3, 0, 3, 2) is None


def span_scores(head, counts, labels):
    """Return scores that favour the given {(sentence, start, end): (label, logit)}."""
    spans = candidates(np.array(counts), head.max_width)
    logits = torch.zeros(len(spans.start), 1 + len(head.task.labels))
    logits[:, 0] = 2.0
    for number, key in enumerate(zip(spans.sentence, spans.start, spans.end, strict=True)):
        if key in labels:
            label, logit = labels[key]
            logits[number, 1 + head.index[label]] = logit
    return SpanScores(states_of(*counts), spans, logits)


def test_nested_spans_keep_overlaps_and_flat_ones_the_surer():
    labels = {(0, 0, 3): ("LOC", 5.0), (0, 1, 2): ("PER", 9.0), (0, 3, 4): ("PER", 4.0)}
    nested = head_for(TaskSpec("ner", "spans", ("PER", "LOC"), is_nested=True), max_span_width=3)
    assert nested.read(span_scores(nested, [4], labels)).answers() == [
        [[0, 3, "LOC"], [1, 2, "PER"], [3, 4, "PER"]]
    ]
    flat = head_for(SPANS, MOVES, max_span_width=3)
    reading = flat.read(span_scores(flat, [4], labels))
    assert reading.answers() == [[[1, 2, "PER"], [3, 4, "PER"]]]
    assert len(reading.item_confidence()[0]) == 2


@pytest.mark.parametrize("temperature", [0.01, 0.1, 1.0, 10.0])
def test_a_temperature_changes_how_sure_spans_are_and_not_which(temperature):
    three = TaskSpec("entities", "spans", ("PER", "LOC", "ORG"))
    head = head_for(three, MOVES, max_span_width=2)
    scores = span_scores(head, [2], {})
    scores.logits[:] = torch.tensor(
        [
            [0.0, 2.0, 0.4, 0.4],  # [0, 1): the surer at 0.1, and at 0.01 as sure as the next
            [-9.0, 1.0, -9.0, 0.0],  # [0, 2): the surer at 1
            [9.0, 0.0, 0.0, 0.0],
        ]
    )
    assert head.read(scores, temperature).answers() == [[[0, 2, "PER"]]]
    relations = new_head(MOVES, [three, MOVES], WIDTH, ModelConfig(max_span_width=2)).eval()
    with torch.no_grad():
        linked = relations.read(relations(scores.states, scores), temperature)
    assert linked.ends[0].answers() == [[[0, 2, "PER"]]]


def test_a_span_wider_than_the_candidates_is_left_out_of_the_target():
    head = head_for(TaskSpec("ner", "spans", ("X",), is_nested=True), max_span_width=2)
    assert head.encode(4, [[0, 4, "X"], [1, 3, "X"]]).sum() == 1


def test_null_candidates_of_spans_are_not_smoothed():
    head = head_for(TaskSpec("ner", "spans", ("X", "Y"), is_nested=True), max_span_width=1)
    scores = span_scores(head, [2], {(0, 1, 2): ("X", 5.0)})
    loss = head.losses(scores, [np.array([0, 1])], 0.3)
    null, marked = scores.logits.log_softmax(-1)
    expected = -float(null[0]) - 0.7 * float(marked[1]) - 0.3 * float(marked.mean())
    assert loss.tolist() == pytest.approx([expected / 2])  # per word


def test_ranges_of_words_have_means_and_maxima_and_0_where_they_are_empty():
    words = torch.tensor([[1.0, -5.0], [4.0, -2.0], [-2.0, -9.0], [0.0, -1.0], [3.0, -3.0]])
    low, high = np.array([0, 1, 2, 0, 3]), np.array([1, 4, 2, 5, 5])
    assert range_means(words, low, high).tolist() == [
        [1.0, -5.0], [pytest.approx(2 / 3), -4.0], [0.0, 0.0], [pytest.approx(1.2), -4.0],
        [1.5, -2.0],
    ]  # fmt: skip
    assert range_maxima(words, low, high).tolist() == [
        [1.0, -5.0], [4.0, -1.0], [0.0, 0.0], [4.0, -1.0], [3.0, -1.0],
    ]  # fmt: skip


def test_between_two_spans_are_the_words_after_one_and_before_the_other():
    spans = candidates(np.array([5]), 1)  # one candidate per word
    low, high = between(spans, np.array([0, 4, 1]), np.array([3, 1, 2]))
    assert (low.tolist(), high.tolist()) == ([1, 2, 2], [3, 4, 2])


# relations


def relation_setup(keep=0.6):
    spans = head_for(SPANS, MOVES, max_span_width=2)
    torch.manual_seed(0)
    config = ModelConfig(max_span_width=2, span_keep=keep, pair_width=8)
    relations = new_head(MOVES, [SPANS, MOVES], WIDTH, config).eval()
    return spans, relations


def test_kept_spans_are_the_likeliest_and_pairs_never_link_a_span_to_itself():
    spans, relations = relation_setup()
    labels = {(0, 0, 2): ("PER", 5.0), (0, 3, 4): ("LOC", 4.0), (0, 4, 5): ("LOC", 3.0)}
    parent = span_scores(spans, [5, 1], labels)
    scores = relations(parent.states, parent)
    pairs = [
        (int(parent.spans.start[a]), int(parent.spans.start[b]))
        for a, b in zip(scores.first, scores.second, strict=True)
    ]
    assert pairs == [(0, 3), (0, 4), (3, 0), (3, 4), (4, 0), (4, 3)]  # floor(0.6 * 5) = 3 spans
    assert scores.counts.tolist() == [6, 0]


def test_a_sentence_without_pairs_is_sure_and_says_so():
    spans, relations = relation_setup()
    likely = {(1, start, start + 1): ("PER", 30.0) for start in range(3)}
    parent = span_scores(spans, [1, 5], likely)
    reading = relations.read(unsure_of_all_pairs(relations(parent.states, parent)))
    assert reading.confidence().tolist() == pytest.approx([1.0, 0.0], abs=1e-6)
    assert reading.is_judged().tolist() == [False, True]
    assert reading.answers() == [[], []]


def unsure_of_all_pairs(scores):
    return scores.__class__(**{**vars(scores), "logits": torch.zeros_like(scores.logits)})


def test_pairs_count_by_the_probability_that_both_are_spans():
    spans, relations = relation_setup()
    parent = span_scores(spans, [5], {(0, 0, 1): ("PER", 0.0), (0, 2, 3): ("LOC", 0.0)})
    reading = relations.read(unsure_of_all_pairs(relations(parent.states, parent)))
    probability = 1 - softmax(parent.logits.numpy())[:, 0]  # of being a span
    first, second = reading.scores.first, reading.scores.second
    weight = sum(probability[a] * probability[b] for a, b in zip(first, second, strict=True))
    assert reading.entropy() == pytest.approx(weight * np.log(3))
    assert reading.expected_items() == pytest.approx(weight * 2 / 3)
    assert reading.confidence() == pytest.approx(1 - weight / max(1, weight))


def test_relations_learn_from_pairs_of_gold_spans_and_as_many_others():
    spans, relations = relation_setup(keep=2.0)
    parent = span_scores(spans, [8], {})
    gold_spans = [[0, 1, "PER"], [2, 3, "PER"], [4, 6, "LOC"], [6, 7, "LOC"]]
    target = relations.encode(8, [[0, 1, 4, 6, "goes_to"]])
    seen = []
    relations.losses = lambda scores, targets, smoothing: seen.append(scores)
    relations.training_losses(
        parent.states, [target], 0.0, Parent(parent, [spans.encode(8, gold_spans)])
    )
    starts, ends = parent.spans.start, parent.spans.end
    gold = {(start, end) for start, end, _ in gold_spans}
    pairs = [
        ((starts[a], ends[a]) in gold) + ((starts[b], ends[b]) in gold)
        for a, b in zip(seen[0].first, seen[0].second, strict=True)
    ]
    assert pairs.count(2) == 12
    assert len(pairs) == 24


def test_smoothing_leaves_null_pairs_alone():
    logits = torch.tensor([[0.3, 1.0, -2.0], [0.3, 1.0, -2.0]])
    losses = null_cross_entropy(logits, torch.tensor([0, 1]), 0.2)
    rows = logits.log_softmax(-1)
    assert losses.tolist() == pytest.approx(
        [-float(rows[0, 0]), float(-0.8 * rows[1, 1] - 0.2 * rows[1].mean())]
    )


@pytest.mark.parametrize(
    ("margins", "hits", "n_gold", "expected"),
    [
        ([3.0, 1.0, -1.0, -2.0], [1, 1, 1, 0], 4, -1.5),  # F1 .4 .67 .86 .75
        ([3.0, 1.0], [1, 1], 2, 0.5),
        ([2.0, 1.0, -1.0, -2.0, -3.0], [1, 1, 0, 0, 1], 4, 0.0),  # .67 at 0, .67 at -3.5: a tie
        ([3.0, 1.0], [0, 0], 2, 0.0),
        ([], [], 3, 0.0),
    ],
)
def test_the_null_offset_gives_the_best_f1(margins, hits, n_gold, expected):
    assert best_threshold(np.array(margins), np.array(hits), n_gold) == expected


def test_a_null_offset_changes_which_relations_are_answered_and_not_how_sure_they_are():
    spans, relations = relation_setup(keep=1.0)
    parent = span_scores(spans, [3], {(0, 0, 1): ("PER", 6.0), (0, 2, 3): ("LOC", 5.0)})
    scores = relations(parent.states, parent)
    logits = torch.zeros_like(scores.logits)
    logits[:, 0] = 1.0
    logits[:, 2] = 0.5
    scores = scores.__class__(**{**vars(scores), "logits": logits})
    silent = relations.read(scores)
    relations.null_offset.fill_(-0.6)
    speaking = relations.read(scores)
    assert silent.answers() == [[]]
    assert [answer[4] for answer in speaking.answers()[0]] == ["comes_from"] * 2
    assert speaking.confidence().tolist() == silent.confidence().tolist()
    assert speaking.item_confidence()[0] == pytest.approx([float(logits[0].softmax(0)[2])] * 2)


def test_relations_link_only_spans_of_the_parents_answer():
    spans, relations = relation_setup(keep=1.0)
    labels = {(0, 0, 1): ("PER", 6.0), (0, 2, 3): ("LOC", 5.0)}
    parent = span_scores(spans, [3], labels)
    scores = relations(parent.states, parent)
    logits = torch.zeros_like(scores.logits)
    logits[:, 2] = 3.0
    reading = relations.read(scores.__class__(**{**vars(scores), "logits": logits}))
    assert reading.answers() == [[[0, 1, 2, 3, "comes_from"], [2, 3, 0, 1, "comes_from"]]]
    assert len(reading.item_confidence()[0]) == 2
    assert reading.votes()[0].shape == (3,)


def test_gold_spans_are_taught_even_where_the_parent_sees_nothing():
    spans, relations = relation_setup()
    parent = span_scores(spans, [5], {(0, 0, 1): ("PER", 9.0)})
    target = relations.encode(5, [[1, 3, 4, 5, "goes_to"]])
    gold = spans.encode(5, [[1, 3, "PER"], [4, 5, "LOC"], [0, 1, "LOC"]])
    seen = []
    relations.losses = lambda scores, targets, smoothing: seen.append(scores)
    relations.training_losses(parent.states, [target], 0.0, Parent(parent, [gold]))
    (scores,) = seen
    ends = {
        (int(parent.spans.start[c]), int(parent.spans.end[c]))
        for c in np.union1d(scores.first, scores.second)
    }
    assert {(1, 3), (4, 5), (0, 1)} <= ends
    labels = relations._gold(scores, [target], np.zeros(len(scores.first), dtype=int))
    (linked,) = np.flatnonzero(labels)
    assert labels[linked] == 1
    assert (
        parent.spans.start[scores.first[linked]],
        parent.spans.start[scores.second[linked]],
    ) == (1, 4)


def test_a_relation_outside_its_sentence_is_refused():
    with pytest.raises(EngineError, match="leaves its sentence of 3 tokens"):
        relation_setup()[1].encode(3, [[0, 1, 2, 4, "goes_to"]])


# all kinds


@pytest.mark.parametrize("task", TASKS, ids=lambda task: task.kind)
def test_an_unknown_label_is_refused_with_the_nearest_known_one(task):
    head = head_for(task, *[other for other in TASKS if other is not task])
    answers = {
        "spans": [[0, 1, "PERS"]],
        "tags": ["NOUM"],
        "classes": "questio",
        "tree": [[0, "roott"]],
        "relations": [[0, 1, 1, 2, "goes_too"]],
    }
    with pytest.raises(UnknownName, match="Did you mean"):
        head.encode(2 if task.kind == "relations" else 1, answers[task.kind])


@pytest.mark.parametrize("kind", ["tags", "tree"])
def test_an_answer_needs_one_entry_per_token(kind):
    head = head_for(TaskSpec("t", kind, ("x",)))
    with pytest.raises(EngineError, match="has 2 entries for a sentence of 3 tokens"):
        head.encode(3, [[0, "x"]] * 2 if kind == "tree" else ["x"] * 2)


@pytest.mark.parametrize("kind", ["tags", "classes", "tree"])
def test_a_task_that_always_needs_a_label_must_have_one(kind):
    with pytest.raises(EngineError, match="has no labels"):
        head_for(TaskSpec("t", kind, ()))


def test_several_classes_are_answered_where_dev_sentences_say_so():
    head = head_for(TaskSpec("topics", "multiclasses", ("b", "a", "c")))
    logits = torch.tensor([[2.0, -1.0, -3.0], [-1.0, -2.0, -3.0]] * 10)
    targets = [head.encode(3, ["a", "b"]), head.encode(3, ["b"])] * 10
    assert head.read(logits[:2]).answers() == [["b"], []]
    head.fit_decision([(logits, targets)])
    reading = head.read(logits[:2])
    assert reading.answers() == [["a", "b"], ["b"]]
    assert [len(row) for row in reading.item_confidence()] == [2, 1]
    assert not np.concatenate(head.wrong_units(logits[:2], reading, targets[:2])).any()
    assert reading.expected_items()[0] == pytest.approx(0.881 + 0.269 + 0.047, abs=1e-3)
    plain = head.losses(torch.zeros(1, 3), [head.encode(3, [])], 0.0)
    assert float(plain) == pytest.approx(3 * np.log(2), abs=1e-6)


DRUGS = TaskSpec("drug", "spans", ("DRUG", "CLASS"), is_nested=True)
DOSES = TaskSpec("dose", "spans", ("DOSE", "FORM"), is_nested=True)


def surely(head, n_tokens, spans):
    """Scores of one sentence in which exactly these spans are answered."""
    with torch.no_grad():
        scores = head(states_of(n_tokens))
    logits = torch.full_like(scores.logits, -9.0)
    logits[:, 0] = 9.0
    for place, number in enumerate(head.encode(n_tokens, spans)):
        if number:
            logits[place, 0], logits[place, number] = -9.0, 9.0
    return replace(scores, logits=logits)


def learned(task, parents, spans, answer, n_tokens=6):
    """The answer to one sentence after learning it by heart, the head, and the parents' scores."""
    head = head_for(task, *parents, max_span_width=3, dropout=0.0)
    over = [head_for(parent, task, max_span_width=3) for parent in parents]
    scores = [surely(one, n_tokens, spans[one.task.name]) for one in over]
    told = [
        Parent(found, [one.encode(n_tokens, spans[one.task.name])])
        for found, one in zip(scores, over, strict=True)
    ]
    target = head.encode(n_tokens, answer)
    optimizer = torch.optim.Adam(head.parameters(), lr=0.03)
    for _ in range(60):
        optimizer.zero_grad()
        head.training_losses(scores[0].states, [target], 0.0, *told).sum().backward()
        optimizer.step()
    with torch.no_grad():
        return head.read(head(scores[0].states, *scores)).answers()[0], head, scores


def test_relations_of_two_tasks_are_learned_from_the_first_to_the_second():
    task = TaskSpec("gives", "relations", ("of", "as"), parent="drug", second_parent="dose")
    spans = {"drug": [[0, 1, "DRUG"], [1, 2, "DRUG"]], "dose": [[1, 2, "DOSE"], [3, 5, "DOSE"]]}
    links = [[0, 1, 3, 5, "of"], [1, 2, 1, 2, "as"]]  # the same words may be a span of both
    found, _, _ = learned(task, [DRUGS, DOSES], spans, links)
    assert found == links


def test_a_label_is_never_answered_between_types_that_it_may_not_link():
    spans = {"drug": [[0, 1, "CLASS"]], "dose": [[3, 5, "DOSE"]]}
    free = TaskSpec("gives", "relations", ("of", "as"), parent="drug", second_parent="dose")
    found, head, scores = learned(free, [DRUGS, DOSES], spans, [[0, 1, 3, 5, "of"]])
    assert found == [[0, 1, 3, 5, "of"]]
    bound = replace(free, pairs={"of": [["DRUG", "DOSE"]]})
    strict = head_for(bound, DRUGS, DOSES, max_span_width=3)
    strict.load_state_dict(head.state_dict())
    with torch.no_grad():
        answers = strict.read(strict(scores[0].states, *scores)).answers()
    assert "of" not in {link[-1] for link in answers[0]}


def test_attributes_are_learned_and_of_one_attribute_one_value_is_answered():
    task = TaskSpec("facts", "attributes", ("negated", "sure.no", "sure.yes"), parent="drug")
    spans = {"drug": [[0, 1, "DRUG"], [2, 4, "DRUG"], [5, 6, "CLASS"]]}
    wanted = [[0, 1, "negated"], [0, 1, "sure.no"], [2, 4, "sure.yes"]]
    found, head, scores = learned(task, [DRUGS], spans, wanted)
    assert found == wanted
    with torch.no_grad():
        read = head(scores[0].states, *scores)
        judged = head.judge_items(read, [[[0, 1, "sure.yes"]]], parents=[spans["drug"]])
    wrong = next(item for item in judged[0] if item.given)
    assert wrong.given == (0, 1, "sure.yes")
    assert wrong.likelihood < 0.1
    head.threshold.fill_(-99.0)  # everything is likely enough
    (answer,) = head.read(read).answers()
    assert len([row for row in answer if row[2].startswith("sure")]) == 3
    assert task.check(answer, [*"abcdef"], spans["drug"]) == []
