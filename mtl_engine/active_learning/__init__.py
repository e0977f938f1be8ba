"""The active-learning loop of server rounds and studies: train, score, price, choose, explain.

Every step takes and returns typed values. A server persists between the steps, a study loops over
them with an oracle that reveals the labels it is asked for.
"""
