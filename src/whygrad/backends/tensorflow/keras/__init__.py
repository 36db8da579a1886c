"""What Keras objects tell: which were made, called, compiled, set and read.

Facts only; what they mean is for the rules to say.
"""
