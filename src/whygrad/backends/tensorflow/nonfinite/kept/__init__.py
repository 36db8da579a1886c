"""Failing steps on disk: the ops that were run, with what went in, so that the analysis can be done again elsewhere."""
