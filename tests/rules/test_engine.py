"""Running the rules: what is stamped, merged, sorted, selected and silenced."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from rules.diagnosis import Script, at
from whygrad.diagnostics import Diagnostic, Edit, Fix, Label, Selection, Severity, Steps
from whygrad.fixes.spelling import Modules
from whygrad.graph import Recording
from whygrad.rules import Finding, Rule, diagnose
from whygrad.source import SourceSpan


def rule_of(*findings: Finding, code: str = "WG901", severity: Severity = Severity.ERROR) -> Rule:
    def check(recording: Recording) -> Iterator[Finding]:
        yield from findings

    return Rule(code, f"rule-{code.lower()}", severity, "0.1.0", check)


def run(*rules: Rule, selection: Selection | None = None) -> tuple[Diagnostic, ...]:
    return diagnose(Recording(), rules, selection)


def test_finding_gets_code_name_and_severity_of_its_rule() -> None:
    [found] = run(rule_of(Finding(message="m", help="h", variables=("w",))))

    assert (found.code, found.rule, found.severity) == ("WG901", "rule-wg901", Severity.ERROR)
    assert (found.message, found.help, found.variables) == ("m", "h", ("w",))


def test_finding_may_be_milder_than_its_rule() -> None:
    [found] = run(rule_of(Finding(message="m", severity=Severity.NOTE)))

    assert found.severity is Severity.NOTE


def test_what_is_not_certain_is_never_an_error() -> None:
    found = run(
        rule_of(Finding(message="a", certain=False)),
        rule_of(Finding(message="b", certain=False, severity=Severity.NOTE), code="WG902"),
    )

    assert [each.severity for each in found] == [Severity.WARNING, Severity.NOTE]


def test_worst_comes_first_and_then_the_order_of_the_text() -> None:
    def finding(line: int) -> Finding:
        return Finding(message=f"line {line}", primary=Label(at(line), ""))

    found = run(
        rule_of(finding(1), severity=Severity.NOTE),
        rule_of(finding(9), finding(2), code="WG902"),
        rule_of(finding(3), code="WG903", severity=Severity.WARNING),
    )

    assert [each.message for each in found] == ["line 2", "line 9", "line 3", "line 1"]


def test_same_words_about_one_place_are_said_once() -> None:
    place = Label(at(4), "here")
    first = Finding(message="m", primary=place, related=(Label(at(5), "a"),), notes=("x",), steps=Steps(3, 8))
    second = Finding(message="m", primary=place, related=(Label(at(6), "b"),), notes=("x", "y"), steps=Steps(5, 8))
    [found] = run(rule_of(first, second))

    assert [label.span for label in found.related] == [at(5), at(6)]
    assert found.notes == ("x", "y")
    assert found.steps == Steps(8, 8)


def test_worst_severity_survives_merging() -> None:
    place = Label(at(4), "here")
    mild = Finding(message="m", primary=place, severity=Severity.NOTE, certain=False)
    [found] = run(rule_of(mild, Finding(message="m", primary=place)))

    assert (found.severity, found.certain) == (Severity.ERROR, True)


def test_merged_steps_never_exceed_their_total() -> None:
    place = Label(at(4), "here")
    findings = [Finding(message="m", primary=place, notes=(str(n),), steps=Steps(1, 1)) for n in range(3)]
    [found] = run(rule_of(*findings))

    assert found.steps == Steps(3, 3)


def test_other_words_places_and_rules_stay_apart() -> None:
    here, there = Label(at(4), "here"), Label(at(5), "here")
    found = run(
        rule_of(
            Finding(message="m", primary=here), Finding(message="n", primary=here), Finding(message="m", primary=there)
        ),
        rule_of(Finding(message="m", primary=here), code="WG902"),
    )

    assert len(found) == 4


def test_only_selected_rules_run() -> None:
    def explode(recording: Recording) -> Iterator[Finding]:
        raise AssertionError("not selected")
        yield

    silent = Rule("WG901", "rule-wg901", Severity.ERROR, "0.1.0", explode)
    found = run(silent, rule_of(Finding(message="m"), code="WG902"), selection=Selection(ignore=("WG901",)))

    assert [each.code for each in found] == ["WG902"]


def test_comment_on_the_line_silences_the_rule_it_names(tmp_path: Path) -> None:
    script = Script(tmp_path, "y = f(x)  # whygrad: ignore[rule-wg901]")
    finding = Finding(message="m", primary=Label(script["f(x)"], ""))

    assert [each.code for each in run(rule_of(finding), rule_of(finding, code="WG902"))] == ["WG902"]


def test_fixes_are_built_only_when_modules_are_known_and_never_cost_the_finding() -> None:
    def broken() -> Iterator[Fix]:
        raise LookupError

    edit = Edit(SourceSpan("<cell>", 1, 0, 1, 0), "")
    good = Finding(message="a", fixes=lambda: (Fix(title="t", edits=(edit,)),))
    rules = [rule_of(good), rule_of(Finding(message="b", fixes=broken), code="WG902")]
    recording = Recording(sources={"<cell>": "x = 1\n"})

    assert [each.fixes for each in diagnose(recording, rules)] == [(), ()]
    assert [len(each.fixes) for each in diagnose(recording, rules, modules=Modules({}))] == [1, 0]
