"""Optimizers that never apply a gradient that is not finite."""
