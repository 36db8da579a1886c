"""The headers of the gallery can be read, and speak of what there is."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from scoring.program import KNOWN_LIMITS, Program, all_programs, read, read_known_limits
from whygrad.rules import all_rules

RULES = {rule.name for rule in all_rules()}


def write(folder: Path, **fields: str) -> Path:
    file = folder / "101_program.py"
    file.write_text("".join(f"# {name}: {text}\n" for name, text in fields.items()), encoding="utf-8")
    return file


def test_a_header_is_read(tmp_path: Path) -> None:
    file = write(
        tmp_path,
        verdict="bug; static: no",
        cause="nan-log | nan-clip; also: never-updated at line 26, dead-units at line 3",
        expect_line="23 18",
        expect_variables="backbone/*, w (all NaN: the norm spreads it)",
    )

    assert read(file) == Program(
        file=file,
        healthy=False,
        causes=frozenset({"nan-log", "nan-clip"}),
        lines=frozenset({18, 23}),
        variables=("backbone/*", "w"),
        also=frozenset({("never-updated", 26), ("dead-units", 3)}),
    )


def test_a_dash_is_nothing(tmp_path: Path) -> None:
    file = write(tmp_path, verdict="healthy", cause="-", expect_line="-", expect_variables="- (a remark)")

    assert read(file) == Program(file=file, healthy=True, causes=frozenset(), lines=frozenset())


def test_a_verdict_that_is_neither_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="not 'bugg'"):
        read(write(tmp_path, verdict="bugg", cause="-", expect_line="-", expect_variables="-"))


def faults(program: Program) -> list[str]:
    """What cannot be right in a header, whatever whygrad says of the program."""
    length = len(program.file.read_text(encoding="utf-8").splitlines())
    rules = program.causes | {rule for rule, _ in program.also}
    lines = program.lines | {line for _, line in program.also}
    found = [f"{rule} is no rule" for rule in sorted(rules - RULES)]
    found += [f"there is no line {line}" for line in sorted(lines) if not 0 < line <= length]
    found += [f"{name!r} is no name" for name in program.variables if not re.fullmatch(r"[\w*./\[\]]+", name)]
    if program.healthy == bool(program.causes):
        found.append("a bug has a cause, and nothing else has")
    if program.healthy and (program.lines or program.variables or program.also):
        found.append("healthy, but it expects something")
    return found


def test_every_header_of_the_gallery_speaks_of_what_there_is() -> None:
    wrong = {file.name: found for file in all_programs() if (found := faults(read(file)))}

    assert wrong == {}


def test_the_test_above_can_fail(tmp_path: Path) -> None:
    file = write(
        tmp_path, verdict="bug", cause="nan-lag", expect_line="99", expect_variables="all kernels and biases, w"
    )

    assert faults(read(file)) == ["nan-lag is no rule", "there is no line 99", "'all kernels and biases' is no name"]


def test_every_known_limit_is_a_program_and_has_a_reason() -> None:
    limits = read_known_limits(KNOWN_LIMITS.read_text(encoding="utf-8"))

    assert set(limits) <= {file.stem for file in all_programs()}


@pytest.mark.parametrize("text", ["101_program", "101_program: ", "a: one\na: two"])
def test_a_limit_without_a_reason_or_listed_twice_is_an_error(text: str) -> None:
    with pytest.raises(ValueError, match="not `name: reason`"):
        read_known_limits(text)
