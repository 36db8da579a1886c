"""Rules about gradients that are there and odd: zero, vanishing, exploding, of a size that no training has.

`series` checks numbers over steps, `over_steps` hands it those of a recording. What is not finite belongs to `nonfinite`.
"""
