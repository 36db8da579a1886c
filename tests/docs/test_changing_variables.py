"""The page on changing variables runs from top to bottom."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from types import ModuleType

import pytest

PAGE = Path(__file__).parents[2] / "docs" / "changing-variables.md"


@pytest.mark.tensorflow
def test_every_block_of_the_page_runs(keras: ModuleType, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    blocks = re.findall(r"```python\n(.*?)```", PAGE.read_text(), re.DOTALL)
    (tmp_path / "page.py").write_text("\n".join(blocks))
    names = runpy.run_path(str(tmp_path / "page.py"))

    assert len(blocks) == 6
    assert names["attempt"].rolled_back
    shown = capsys.readouterr().out
    assert "put back:" in shown
    assert "|change|" in shown
    assert "edit ClipWeights" in shown
