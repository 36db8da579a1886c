"""Reports of every shape, for property tests."""

from __future__ import annotations

from hypothesis import strategies as st

from whygrad.diagnostics import Diagnostic, Edit, Fix, FixSafety, Label, Severity, Steps
from whygrad.report import LossReach, Report
from whygrad.source import SourceSpan

# A file name that is never there: rendering must not depend on what lies on the disk.
FILES = st.text(min_size=1, max_size=12).map(lambda name: f"gone/{name}.py") | st.just("<stdin>")
COUNTS = st.integers(0, 10_000)


@st.composite
def _spans(draw: st.DrawFn) -> SourceSpan:
    file, line = draw(FILES), draw(st.integers(1, 10_000))
    kind = draw(st.sampled_from(["line", "start", "one line", "several lines"]))
    if kind == "line":
        return SourceSpan(file, line)
    column = draw(st.integers(0, 300))
    if kind == "start":
        return SourceSpan(file, line, column)
    if kind == "one line":
        return SourceSpan(file, line, column, line, column + draw(st.integers(1, 50)))
    return SourceSpan(file, line, column, line + draw(st.integers(1, 9)), draw(st.integers(0, 50)))


SPANS = _spans()
NAMES = st.lists(st.text(max_size=10), max_size=3).map(tuple)
EDITS = st.builds(Edit, SPANS, st.text(max_size=20))
FIXES = st.builds(
    Fix,
    title=st.text(max_size=20),
    edits=st.lists(EDITS, max_size=2).map(tuple),
    safety=st.sampled_from(FixSafety),
)
LABELS = st.builds(Label, SPANS, st.text(max_size=30))
DIAGNOSTICS = st.builds(
    Diagnostic,
    code=st.from_regex(r"W[GL][0-9]{3}", fullmatch=True),
    rule=st.from_regex(r"[a-z]{1,8}(-[a-z]{1,8})?", fullmatch=True),
    severity=st.sampled_from(Severity),
    message=st.text(max_size=60).filter(str.strip),
    primary=st.none() | LABELS,
    variables=NAMES,
    related=st.lists(LABELS, max_size=2).map(tuple),
    notes=NAMES,
    help=st.none() | st.text(max_size=30),
    steps=st.builds(Steps, COUNTS, COUNTS),
    certain=st.booleans(),
    fixes=st.lists(FIXES, max_size=2).map(tuple),
)
REACHES = st.builds(
    LossReach,
    loss=st.text(max_size=10),
    where=st.none() | SPANS,
    reached=NAMES,
    missing=NAMES,
    seen=COUNTS,
)
REPORTS = st.builds(
    Report,
    diagnostics=st.lists(DIAGNOSTICS, max_size=3).map(tuple),
    gradients=st.lists(REACHES, max_size=3).map(tuple),
    run=st.dictionaries(st.text(max_size=5), st.none() | st.booleans() | COUNTS | st.text(max_size=5), max_size=3),
)
