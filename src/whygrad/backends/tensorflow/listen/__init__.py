"""Hooks into TensorFlow: they tell the log what happened and remember nothing.

No conclusion is drawn here, and nothing outside of this room and `keras` replaces a function of the framework.
"""
