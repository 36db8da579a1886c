"""Conclusions that cannot wait for the end: folds over the stream of facts, bounded in memory.

No framework and nothing that a rule decides: streams written by hand are followed as well.
"""
