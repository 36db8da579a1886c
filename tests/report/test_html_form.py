"""HTML, read back with a parser."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from hypothesis import given

from report.samples import CUT, HELP, TRAIN, diagnostic, in_memory, span, write
from report.strategies import REPORTS
from whygrad.diagnostics import Label, Severity
from whygrad.report import LossReach, Report
from whygrad.report.cells import visible
from whygrad.report.html import fragment
from whygrad.source import SourceSpan

VOID = {"br", "meta"}


class Page(HTMLParser):
    """The tags, the text, and the text inside each `<mark>`; fails on a tag that is not closed."""

    def __init__(self, html: str) -> None:
        super().__init__(convert_charrefs=True)
        self.tags: list[str] = []
        self.texts: list[str] = []
        self.marks: list[str] = []
        self._open: list[str] = []
        self.feed(html)
        self.close()
        assert self._open == []

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        assert not {name for name, _ in attrs} - {"class", "open", "lang", "charset", "name", "content"}
        if tag not in VOID:
            self._open.append(tag)
        if tag == "mark":
            self.marks.append("")

    def handle_endtag(self, tag: str) -> None:
        assert self._open.pop() == tag

    def handle_data(self, data: str) -> None:
        if "style" not in self._open:
            self.texts.append(data)
        if "mark" in self._open:
            self.marks[-1] += data

    @property
    def text(self) -> str:
        return "".join(self.texts)


def test_the_expression_is_marked_and_labelled() -> None:
    file = write("train.py", TRAIN)
    page = Page(fragment(Report(diagnostics=(diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)"), help=HELP),))))

    assert page.marks == ["tf.cast(w * 3.0, tf.int32)"]
    for said in ("error[WG101]", "train.py:6:14", f"↑ {CUT}", HELP, "whygrad explain WG101", "whygrad: 1 error"):
        assert said in page.text


def test_a_mark_inside_a_mark_cuts_it_in_three() -> None:
    file = write("train.py", TRAIN)
    inner = Label(span(file, 6, "w * 3.0"), "read here")
    outer = diagnostic(span(file, 6, "tf.cast(w * 3.0, tf.int32)"), related=(inner,))

    assert Page(fragment(Report(diagnostics=(outer,)))).marks == ["tf.cast(", "w * 3.0", ", tf.int32)"]


def test_without_source_the_place_and_its_label_are_left() -> None:
    page = Page(fragment(Report(diagnostics=(diagnostic(SourceSpan("gone.py", 6, 13)),))))

    assert f"gone.py:6:14 {CUT}" in page.text
    assert "pre" not in page.tags


def test_markup_in_the_users_text_stays_text() -> None:
    file = in_memory("x = '</pre><script>alert(1)</script>'\n")
    hostile = diagnostic(
        span(file, 1, "<script>"),
        "<img src=x>",
        message="<b>`<i>`</b>",
        notes=("<a href='x'>",),
        variables=('"&amp;',),
    )
    page = Page(fragment(Report(diagnostics=(hostile,))))

    assert not {"script", "img", "i", "a"} & set(page.tags)
    for said in ("</pre><script>alert(1)</script>", "<img src=x>", "<b><i></b>", "<a href='x'>", '"&amp;'):
        assert said in page.text


@given(report=REPORTS)
def test_every_report_is_well_formed_and_says_every_message(report: Report) -> None:
    page = Page(fragment(report))

    for found in report.diagnostics:
        said = visible(" ".join(found.message.splitlines()))
        assert re.sub(r"`([^`]+)`", r"\1", said) in page.text


def test_nothing_is_fetched() -> None:
    html = fragment(Report(diagnostics=(diagnostic(),)))

    assert not re.search(r"https?:|//|url\(|@import|src=|href=", html)


def test_two_losses_give_a_table() -> None:
    reaches = tuple(LossReach(loss=name, where=None, reached=("w",)) for name in ("d_loss", "g_loss"))

    assert Page(fragment(Report(gradients=reaches))).tags.count("tr") == 3


@pytest.mark.parametrize("severity", list(Severity))
def test_a_notebook_gets_text_and_a_piece_of_a_page(severity: Severity) -> None:
    report = Report(diagnostics=(diagnostic(severity=severity),))

    bundle = report._repr_mimebundle_()

    assert bundle["text/plain"] == str(report)
    assert not {"html", "body", "head"} & set(Page(bundle["text/html"]).tags)
    assert f"{severity.label}[WG101]" in Page(bundle["text/html"]).text
