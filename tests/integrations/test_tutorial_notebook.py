"""The tutorial notebook shows what its cells show today."""

from __future__ import annotations

import json
import re
import shutil
from pathlib import Path
from typing import Any

import pytest

from functional import warm

ROOT = Path(__file__).parents[2]
TUTORIAL = ROOT / "examples" / "tutorial.ipynb"
MOST_BYTES = 150_000


def _displayed(notebook: Path) -> list[str]:
    """The reports and values below the cells, as text."""
    cells: list[dict[str, Any]] = json.loads(notebook.read_text(encoding="utf-8"))["cells"]
    shown = [output for cell in cells for output in cell.get("outputs", ())]
    return ["".join(output["data"]["text/plain"]) for output in shown if output["output_type"] == "display_data"]


@pytest.mark.tensorflow
def test_the_cells_run_and_show_what_is_kept(tmp_path: Path) -> None:
    folder = tmp_path / "project"
    folder.mkdir()
    copy = Path(shutil.copy(TUTORIAL, folder))

    done = warm.python(folder, str(ROOT / "tools" / "run_notebook.py"), copy.name)

    assert done.status == 0, done.err
    assert _displayed(copy) == _displayed(TUTORIAL), "run `make docs`"


def test_the_reports_it_keeps_are_a_cut_its_repair_and_a_value_that_leaves() -> None:
    found = [re.findall(r"^\w+\[(WG\d+)\]: ", text, re.MULTILINE) for text in _displayed(TUTORIAL)]

    assert found == [["WG101"], [], ["WG104"], []]


def test_it_is_small_and_names_no_machine() -> None:
    text = TUTORIAL.read_text(encoding="utf-8")

    assert len(text) < MOST_BYTES
    assert not re.findall(r"(?<![\w<.])/(?:tmp|home|root|work|usr|Users)\b", text)
