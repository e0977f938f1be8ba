import numpy as np
import pytest

from analysis.errors import AnalysisError
from analysis.methods.policies.bandit import MTLBandit
from analysis.studies.bandit.games import play


def test_scores_that_were_read_stay_as_they_were():
    bandit = MTLBandit(3, 100, seed=0)
    before = bandit.scores
    bandit.pull(1)
    assert before.tolist() == [0.0, 0.0, 0.0]


def test_scores_stay_between_zero_and_their_ceilings():
    bandit = MTLBandit(5, 500, seed=1)
    rng = np.random.default_rng(0)
    for arm in rng.integers(5, size=2000):
        bandit.pull(int(arm))
        assert (bandit.scores >= 0).all()
        assert (bandit.scores <= bandit.ceilings).all()


def test_pulls_as_often_as_the_oracle_says_reach_every_ceiling_without_forgetting():
    bandit = MTLBandit(3, 1000, seed=2)
    bandit.losses = np.zeros(3)
    bandit.oracle = np.array([0.2, 0.3, 0.5])
    bandit.gains = bandit.ceilings / (1000 * bandit.oracle)
    for arm, n in enumerate((200, 300, 500)):
        for _ in range(n):
            bandit.pull(arm)
    assert bandit.scores == pytest.approx(bandit.ceilings)


def test_only_the_arm_that_is_always_pulled_has_a_score():
    bandit = MTLBandit(4, 300, seed=3)
    for _ in range(300):
        bandit.pull(2)
    assert bandit.scores[2] > 0
    assert bandit.scores[[0, 1, 3]].sum() == 0


def test_a_pull_returns_the_arms_score_before_and_after():
    bandit = MTLBandit(2, 10, seed=4)
    before, after = bandit.pull(0)
    assert (before, after) == (0.0, bandit.scores[0])


def test_the_same_seed_gives_the_same_game():
    games = [play(MTLBandit(4, 400, seed=5), "LEARNED", seed=6).final_score for _ in range(2)]
    assert games[0] == games[1]


def test_learned_beats_random_and_too_little_entropy_does_not():
    """Ten worlds of ten tasks: the ordering of the paper's Figure 1 at an entropy weight of .25."""
    scores: dict[str, list[float]] = {"RANDOM": [], "EXP3.S": [], "0.25": [], "0.1": []}
    for world in range(10):
        bandit = MTLBandit(10, 2000, seed=world)
        scores["RANDOM"].append(play(bandit, "RANDOM", seed=world).final_score)
        scores["EXP3.S"].append(play(bandit, "EXP3.S", seed=world).final_score)
        for weight in ("0.25", "0.1"):
            game = play(bandit, "LEARNED", seed=world, entropy_weight=float(weight))
            scores[weight].append(game.final_score)
    mean = {name: np.mean(values) for name, values in scores.items()}
    assert mean["0.25"] > mean["RANDOM"]
    assert abs(mean["EXP3.S"] - mean["RANDOM"]) < 0.03
    assert mean["0.1"] < mean["RANDOM"]


def test_an_unknown_policy_or_arm_is_an_error_that_names_the_known_ones():
    bandit = MTLBandit(3, 10, seed=0)
    with pytest.raises(AnalysisError, match="ORACLE"):
        play(bandit, "BEST", seed=0)
    with pytest.raises(AnalysisError, match="0 to 2"):
        bandit.pull(3)
