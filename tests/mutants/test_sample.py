"""A few mutants with a fixed seed, from beginning to end; `make mutants` runs many."""

from __future__ import annotations

import json
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from mutants.__main__ import GALLERY

pytestmark = pytest.mark.tensorflow

ROOT = GALLERY.parents[1]
SEED = "5"
PROGRAMS = ("802", "812", "814", "838", "857", "871")  # small ones: a loop, a tf.function, layers, plain variables
LEAST_PLACED = 1.0  # the share, as measured: never to be lowered


@pytest.mark.slow
def test_a_sample_is_placed_and_none_of_it_is_explained_wrongly(tmp_path: Path) -> None:
    programs = [str(file) for number in PROGRAMS for file in GALLERY.glob(f"{number}_*.py")]
    into = tmp_path / "rows.json"
    command = [sys.executable, "-m", "tests.mutants", "--seed", SEED, "--each", "2", "--tries", "4", "--jobs", "2"]
    # A process of its own: TensorFlow has threads here by now, and they do not live in a fork.
    done = subprocess.run(
        [*command, "--json", str(into), *programs], cwd=ROOT, capture_output=True, text=True, check=False, timeout=300
    )

    assert done.returncode == 0, done.stderr
    rows = json.loads(into.read_text(encoding="utf-8"))
    counts = Counter(row["verdict"] for row in rows)
    assert len(rows) >= len(programs), done.stdout
    assert counts["wrong"] == 0, done.stdout
    assert counts["placed"] / len(rows) >= LEAST_PLACED, done.stdout
