"""What is imported when: in fresh interpreters, because here everything is imported already."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

HEAVY = ("tensorflow", "keras", "numpy", "rich")


def imported_by(code: str) -> set[str]:
    code = f"{code}\nimport sys; print('\\n' + ' '.join(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    return set(done.stdout.splitlines()[-1].split())


@pytest.mark.parametrize("words", [["--help"], ["run", "--help"], ["rules"], ["--version"], ["lint", "--help"]])
def test_command_imports_nothing_heavy(words: list[str]) -> None:
    modules = imported_by(f"from whygrad.cli.commands import parse\nparse({words})")

    assert modules & set(HEAVY) == set()
    assert "whygrad.cli.commands" in modules


def test_pytest_plugin_imports_nothing_heavy() -> None:
    modules = imported_by("import whygrad.integrations.pytest_plugin")

    assert modules & {*HEAVY, "whygrad.watch", "whygrad.rules"} == set()


def test_the_tests_above_can_fail() -> None:
    assert "numpy" in imported_by("import numpy")


def test_a_script_without_a_framework_loads_neither_rules_nor_capture(tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text("print('hello')")
    modules = imported_by(f"from whygrad.cli.commands import parse\nparse(['run', {str(script)!r}])()")

    assert modules & {*HEAVY, "whygrad.watch", "whygrad.rules", "whygrad.graph"} == set()
    assert "whygrad.cli.session" in modules
