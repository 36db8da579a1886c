"""The classic mistakes in `examples/classics`; that their page shows what is printed today, `test_readme` checks."""

from __future__ import annotations

import difflib
import re
import shutil
from pathlib import Path

import pytest

from functional import warm

ROOT = Path(__file__).parents[2]
CLASSICS = ROOT / "examples" / "classics"
PAGE = (ROOT / "docs" / "examples.md").read_text(encoding="utf-8")
NAMES = sorted({path.stem.rpartition("_")[0] for path in CLASSICS.glob("*.py")})

# What each is about; nothing else may be said of it.
CODES = {
    "custom_layer": "WG201",
    "fine_tuning": "WG208",
    "gan": "WG205",
    "mixed_precision": "WG416",
    "nan_where": "WG407",
    "numpy_loss": "WG104",
    "optimizer_in_loop": "WG604",
    "outside_tape": "WG105",
    "rnn_loop": "WG104",
    "softmax_twice": "WG805",
    "traced_schedule": "WG603",
    "training_flag": "WG705",
    "transformer": "WG105",
}


@pytest.mark.tensorflow
@pytest.mark.parametrize("name", NAMES)
def test_a_fixed_example_gets_no_error_and_no_warning(name: str, tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    shutil.copy(CLASSICS / f"{name}_fixed.py", folder)

    done = warm.whygrad(folder, "run", f"{name}_fixed.py")

    assert done.status == 0, done.err
    assert not re.findall(r"^(?:error|warning)\[WG.*", done.err, re.MULTILINE)


@pytest.mark.parametrize("name", NAMES)
def test_the_page_shows_one_cause_for_each_broken_example(name: str) -> None:
    shown = re.search(rf"<!-- output of: whygrad run \S+/{name}_broken.py -->\n```\n(.*?)```", PAGE, re.DOTALL)
    assert shown is not None

    assert set(re.findall(r"^\w+\[(WG\d+)\]: ", shown[1], re.MULTILINE)) == {CODES[name]}


@pytest.mark.parametrize("name", NAMES)
def test_a_pair_differs_in_a_few_lines(name: str) -> None:
    broken, fixed = ((CLASSICS / f"{name}_{kind}.py").read_text().splitlines() for kind in ("broken", "fixed"))

    assert 0 < sum(line[0] in "+-" for line in difflib.ndiff(broken, fixed)) <= 10


def test_every_example_has_a_twin() -> None:
    assert {path.stem for path in CLASSICS.glob("*.py")} == {f"{n}_{k}" for n in CODES for k in ("broken", "fixed")}
