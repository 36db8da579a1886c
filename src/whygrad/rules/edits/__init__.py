"""Variables that are changed beside the optimizer: at the wrong time, in the wrong way, or not at all."""
