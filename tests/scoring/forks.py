"""Programs under whygrad, each in a fork of this process: TensorFlow is imported once, not five hundred times."""

from __future__ import annotations

import gc
import json
import os
import runpy
import select
import signal
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from scoring.notebook import in_file, run_cells

TIME_LIMIT = 120.0  # seconds for one program; the slowest takes ten on a busy machine
STOPPED = b"watching stopped after an internal error"  # what whygrad prints where it fails itself


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of one program: its report, or why there is none."""

    file: Path
    seconds: float
    report: dict[str, Any] | None = None
    trouble: str = ""


@dataclass(slots=True)
class _Running:
    file: Path
    process: int
    began: float = field(default_factory=time.monotonic)
    text: bytearray = field(default_factory=bytearray)

    @property
    def seconds(self) -> float:
        return time.monotonic() - self.began


def prepare() -> None:
    """Once, before the first fork: import all, and keep the garbage collector off what is there by then."""
    import keras  # noqa: F401
    import tensorflow  # noqa: F401

    from whygrad.report import render
    from whygrad.watch import watch

    with watch() as nothing:
        pass
    render(nothing.report(), "json")
    gc.freeze()


def run_all(files: Sequence[Path], jobs: int, *, in_cells: bool = False) -> Iterator[Outcome]:
    """The outcome of each program, as they finish; at most so many jobs at once; `in_cells`: each as a notebook."""
    waiting = list(reversed(files))
    running: dict[int, _Running] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            file = waiting.pop()
            out, process = _start(file, in_cells=in_cells)
            running[out] = _Running(file, process)
        ready, _, _ = select.select(list(running), [], [], 1.0)
        for out, each in list(running.items()):
            late = each.seconds > TIME_LIMIT
            if late:
                os.kill(each.process, signal.SIGKILL)
            elif out not in ready:
                continue
            elif piece := os.read(out, 1 << 16):
                each.text += piece
                continue
            os.close(out)
            os.waitpid(each.process, 0)
            del running[out]
            yield Outcome(each.file, each.seconds, trouble="took too long") if late else _outcome(each)


def _start(file: Path, *, in_cells: bool) -> tuple[int, int]:
    """Fork; the end of the pipe that the report comes out of, and the process id."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(out)
            _run(file.resolve(), into, in_cells=in_cells)
        finally:
            os._exit(0)
    os.close(into)
    return out, child


def _run(file: Path, pipe: int, *, in_cells: bool) -> None:
    """In a process of its own: the program under watch, and the report into the pipe."""
    from whygrad.report import render
    from whygrad.watch import watch

    with tempfile.TemporaryFile() as said, open(os.devnull, "wb") as nowhere:
        os.dup2(nowhere.fileno(), 1)
        os.dup2(said.fileno(), 2)
        sys.argv = [str(file)]
        sys.path.insert(0, str(file.parent))
        names: dict[str, Any] = {}  # of the program; they live until the report is made, as in `whygrad run`
        with watch() as watched:
            try:
                names |= run_cells(file) if in_cells else runpy.run_path(str(file), run_name="__main__")
            except BaseException as error:
                watched.failed(error)
        text = render(watched.report(), "json").encode()
        text = json.dumps(in_file(json.loads(text), file)).encode() if in_cells else text
        sys.stderr.flush()
        said.seek(0)
        if STOPPED in said.read():
            text = STOPPED
    while text:
        text = text[os.write(pipe, text) :]


def _outcome(done: _Running) -> Outcome:
    if done.text in (b"", STOPPED):
        return Outcome(done.file, done.seconds, trouble=done.text.decode() or "no report")
    return Outcome(done.file, done.seconds, json.loads(done.text))
