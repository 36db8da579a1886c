"""What lint says of the gallery: nothing of healthy programs, the right thing of most bugs that the source shows."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whygrad.diagnostics import Diagnostic, Severity
from whygrad.lint.engine import check_text

PROGRAMS = sorted((Path(__file__).parents[1] / "gallery").glob("[0-9]*.py"))
WANTED = 0.6  # of the bugs marked `static: yes`


def header(path: Path) -> dict[str, str]:
    return dict(re.findall(r"^# (\w+): *(.*)$", path.read_text(), re.MULTILINE))


def loud(path: Path) -> list[Diagnostic]:
    return [each for each in check_text(str(path), path.read_text()) if each.severity > Severity.NOTE]


HEALTHY = [path for path in PROGRAMS if header(path)["verdict"].startswith("healthy")]
STATIC = [path for path in PROGRAMS if "static: yes" in header(path)["verdict"]]


@pytest.mark.parametrize("path", HEALTHY, ids=lambda path: path.stem)
def test_silent_on_healthy_programs(path: Path) -> None:
    assert [f"{each.rule} at line {each.primary.span.line if each.primary else 0}" for each in loud(path)] == []


def is_placed(path: Path) -> bool:
    """Whether an accepted rule points at an accepted line."""
    told = header(path)
    rules = set(re.findall(r"[\w-]+", told["cause"].split(";")[0]))
    lines = {int(number) for number in re.findall(r"\d+", told["expect_line"])}
    spans = [each.primary.span for each in loud(path) if each.rule in rules and each.primary is not None]
    return any(span.contains_line(line) for span in spans for line in lines or {span.line})


def test_most_bugs_that_can_be_seen_in_the_source_are_placed() -> None:
    placed = [path for path in STATIC if is_placed(path)]

    assert len(placed) >= WANTED * len(STATIC), f"{len(placed)} of {len(STATIC)}"
