"""Rules that speak of Keras objects: models, layers, optimizers and their flags. Their codes are those of their family.

A rule that a recording of another framework could break belongs in the folder of its family instead.
"""
