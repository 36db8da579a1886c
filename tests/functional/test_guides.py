"""Every Python block of the guides runs."""

from __future__ import annotations

import re
import runpy
from pathlib import Path
from typing import Any

import pytest

pytestmark = pytest.mark.tensorflow

DOCS = Path(__file__).parents[2] / "docs"
GUIDES = [DOCS / "nan.md", DOCS / "fixing.md"]  # those whose blocks stand alone
BLOCKS = [
    pytest.param(block, id=f"{guide.stem} {number}")
    for guide in GUIDES
    for number, block in enumerate(re.findall(r"```python\n(.*?)```", guide.read_text(), re.DOTALL), 1)
]


@pytest.mark.parametrize("block", BLOCKS)
def test_the_block_runs(block: str, tf: Any, keras: Any, tmp_path: Path, monkeypatch: Any) -> None:
    monkeypatch.chdir(tmp_path)
    script = tmp_path / "guide.py"
    script.write_text(block)

    runpy.run_path(str(script))
