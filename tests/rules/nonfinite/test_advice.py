"""What the pages about NaN and Inf advise gives finite gradients; the rest of the pages is tested with all others."""

from __future__ import annotations

import runpy
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from whygrad.rules import Rule, all_rules

pytestmark = pytest.mark.tensorflow

RULES = [rule for rule in all_rules() if rule.code.startswith("WG4") or rule.name == "exploding-normalise"]
LARGEST = 1e4  # of a gradient that has not exploded


@pytest.mark.parametrize("rule", RULES, ids=lambda rule: rule.code)
def test_the_advice_gives_finite_gradients(rule: Rule, tf: Any, keras: Any, tmp_path: Path) -> None:
    script = tmp_path / "page.py"
    script.write_text(rule.example("Use instead"))
    left = runpy.run_path(str(script))

    scale = np.asarray(getattr(left.get("optimizer"), "dynamic_scale", 1.0))  # the gradients are those of a scaled loss
    for gradient in left["gradients"]:
        assert np.all(np.abs(np.asarray(gradient, np.float64)) < LARGEST * scale)
