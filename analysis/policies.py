from analysis.methods.policies import *  # noqa: F403  (the public path of analysis.methods.policies)
