"""A report that shows itself: printed, as JSON, in a notebook."""

from __future__ import annotations

from whygrad.report.report_data import ReportData


class Report(ReportData):
    """Print it, `to_json()` or `to_html()` it, or leave it as the last line of a notebook cell."""

    __slots__ = ()

    def to_json(self) -> str:
        """The report as JSON, of the published schema."""
        from whygrad.report.json import render_json

        return render_json(self)

    def to_html(self) -> str:
        """The report as one page that can be kept, sent and opened without a network."""
        from whygrad.report.page import document

        return document(self)

    def reraise(self) -> None:
        """Raise what the explained code raised; return where it raised nothing."""
        if self.error is not None:
            raise self.error

    def __str__(self) -> str:
        from whygrad.report.text import render_text

        return render_text(self)

    def __repr__(self) -> str:
        from whygrad.report.summary import counts

        if self.error is not None and not self.diagnostics:
            return f"<whygrad.Report: failed with {type(self.error).__name__}>"
        return f"<whygrad.Report: {counts(self)}>"

    def _repr_html_(self) -> str:
        from whygrad.report.html import fragment

        return fragment(self)

    def _repr_mimebundle_(self, include: object = None, exclude: object = None) -> dict[str, str]:
        return {"text/plain": str(self), "text/html": self._repr_html_()}
