"""Numbers of gradients, computed inside a step: shared by watching and by the training toolkit.

Plain TensorFlow code that knows nothing of a capture.
"""
