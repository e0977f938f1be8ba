import krippendorff
import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from sklearn.metrics import cohen_kappa_score

from annotation.adjudication.agreement import Ratio, measure_agreement, ratio_score


def _classes(first, second):
    answers = [{"ann": a, "ben": b} for a, b in zip(first, second, strict=True)]
    return measure_agreement("classes", answers, [5] * len(answers))


def test_cohens_kappa_by_hand():
    first = ["y"] * 25 + ["n"] * 25
    second = ["y"] * 20 + ["n"] * 5 + ["y"] * 10 + ["n"] * 15
    assert _classes(first, second).scores["kappa"].value == pytest.approx((0.7 - 0.5) / 0.5)


def test_fleiss_kappa_by_hand():
    report = _classes(["a", "a", "b"], ["a", "b", "b"])
    observed = (1 + 0 + 1) / 3
    expected = 0.5**2 + 0.5**2
    assert report.scores["fleiss"].value == pytest.approx((observed - expected) / (1 - expected))


def test_fleiss_kappa_is_not_told_where_few_answered_everything():
    answers = [{"ann": "a", "ben": "a"}, {"ann": "b", "ben": "a"}, {"ben": "b", "cy": "b"}]
    answers.append({"ann": "a", "ben": "b", "cy": "c"})
    report = measure_agreement("classes", answers, [5] * len(answers))
    assert report.scores["fleiss"].value is None
    assert report.scores["alpha"].value is not None


PUBLISHED = [
    ["1", "2", "3", "3", "2", "1", "4", "1", "2", None, None, None],
    ["1", "2", "3", "3", "2", "2", "4", "1", "2", "5", None, "3"],
    [None, "3", "3", "3", "2", "3", "4", "2", "2", "5", "1", None],
    ["1", "2", "3", "3", "2", "4", "4", "1", "2", "5", "1", None],
]


def test_krippendorffs_alpha_of_the_published_example():
    answers = [
        {f"rater {i}": value for i, value in enumerate(unit) if value is not None}
        for unit in zip(*PUBLISHED, strict=True)
    ]
    report = measure_agreement("classes", answers, [1] * len(answers))
    assert report.scores["alpha"].value == pytest.approx(0.743, abs=0.001)


@given(
    ratings=st.lists(
        st.tuples(*[st.sampled_from([None, "a", "b", "c"])] * 3), min_size=2, max_size=12
    )
)
def test_alpha_and_kappa_equal_those_of_the_libraries(ratings):
    answers = [
        {f"rater {i}": value for i, value in enumerate(unit) if value is not None}
        for unit in ratings
    ]
    report = measure_agreement("classes", answers, [1] * len(answers))
    alpha = report.scores.get("alpha")
    if alpha is not None and alpha.value is not None:
        raters = zip(*ratings, strict=True)
        codes = [["abc".index(v) if v else np.nan for v in row] for row in raters]
        expected = krippendorff.alpha(reliability_data=codes, level_of_measurement="nominal")
        assert alpha.value == pytest.approx(expected)
    for pair in report.pairs:
        both = [
            (a[pair.first], a[pair.second]) for a in answers if {pair.first, pair.second} <= set(a)
        ]
        if pair.scores["kappa"].value is not None:
            expected = cohen_kappa_score(*zip(*both, strict=True))
            assert pair.scores["kappa"].value == pytest.approx(expected)


def test_an_interval_is_that_of_recomputing_the_measure_on_resampled_sentences():
    rng = np.random.default_rng(1)
    first, second = rng.choice(list("abc"), size=(2, 60)).tolist()
    second = [a if i % 3 else b for i, (a, b) in enumerate(zip(first, second, strict=True))]
    found = _classes(first, second).scores["kappa"]
    picks = rng.integers(60, size=(500, 60))
    again = [cohen_kappa_score([first[i] for i in p], [second[i] for i in p]) for p in picks]
    assert [found.low, found.high] == pytest.approx(np.quantile(again, [0.025, 0.975]), abs=0.06)


def test_total_disagreement_is_not_agreement():
    report = _classes(["a", "b"] * 5, ["b", "a"] * 5)
    assert report.scores["accuracy"].value == 0
    assert report.scores["kappa"].value == pytest.approx(-1)
    assert report.scores["alpha"].value < 0


def test_full_agreement_in_several_categories_is_one():
    report = _classes(["a", "b", "c"] * 3, ["a", "b", "c"] * 3)
    assert report.scores["kappa"].value == pytest.approx(1)
    assert report.scores["alpha"].value == pytest.approx(1)


def test_full_agreement_in_one_category_proves_nothing_beyond_chance():
    report = _classes(["a"] * 6, ["a"] * 6)
    assert report.scores["accuracy"].value == 1
    assert report.scores["kappa"].value is None
    assert report.scores["alpha"].value is None


def test_a_single_annotator_gets_a_reason_instead_of_a_number():
    report = measure_agreement("classes", [{"ann": "a"}, {"ann": "b"}], [3, 3])
    assert report.n_sentences == 0
    assert "Nobody has answered" in report.reason


def test_spans_exact_and_partial():
    answers = [{"ann": [[0, 2, "PER"], [4, 5, "LOC"]], "ben": [[0, 1, "PER"], [4, 5, "LOC"]]}]
    scores = measure_agreement("spans", answers, [6]).scores
    assert scores["f1"].value == pytest.approx(0.5)
    assert scores["partial_f1"].value == pytest.approx(1.0)


def test_spans_of_other_labels_do_not_match_even_in_part():
    answers = [{"ann": [[0, 2, "PER"]], "ben": [[0, 2, "LOC"]]}]
    scores = measure_agreement("spans", answers, [3]).scores
    assert (scores["f1"].value, scores["partial_f1"].value) == (0, 0)


def test_trees_by_attachment():
    tree = [[2, "nsubj"], [0, "root"], [2, "obj"], [2, "punct"]]
    other = [[2, "obj"], [0, "root"], [1, "obj"], [2, "punct"]]
    scores = measure_agreement("tree", [{"ann": tree, "ben": other}], [4]).scores
    assert (scores["uas"].value, scores["las"].value) == (0.75, 0.5)


def test_relations_by_strict_f1_and_per_label():
    answers = [
        {"ann": [[0, 1, 2, 3, "owns"], [2, 3, 4, 5, "in"]], "ben": [[0, 1, 2, 3, "owns"]]},
    ]
    report = measure_agreement("relations", answers, [6])
    assert report.scores["f1"].value == pytest.approx(2 / 3)
    assert report.labels["owns"].value == 1
    assert report.labels["in"].value == 0


def test_relations_beyond_chance_and_with_credit_for_parts():
    answers = [
        {"ann": [[0, 2, 3, 4, "owns"]], "ben": [[0, 1, 3, 5, "owns"]]},
        {"ann": [[0, 1, 3, 4, "owns"]], "ben": [[0, 1, 3, 4, "owns"]]},
        {"ann": [], "ben": [[1, 2, 3, 4, "owns"]]},
    ]
    scores = measure_agreement("relations", answers, [6, 6, 6]).scores
    assert scores["f1"].value == pytest.approx(2 / 5)
    assert scores["partial_f1"].value == pytest.approx(4 / 5)
    # 18 words, one differs; of 36 marks 31 are empty, 4 are "owns+3" and one is "owns+2"
    expected = 1 - (2 / 36) / (1 - (31 * 30 + 4 * 3) / (36 * 35))
    assert scores["alpha"].value == pytest.approx(expected)


def test_pairs_count_only_what_both_have_answered():
    answers = [{"ann": "a", "ben": "a"}, {"ann": "a", "cem": "b"}, {"ben": "b", "cem": "b"}]
    report = measure_agreement("classes", answers, [2, 2, 2])
    assert [(p.first, p.second, p.n) for p in report.pairs] == [
        ("ann", "ben", 1),
        ("ann", "cem", 1),
        ("ben", "cem", 1),
    ]
    assert [p.scores["accuracy"].value for p in report.pairs] == [1, 0, 1]


def test_intervals_contain_the_value_and_shrink_with_more_sentences():
    few = _classes(["a", "b", "a", "b"] * 3, ["a", "b", "b", "b"] * 3).scores["accuracy"]
    many = _classes(["a", "b", "a", "b"] * 30, ["a", "b", "b", "b"] * 30).scores["accuracy"]
    assert few.low <= few.value <= few.high
    assert many.high - many.low < few.high - few.low


def test_empty_span_answers_on_both_sides_say_nothing():
    report = measure_agreement("spans", [{"ann": [], "ben": []}], [4])
    assert report.scores["f1"].value is None


def test_sets_of_labels_agree_by_degrees():
    """By hand: MASI distances 0, 1 - 1/2 x 2/3 and 1 of three units."""
    answers = [
        {"ann": ["a"], "ben": ["a"]},
        {"ann": ["a", "b"], "ben": ["a"]},
        {"ann": ["c"], "ben": []},
    ]
    report = measure_agreement("multiclasses", answers, [3, 3, 3])
    assert report.scores["accuracy"].value == pytest.approx(1 / 3)
    assert report.scores["f1"].value == pytest.approx(4 / 6)
    # observed: 2 (0 + 2/3 + 1) / 6; expected: {a} 3, {a,b} 1, {c} 1, {} 1 of 6 values
    observed = 2 * (0 + 2 / 3 + 1) / 6
    near = 3 * 1 * (2 / 3)  # {a} with {a, b}
    far = 3 * 1 + 3 * 1 + 1 + 1 + 1  # all other pairs have nothing in common
    expected = 2 * (near + far) / (6 * 5)
    assert report.scores["alpha"].value == pytest.approx(1 - observed / expected)


def test_two_who_always_or_never_agree_may_still_differ_or_agree():
    for second, value in ((["a", "b", "a", "b"] * 2, 1), (["b", "a", "b", "a"] * 2, 0)):
        report = _classes(["a", "b", "a", "b"] * 2, second)
        room = 0.369  # of eight, by Clopper and Pearson, 95 %
        for found in (report.scores["accuracy"], report.pairs[0].scores["accuracy"]):
            expected = (1 - room, 1) if value else (0, room)
            assert found.value == value
            assert (found.low, found.high) == pytest.approx(expected, abs=0.001)
        if value:  # beyond chance, no resample tells how far it may move
            beyond = [report.scores["kappa"], report.scores["alpha"]]
            beyond.append(report.pairs[0].scores["kappa"])
            assert [(found.low, found.high) for found in beyond] == [(None, None)] * 3


def test_fourteen_of_fourteen_still_leave_room_for_errors():
    found = ratio_score(Ratio(np.ones(14), np.ones(14)))
    assert (found.value, found.high) == (1, 1)
    assert found.low == pytest.approx(0.768, abs=0.001)  # Clopper and Pearson, 95 %
    none = ratio_score(Ratio(np.zeros(14), np.ones(14)))
    assert (none.value, none.low) == (0, 0)
    assert none.high == pytest.approx(0.232, abs=0.001)
