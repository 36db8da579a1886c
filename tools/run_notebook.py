"""Run a notebook in a fresh shell and keep what its cells show.

python tools/run_notebook.py [NOTEBOOK]
"""

from __future__ import annotations

import argparse
import json
import os
from pathlib import Path
from typing import Any

ROOT = Path(__file__).parents[1]
TUTORIAL = ROOT / "examples" / "tutorial.ipynb"


def sources(notebook: dict[str, Any]) -> list[str]:
    """The code cells."""
    return ["".join(cell["source"]) for cell in notebook["cells"] if cell["cell_type"] == "code"]


def outputs(cells: list[str]) -> list[list[dict[str, Any]]]:
    """What each cell prints and displays, in the form of a notebook; a cell that fails raises."""
    from IPython.core.displayhook import CapturingDisplayHook
    from IPython.core.interactiveshell import InteractiveShell
    from IPython.utils.capture import capture_output
    from traitlets.config import Config

    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shown = []
    for cell in cells:
        results: list[dict[str, Any]] = []
        shell.display_trap.hook = CapturingDisplayHook(shell, results)
        with capture_output() as captured:
            ran = shell.run_cell(cell, store_history=True)
        ran.raise_error()
        displayed = [{"data": each.data, "metadata": each.metadata or {}} for each in captured.outputs]
        stream = {"output_type": "stream", "name": "stdout", "text": _lines(captured.stdout)}
        shown.append(([stream] if captured.stdout else []) + [_display(each) for each in (*results, *displayed)])
    InteractiveShell.clear_instance()
    return shown


def _display(output: dict[str, Any]) -> dict[str, Any]:
    data = {kind: _lines(text) for kind, text in output["data"].items()}
    return {"output_type": "display_data", "data": data, "metadata": output["metadata"]}


def _lines(text: str) -> list[str]:
    return text.splitlines(keepends=True)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("notebook", nargs="?", type=Path, default=TUTORIAL)
    path = parser.parse_args().notebook
    os.environ.update(TF_CPP_MIN_LOG_LEVEL="3", CUDA_VISIBLE_DEVICES="-1")
    notebook = json.loads(path.read_text(encoding="utf-8"))
    code = [cell for cell in notebook["cells"] if cell["cell_type"] == "code"]
    for number, (cell, shown) in enumerate(zip(code, outputs(sources(notebook)), strict=True), 1):
        cell.update(execution_count=number, outputs=shown)
    path.write_text(json.dumps(notebook, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


if __name__ == "__main__":
    main()
