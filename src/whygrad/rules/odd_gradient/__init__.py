"""The gradient is there, and zero, tiny, huge or never used.
Values that are not finite belong to `numerics`.
"""
