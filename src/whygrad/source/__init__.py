"""What the user wrote: the only reader of user files, for capture, rules, reports and lint alike.

One parser (`module`), one span type, one cache that follows the text. Nothing here runs user code or knows a framework.
"""

from whygrad.source.text import (
    SourceSpan,
    file_text,
    is_on_disk,
    refresh_sources,
    shown_file,
    source_line,
    source_lines,
    source_text,
    texts_of,
)

__all__ = [
    "SourceSpan",
    "file_text",
    "is_on_disk",
    "refresh_sources",
    "shown_file",
    "source_line",
    "source_lines",
    "source_text",
    "texts_of",
]
