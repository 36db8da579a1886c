"""The one mutable thing of a capture: ops, tensors, variables, places, tapes, requests, updates, within bounds.

Nothing here decides what is wrong.
"""
