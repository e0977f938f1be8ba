"""Task selection policies, compared in the MTL bandit."""
