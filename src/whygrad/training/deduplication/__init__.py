"""Sparse gradients whose repeated rows are added up before the optimizer sees them."""
