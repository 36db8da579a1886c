"""Programs of the gallery as notebooks: what is asked of the code is asked across cells."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

pytestmark = pytest.mark.tensorflow

TESTS = Path(__file__).parent.parent
NUMBERS = (112, 150, 152, 1231, 1385, 166, 3360, 6922, 7212, 7430)  # each needs what another cell says


def test_bugs_are_told_across_cells_as_they_are_in_a_file() -> None:
    programs = [next((TESTS / "gallery").glob(f"{number}_*.py")) for number in NUMBERS]
    done = subprocess.run(
        [sys.executable, TESTS / "score_gallery.py", "--cells", *programs], capture_output=True, text=True, check=False
    )

    assert done.returncode == 0, done.stdout
    assert f"{len(NUMBERS)} of {len(NUMBERS)} pass" in done.stdout
