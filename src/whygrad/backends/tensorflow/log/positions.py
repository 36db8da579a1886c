"""Places as the recorder keeps them, and the spans they stand for."""

from whygrad.observe.place import span

__all__ = ["span"]
