"""Rules about NaN and Inf: where the first value that is not finite came from, and what became of it.

`birth` holds what they share. Finite gradients of an odd size belong to `odd_gradient`.
"""
