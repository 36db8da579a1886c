"""The report as a page: view models, the scripts that draw them, and the one file that holds both.

`whygrad.web` serves the same scripts and adds what is read from recorded runs.
"""

from whygrad.report.page.document import document as document

__all__ = ["document"]
