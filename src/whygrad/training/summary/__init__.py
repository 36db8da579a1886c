"""How big gradients are: sums, norms and extremes by variable, layer or group."""
