"""The README says what happens: its programs are run, and its output is compared with the real one."""

from __future__ import annotations

import functools
import html
import importlib.util
import re
import runpy
import shutil
from pathlib import Path
from typing import Any

import pytest

import versions
from functional import warm

ROOT = Path(__file__).parents[2]
README = (ROOT / "README.md").read_text(encoding="utf-8")
PAGES = [page.read_text(encoding="utf-8") for page in sorted((ROOT / "docs").glob("*.md"))]


def _tool(name: str) -> Any:
    spec = importlib.util.spec_from_file_location(name, ROOT / "tools" / f"{name}.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


SHOWN = _tool("shown_output")


def _programs(page: str) -> list[str]:
    return re.findall(r"```python\n(.*?)```", page, re.DOTALL)


# Each program of the README stands for itself; those of a page go on from one another.
PROGRAMS = [*_programs(README), *("\n".join(_programs(page)) for page in PAGES if _programs(page))]


def _rounded(text: str) -> str:
    """Without fractions and the space around them: their last digits are the processor's."""
    return re.sub(r" *-?(\d+\.\d+(e[-+]\d+)?|\de-\d+) *", " number ", text)


@pytest.mark.tensorflow
@pytest.mark.skipif(not versions.are_those_of_the_pages(), reason="the pages were written with other versions")
@pytest.mark.parametrize("page", SHOWN.pages(), ids=lambda page: page.stem)
def test_what_a_page_shows_of_programs_and_reports_is_what_is_there_today(page: Path, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    shutil.copytree(ROOT / "examples", folder / "examples")
    text = page.read_text(encoding="utf-8")

    @functools.cache
    def run(command: str) -> Any:
        return warm.python(folder, "-m", *command.split())

    new = SHOWN.with_blocks(
        text, lambda command: SHOWN.report_in(run(command).err), lambda command: run(command).out.strip("\n")
    )
    assert _rounded(new) == _rounded(text), "run `make docs`"


def test_a_page_that_shows_something_else_is_seen() -> None:
    page = "<!-- output of: whygrad run x.py -->\n```\nold\n```\n"

    assert SHOWN.with_blocks(page, lambda command: f"{command}: new") == page.replace("old", "whygrad run x.py: new")


@pytest.mark.tensorflow
@pytest.mark.parametrize("number", range(len(PROGRAMS)))
def test_programs_run(number: int, tmp_path: Path) -> None:
    (tmp_path / "test_program.py").write_text(PROGRAMS[number])
    start = ["-m", "pytest"] if "def test_" in PROGRAMS[number] else []

    done = warm.python(tmp_path, *start, "test_program.py")

    assert done.status == 0, done.out + done.err


def test_the_page_of_commands_is_written_from_the_commands() -> None:
    page = _tool("command_pages").page()

    assert page == (ROOT / "docs" / "commands.md").read_text(encoding="utf-8"), "run `make docs`"
    assert all(word in page for word in ("--fail-on", "--unsafe-fixes", "whygrad runs rm"))


def test_the_tables_of_costs_are_the_recorded_ones() -> None:
    record = runpy.run_path(str(ROOT / "benchmarks" / "record.py"))

    for page, table in record["PAGES"]:
        text = page.read_text(encoding="utf-8")
        assert record["with_table"](text, table()) == text, "run `make docs`"
        assert record["with_table"](text.replace("| null |", "| nothing |"), table()) == text  # it can fail


def test_the_table_of_versions_is_the_one_that_was_found() -> None:
    assert _tool("matrix").page() == (ROOT / "docs" / "versions.md").read_text(encoding="utf-8"), "run `make docs`"


def test_the_picture_of_the_diagnosis_says_what_the_tutorial_says() -> None:
    svg = (ROOT / "docs" / "pictures" / "diagnosis.svg").read_text(encoding="utf-8")
    drawn = html.unescape("".join(re.findall(r"<text[^>]*>(.*?)</text>", svg))).replace("\xa0", " ")
    shown = re.search(r"<!-- output of: .*? -->\n```\n(.*?)```", (ROOT / "docs" / "tutorial.md").read_text(), re.DOTALL)
    assert shown is not None

    assert not [word for word in shown[1].split() if word not in drawn]
