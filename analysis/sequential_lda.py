from analysis.methods.sequential_lda import *  # noqa: F403  (the public path of analysis.methods.sequential_lda)
