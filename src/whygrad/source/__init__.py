"""What the user wrote: the only reader of user files, for capture, rules, reports and lint alike.

Nothing here runs user code or knows a framework.
"""

from whygrad.source.text import (
    SourceSpan,
    is_on_disk,
    refresh_sources,
    shown_file,
    source_line,
    source_lines,
    source_text,
)

__all__ = ["SourceSpan", "is_on_disk", "refresh_sources", "shown_file", "source_line", "source_lines", "source_text"]
