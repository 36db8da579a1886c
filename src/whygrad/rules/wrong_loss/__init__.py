"""The gradient is that of another loss than the one that was meant."""
