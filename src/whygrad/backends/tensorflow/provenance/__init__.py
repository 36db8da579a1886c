"""Whose gradient a tensor is, followed from the request that gave it to the update that applies it."""
