from analysis.methods.formulas import *  # noqa: F403  (the public path of analysis.methods.formulas)
