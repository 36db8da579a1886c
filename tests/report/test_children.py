from __future__ import annotations

from report.samples import diagnostic
from whygrad.report import render
from whygrad.report.children import with_children
from whygrad.report.report import Report


def test_what_several_processes_say_alike_is_said_once() -> None:
    alike = diagnostic(message="alike")
    parent = Report(diagnostics=(alike,), run={"requests": 1})
    child = Report(diagnostics=(alike, diagnostic(message="own")), run={"requests": 2})
    merged = with_children(parent, [child, child], 2)

    assert [each.message for each in merged.diagnostics] == ["alike", "own"]
    assert merged.diagnostics[1].notes[-1] == "in a child process"
    assert merged.run["requests"] == 5


def test_children_that_left_nothing_are_counted() -> None:
    said = render(with_children(Report(run={"requests": 2}), [], 2), "text")

    assert said == "whygrad: no problem found in 2 gradient computations; 2 child processes not watched"


def test_a_program_without_children_is_reported_as_it_is() -> None:
    report = Report(run={"requests": 2})

    assert with_children(report, [], 0) is report
