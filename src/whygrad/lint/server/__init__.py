"""The language server: the same checks while one types, with quick fixes, and the page of a rule on hover."""
