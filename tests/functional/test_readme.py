"""The README says what happens: its programs are run, and its output is compared with the real one."""

from __future__ import annotations

import re
import runpy
from pathlib import Path

import pytest

from functional import warm
from functional.command import whygrad

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))]


def _programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


# Each program of the README stands for itself; those of a page go on from one another.
PROGRAMS = [*_programs(README), *("\n".join(_programs(page)) for page in PAGES if _programs(page))]


@pytest.mark.tensorflow
def test_output_of_the_demo_is_the_one_shown() -> None:
    match = re.search(r"<!-- output of: whygrad (.*?) -->\n```\n(.*?)```", README, re.DOTALL)
    assert match is not None

    done = whygrad(ROOT, *match[1].split())

    assert done.status == 0
    assert done.err.endswith(f"\n{match[2]}")


@pytest.mark.tensorflow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_programs_run(number: int, tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(PROGRAMS[number])
    start = ["-m", "pytest"] if "def test_" in PROGRAMS[number] else []

    done = warm.python(tmp_path, *start, "test_program.py")

    assert done.status == 0, done.out + done.err


def test_every_option_of_run_is_in_the_table(tmp_path: Path) -> None:
    options = set(re.findall(r"^ +(?:-\w, )?(--[\w-]+)", whygrad(tmp_path, "run", "--help").out, re.MULTILINE))

    assert options - {"--help"} <= set(re.findall(r"--[\w-]+", README))
    assert len(options) > 5


def test_the_table_of_costs_is_the_recorded_one() -> None:
    with_table = runpy.run_path(str(ROOT / "benchmarks" / "record.py"))["with_table"]

    assert with_table(README) == README, "run `make docs`"
    assert with_table(README.replace("| measured |", "| estimated |")) == README  # it can fail
