"""A synthetic corpus from a small grammar, so that the tour needs no download."""
