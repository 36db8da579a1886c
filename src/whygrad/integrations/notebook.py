"""In a notebook: `%load_ext whygrad.integrations.notebook`, then `%%whygrad` at the top of a cell.

A `Report` shows itself in any notebook, without this: leave it as the last line of a cell.
"""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import Any

from whygrad.report import Report
from whygrad.watch import watch


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`: adds the cell magic."""

    def whygrad(line: str, cell: str) -> None:
        """Run the cell while it is watched, then show which gradients are missing and why."""
        from IPython.display import display

        display(run_cell(shell, cell))

    shell.register_magic_function(whygrad, magic_kind="cell", magic_name="whygrad")


def unload_ipython_extension(shell: Any) -> None:
    shell.magics_manager.magics["cell"].pop("whygrad", None)


def run_cell(shell: Any, cell: str) -> Report:
    """What was found while the cell ran; the shell shows the cell's own output and traceback as ever."""
    # A comment in place of the magic's own line, so that lines are counted as the notebook counts them;
    # not where another cell magic follows, which has to come first.
    code = cell if cell.startswith("%%") else f"# %%whygrad\n{cell}"
    with watch() as run:
        with _number_of_the_cell(shell):
            result = shell.run_cell(code)
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            run.failed(error)
    return run.report()


@contextlib.contextmanager
def _number_of_the_cell(shell: Any) -> Iterator[None]:
    """Give the code the number the notebook shows beside it: newer IPythons count on before a cell has run."""
    count = shell.execution_count
    shown = len(shell.history_manager.input_hist_parsed) - 1
    shell.execution_count = shown if shown == count - 1 else count
    try:
        yield
    finally:
        shell.execution_count = count
