"""Which estimator suits this loss? Measured, not guessed."""
