"""The one mutable thing of a capture: ops, tensors, variables and places, kept within bounds.

Nothing here decides what is wrong.
"""
