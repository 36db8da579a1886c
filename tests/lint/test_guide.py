"""The guide to lint shows what lint says."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from whygrad.cli.commands import parse

GUIDE = (Path(__file__).parents[2] / "docs" / "lint.md").read_text()


def test_the_program_of_the_guide_gets_the_report_of_the_guide(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    program = re.findall(r"```python\n(.*?)```", GUIDE, re.DOTALL)[0]
    report = re.findall(r"\$ whygrad lint train.py\n(.*?)```", GUIDE, re.DOTALL)[0]
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("COLUMNS", "130")
    Path("train.py").write_text(program)

    parse(["lint", "--no-cache", "train.py"])

    assert capsys.readouterr().out == report


@pytest.mark.parametrize("option", sorted(set(re.findall(r"(?<![\w-])--[a-z][a-z-]+", GUIDE))))
def test_every_option_of_the_guide_exists(option: str, capsys: pytest.CaptureFixture[str]) -> None:
    parse(["lint", "--help"])

    assert option in capsys.readouterr().out
