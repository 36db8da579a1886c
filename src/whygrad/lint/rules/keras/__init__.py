"""Rules that only make sense with Keras objects."""
