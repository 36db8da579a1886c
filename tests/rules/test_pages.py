"""A rule's page cannot lie: its examples are run under capture, and TensorFlow itself is asked."""

from __future__ import annotations

import runpy
from dataclasses import dataclass, field
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from whygrad.diagnostics import Severity
from whygrad.rules import Rule, all_rules
from whygrad.watch import Report, watch

by_code = pytest.mark.parametrize("rule", all_rules(), ids=lambda rule: rule.code)


@dataclass
class Ran:
    """What came of running one fenced block as a script."""

    report: Report
    names: dict[str, Any] = field(default_factory=dict)  # empty where it raised
    raised: Exception | None = None

    @property
    def loud(self) -> set[str]:
        """The codes that would fail a healthy program."""
        return {found.code for found in self.report.diagnostics if found.severity >= Severity.WARNING}

    @property
    def gradients(self) -> list[Any]:
        return list(self.names.get("gradients", ()))


def run_block(code: str, folder: Path) -> Ran:
    script = folder / "example.py"
    script.write_text(code)
    names: dict[str, Any] = {}
    raised = None
    try:
        with watch() as run:
            names = runpy.run_path(str(script))
    except Exception as error:
        raised = error
    return Ran(run.report(), names, raised)


@pytest.mark.tensorflow
@by_code
def test_example_triggers_its_own_rule_and_no_other(rule: Rule, keras: ModuleType, tmp_path: Path) -> None:
    ran = run_block(rule.example("Example"), tmp_path)

    assert ran.loud == {rule.code}
    assert all(found.primary is not None and found.help for found in ran.report.diagnostics)


@pytest.mark.tensorflow
@pytest.mark.parametrize(
    "rule", [rule for rule in all_rules() if rule.code.startswith("WG1")], ids=lambda rule: rule.code
)
def test_tensorflow_agrees_that_the_gradient_is_missing(rule: Rule, keras: ModuleType, tmp_path: Path) -> None:
    ran = run_block(rule.example("Example"), tmp_path)

    assert any(gradient is None for gradient in ran.gradients)


@pytest.mark.tensorflow
@by_code
def test_suggested_code_is_clean_and_gives_a_gradient(rule: Rule, keras: ModuleType, tmp_path: Path) -> None:
    ran = run_block(rule.example("Use instead"), tmp_path)

    assert ran.raised is None
    assert ran.loud == set()
    assert all(gradient is not None for gradient in ran.gradients)
    # `fit` takes the gradients out of sight: there the capture must have seen them.
    assert ran.gradients or any(reach.reached and not reach.missing for reach in ran.report.gradients)


@pytest.mark.tensorflow
def test_the_tests_above_can_fail(keras: ModuleType, tmp_path: Path) -> None:
    broken, mended = all_rules()[0].example("Example"), all_rules()[0].example("Use instead")

    assert run_block(broken, tmp_path).loud != set()
    assert None in run_block(broken, tmp_path).gradients
    assert run_block(mended, tmp_path).loud != {all_rules()[0].code}
    assert run_block("1 / 0", tmp_path).raised is not None
