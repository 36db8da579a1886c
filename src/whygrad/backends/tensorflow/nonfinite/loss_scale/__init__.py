"""Optimizers that divide gradients by a loss scale: whether the loss of each of them was multiplied by it.

`watch` hears of losses that are scaled and of updates; `descent` asks the ops between the two.
"""
