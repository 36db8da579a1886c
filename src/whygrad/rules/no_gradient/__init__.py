"""The gradient is None: every path is cut, or there is none. `missing` finds the cuts once for all rules,
and `claim` hands each rule those of its own kind.
"""
