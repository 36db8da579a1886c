"""The pages of the rules about NaN and Inf cannot lie: each example runs, and the advice mends it."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whygrad.rules import Rule, all_rules
from whygrad.watch import watch

pytestmark = pytest.mark.tensorflow

RULES = [
    rule
    for rule in all_rules()
    if (rule.code.startswith("WG4") or rule.name == "exploding-normalise") and rule.name != "nan-unplaced"
]


def run(rule: Rule, heading: str, folder: Path) -> tuple[list[str], dict[str, Any]]:
    script = folder / "page.py"
    script.write_text(rule.example(heading))
    with watch() as watched:
        left = runpy.run_path(str(script))
    return [each.code for each in watched.report().diagnostics], left


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_example_triggers_this_rule_and_no_other(rule: Rule, tf: Any, keras: Any, tmp_path: Path) -> None:
    codes, _ = run(rule, "Example", tmp_path)

    assert codes == [rule.code]


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_advice_is_clean_and_gives_finite_gradients(rule: Rule, tf: Any, keras: Any, tmp_path: Path) -> None:
    codes, left = run(rule, "Use instead", tmp_path)

    assert codes == []
    assert all(np.isfinite(np.asarray(gradient)).all() for gradient in left["gradients"])
