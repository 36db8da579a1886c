"""Comments that were meant to silence a rule, and do not, are named; those that do their work are not."""

from __future__ import annotations

from whygrad.diagnostics import Diagnostic, Label, Severity, comment_troubles
from whygrad.source import SourceSpan

KNOWN = [("WG103", "stop-gradient"), ("WG305", "dead-units")]


def troubles(line: str, *silenced: Diagnostic, unused: bool = True) -> list[str]:
    return list(comment_troubles({"train.py": f"import x\n{line}\n"}, silenced, KNOWN, unused=unused))


def finding(code: str = "WG103", rule: str = "stop-gradient", line: int = 2) -> Diagnostic:
    label = Label(SourceSpan("train.py", line, 0, line, 5), "")
    return Diagnostic(code=code, rule=rule, severity=Severity.ERROR, message="no gradient", primary=label)


def test_a_comment_that_silenced_a_finding_is_in_order() -> None:
    assert troubles("y = f(x)  # whygrad: ignore[stop-gradient]", finding()) == []
    assert troubles("y = f(x)  # whygrad: ignore[WG1]", finding()) == []
    assert troubles("y = f(x)  # whygrad: ignore", finding()) == []


def test_a_name_that_no_rule_has() -> None:
    assert troubles("y = f(x)  # whygrad: ignore[stop-gradiant]") == [
        "train.py:2: `ignore[stop-gradiant]` names no rule; did you mean `stop-gradient`?"
    ]
    assert troubles("y = f(x)  # whygrad: ignore[WG999]", unused=False) == ["train.py:2: `ignore[WG999]` names no rule"]


def test_a_comment_that_silenced_nothing() -> None:
    assert troubles("y = f(x)  # whygrad: ignore[dead-units]", finding()) == [
        "train.py:2: `ignore[dead-units]` silenced nothing in this run"
    ]
    assert troubles("y = f(x)  # whygrad: ignore", finding(line=1)) == [
        "train.py:2: `ignore` silenced nothing in this run"
    ]


def test_nothing_is_unused_where_not_every_rule_was_asked() -> None:
    assert troubles("y = f(x)  # whygrad: ignore[dead-units]", unused=False) == []


def test_a_comment_that_is_not_understood() -> None:
    for comment in ("ignore[dead-units", "ignore-this", "ingore[dead-units]", "ignore[]"):
        assert troubles(f"y = f(x)  # whygrad: {comment}") == [
            "train.py:2: this comment silences nothing: write `# whygrad: ignore[rule-name]`"
        ]


def test_a_rule_of_lint_is_left_to_lint() -> None:
    assert troubles("y = f(x)  # whygrad: ignore[WL103]") == []
