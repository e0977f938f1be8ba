"""Offline studies: a study file becomes runs, runs become results that are never computed twice."""
