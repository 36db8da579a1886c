"""Which files are read, in which form, and what is remembered of them."""
