"""The gradient that TensorFlow computes against the one that differences of the function's values give."""
