"""Who wrote to which variable, from where, and at which steps."""
