"""NaN and Inf: a cheap look at what a step gives, and a replay in detail when something is not finite.

What was seen becomes events; which mistake it is, the rules say. Sizes of finite gradients belong to `numbers`.
"""
