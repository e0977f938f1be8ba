"""Which task's batch comes next: policies, and what logs say about other policies (paper 001)."""

from analysis.methods.policies.baselines import random_policy, size_policy
from analysis.methods.policies.estimators import (
    Estimate,
    PolicyLog,
    clipped_importance_sampling,
    doubly_robust,
    importance_sampling,
    weighted_importance_sampling,
)
from analysis.methods.policies.logs import counterfactual_rewards
from analysis.methods.policies.off_policy import LearnedPolicy, learn_policy, search_policy
from mtl_engine.bandit import Exp3S, RewardScaler, scale_reward

__all__ = [
    "Estimate",
    "Exp3S",
    "LearnedPolicy",
    "PolicyLog",
    "RewardScaler",
    "clipped_importance_sampling",
    "counterfactual_rewards",
    "doubly_robust",
    "importance_sampling",
    "learn_policy",
    "random_policy",
    "scale_reward",
    "search_policy",
    "size_policy",
    "weighted_importance_sampling",
]
