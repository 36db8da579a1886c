"""Gradients of several micro-batches that are added up for one update, and added up wrongly."""
