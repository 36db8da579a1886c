"""In a notebook: `%load_ext whygrad.integrations.notebook`, then `%%whygrad` at the top of a cell.

A `Report` shows itself in any notebook, without this: leave it as the last line of a cell.
"""

from __future__ import annotations

from contextlib import ExitStack
from typing import Any

from whygrad.watch import Run, watch

MAGIC = "%%whygrad"


class CellWatcher:
    """Watches the cells that begin with `%%whygrad`, and shows the report below each.

    The shell runs such a cell itself, the magic made a comment: its number, its lines, its `Out` and `await` are
    those of any cell. A magic that ran the code anew would be counted as the next cell.
    """

    def __init__(self, shell: Any) -> None:
        self._shell = shell
        self._cell: str | None = None  # the one that is being watched
        self._run: Run | None = None
        self._ending = ExitStack()

    def install(self) -> None:
        self._shell.input_transformers_cleanup.append(comment_out_magic)
        self._shell.events.register("pre_run_cell", self.begin)
        self._shell.events.register("post_run_cell", self.end)

    def remove(self) -> None:
        self._shell.input_transformers_cleanup.remove(comment_out_magic)
        self._shell.events.unregister("pre_run_cell", self.begin)
        self._shell.events.unregister("post_run_cell", self.end)

    def begin(self, info: Any) -> None:
        if self._run is None and _is_marked(info.raw_cell.lstrip().split("\n", 1)[0]):
            self._cell = info.raw_cell
            self._run = self._ending.enter_context(watch())

    def end(self, result: Any) -> None:
        run, self._run = self._run, None
        if run is None or result.info.raw_cell != self._cell:  # a cell that the watched one ran
            self._run = run
            return
        error = result.error_before_exec or result.error_in_exec
        if error is not None:
            run.failed(error)
        self._ending.close()
        from IPython.display import display

        display(run.report())


def comment_out_magic(lines: list[str]) -> list[str]:
    """The cell with its first line made a comment; dropped where another cell magic follows, which must be first."""
    if not lines or not _is_marked(lines[0]):
        return lines
    if len(lines) > 1 and lines[1].startswith("%%"):
        return lines[1:]
    return [f"# {lines[0]}", *lines[1:]]


def _is_marked(line: str) -> bool:
    return line.split() == [MAGIC]


_watchers: dict[int, CellWatcher] = {}


def load_ipython_extension(shell: Any) -> None:
    """Called by `%load_ext`."""
    watcher = _watchers[id(shell)] = CellWatcher(shell)
    watcher.install()


def unload_ipython_extension(shell: Any) -> None:
    """Called by `%unload_ext`, and before `%reload_ext` loads anew."""
    watcher = _watchers.pop(id(shell), None)
    if watcher is not None:
        watcher.remove()
