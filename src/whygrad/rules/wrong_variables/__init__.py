"""The gradient is right, the variables are not: untracked, frozen, recreated, shared, applied twice.
What is wrong with the gradient itself belongs elsewhere.
"""
