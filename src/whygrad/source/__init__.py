"""What the user wrote: the only reader of user files, for capture, rules, reports and lint alike.

One parser (`module`), one span type, one cache that follows the text. Nothing here runs user code or knows a framework.
"""

from whygrad.source.text import SourceSpan as SourceSpan
from whygrad.source.text import cell_name as cell_name
from whygrad.source.text import file_text as file_text
from whygrad.source.text import is_on_disk as is_on_disk
from whygrad.source.text import notebook_of as notebook_of
from whygrad.source.text import refresh_sources as refresh_sources
from whygrad.source.text import shown_file as shown_file
from whygrad.source.text import source_line as source_line
from whygrad.source.text import source_lines as source_lines
from whygrad.source.text import source_text as source_text
from whygrad.source.text import texts_of as texts_of
