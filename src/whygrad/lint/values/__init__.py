"""What a value may be, as far as the source tells."""
