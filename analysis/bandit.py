from analysis.methods.policies.bandit import MTLBandit as MTLBandit
