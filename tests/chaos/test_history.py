"""The judge itself: it acquits a good run and names every kind of crime."""

from benchmarks.history import (
    History,
    Sent,
    Served,
    Stored,
    StoredAsk,
    StoredSubmission,
    violations,
)

GOOD_ASK = StoredAsk(id=1, rank=1, overlap=1, n_answers=1, n_leases=0, is_open=False)
GOOD_ROW = StoredSubmission(id=7, person="a", ask=1, key="k", topic="x")


def judge(*, served=(("a", 1, 1),), receipts=(7,), asks=(GOOD_ASK,), rows=(GOOD_ROW,)):
    history = History(
        served=[Served(*lease) for lease in served],
        sent=[Sent("a", 1, "k", "x", tuple(receipts))],
    )
    return violations(history, Stored(asks, rows), is_drained=True)


def test_a_good_run_is_acquitted():
    assert judge() == []
    assert judge(receipts=(7, 7)) == []


def test_a_lost_answer_is_found():
    assert any("stored 0 times" in line for line in judge(rows=()))


def test_a_doubled_answer_is_found():
    twice = (GOOD_ROW, StoredSubmission(8, "a", 1, "k", "x"))
    assert any("stored 2 times" in line for line in judge(rows=twice))
    assert any("answered ask 1 2 times" in line for line in judge(rows=twice))


def test_a_retry_that_was_told_something_else_is_found():
    assert any("was told (7, 9)" in line for line in judge(receipts=(7, 9)))


def test_an_answer_that_nobody_sent_is_found():
    ghost = StoredSubmission(8, "b", 1, "other", "x")
    assert any("nobody sent it" in line for line in judge(rows=(GOOD_ROW, ghost)))


def test_an_answer_that_changed_on_the_way_is_found():
    changed = StoredSubmission(7, "a", 1, "k", "y")
    assert any("said x, stored is y" in line for line in judge(rows=(changed,)))


def test_an_ask_in_too_many_hands_is_found():
    assert any("hands of 2" in line for line in judge(served=(("a", 1, 1), ("b", 1, 1))))


def test_a_service_out_of_rank_is_found():
    second = StoredAsk(id=2, rank=2, overlap=1, n_answers=0, n_leases=0, is_open=True)
    broken = judge(served=(("a", 2, 2),), asks=(GOOD_ASK, second))
    assert any("ranks [2] were served before [1]" in line for line in broken)


def test_a_queue_that_did_not_drain_is_found():
    half = StoredAsk(id=1, rank=1, overlap=2, n_answers=1, n_leases=0, is_open=True)
    assert any("not drained" in line for line in judge(asks=(half,)))
