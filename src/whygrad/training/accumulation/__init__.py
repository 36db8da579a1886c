"""Gradient accumulation that equals the big batch, for loops and for `fit`."""
