from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.diagnostics import Diagnostic, Label, Severity, ignored_rules, is_suppressed
from whygrad.source import SourceSpan


@pytest.mark.parametrize(
    ("line", "rules"),
    [
        ("y = f(x)", None),
        ("y = f(x)  # whygrad: ignore", set()),
        ("y = f(x)  #whygrad:ignore", set()),
        ("y = f(x)  # whygrad: ignore  # as in [3]", set()),
        ("y = f(x)  # noqa: E501  # whygrad: ignore[stop-gradient]", {"stop-gradient"}),
        ("y = f(x)  # whygrad: ignore[stop-gradient, WG102]", {"stop-gradient", "WG102"}),
        ("y = f(x)  # whygrad: ignore [stop-gradient]", {"stop-gradient"}),
        ("y = f(x)  # whygrad: ignore[ ]", None),
        ("y = f(x)  # whygrad: ignore[stop-gradient", None),
        ("y = f(x)  # whygrad: ignored elsewhere", None),
        ("y = f(x)  # whygrad: ignore-this", None),
        ("y = f(x)  # ignore[stop-gradient]", None),
    ],
)
def test_a_comment_names_what_it_silences(line: str, rules: set[str] | None) -> None:
    assert ignored_rules(line) == rules


@pytest.mark.parametrize(
    ("comment", "silenced"),
    [
        ("", False),
        ("# whygrad: ignore", True),
        ("# whygrad: ignore[stop-gradient]", True),
        ("# whygrad: ignore[WG101]", True),
        ("# whygrad: ignore[WG1]", True),
        ("# whygrad: ignore[WG102]", False),
        ("# whygrad: ignore[int-variable]", False),
        ("# whygrad: ignore[int-variable, stop-gradient]", True),
    ],
)
@pytest.mark.parametrize("commented", [1, 2, 3, 4])
def test_a_comment_counts_on_every_line_of_the_expression_and_on_no_other(
    tmp_path: Path, comment: str, silenced: bool, commented: int
) -> None:
    lines = ["x = 1", "y = tf.stop_gradient(", "    x)", "z = 1"]
    lines[commented - 1] += f"  {comment}"
    file = tmp_path / "train.py"
    file.write_text("\n".join(lines))

    assert is_suppressed(_diagnostic(Label(SourceSpan(str(file), 2, 4, 3, 6), "here"))) is (
        silenced and commented in (2, 3)
    )


def test_without_a_place_or_source_nothing_is_silenced() -> None:
    assert not is_suppressed(_diagnostic(None))
    assert not is_suppressed(_diagnostic(Label(SourceSpan("gone.py", 3), "here")))


def _diagnostic(primary: Label | None) -> Diagnostic:
    return Diagnostic(
        code="WG101", rule="stop-gradient", severity=Severity.ERROR, message="`w` is cut", primary=primary
    )
