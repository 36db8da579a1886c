"""Values and gradients as numbers, read or computed inside a step: shared by watching and the training toolkit.

Plain TensorFlow code that knows nothing of a capture.
"""
