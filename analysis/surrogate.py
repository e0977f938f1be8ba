from analysis.methods.surrogate import *  # noqa: F403  (the public path of analysis.methods.surrogate)
