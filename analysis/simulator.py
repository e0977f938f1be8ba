from analysis.methods.simulator import *  # noqa: F403  (the public path of analysis.methods.simulator)
