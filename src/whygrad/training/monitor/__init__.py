"""Recording the numbers of every training step in a run."""
