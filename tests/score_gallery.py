"""Run every program of the gallery under whygrad and compare what it says with what is true of the program.

python tests/score_gallery.py [--jobs 2] [FILE ...]

TensorFlow is imported once and each program runs in a fork, so that a few hundred of them take minutes. A bug passes
if a warning or error carries an accepted rule at an accepted line; a healthy program passes if there is neither.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import runpy
import select
import signal
import sys
import time
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent / "gallery"
TIME_LIMIT = 120.0  # seconds for one program
KNOWN_LIMITS = HERE / "known_limits.txt"  # names of programs that are not explained yet, each with its reason


@dataclass(frozen=True, slots=True)
class Program:
    file: Path
    healthy: bool
    causes: frozenset[str]
    lines: frozenset[int]


def read(file: Path) -> Program:
    """A program with what its header says of it."""
    fields = dict(re.findall(r"^# (\w+): (.*)$", file.read_text(), re.M))
    return Program(
        file=file,
        healthy=fields["verdict"].startswith("healthy"),
        causes=frozenset(re.findall(r"[\w-]+", fields.get("cause", ""))) - {"none"},
        lines=frozenset(map(int, re.findall(r"\d+", fields.get("expect_line", "")))),
    )


def judge(program: Program, diagnostics: list[dict[str, Any]]) -> str:
    """Empty if all is well, else what is wrong."""
    loud = [each for each in diagnostics if each["severity"] in ("error", "warning")]
    said = ", ".join(f"{each['rule']} at line {(each['location'] or {}).get('line')}" for each in loud) or "nothing"
    if program.healthy:
        return f"healthy, but: {said}" if loud else ""
    right = [each for each in loud if each["rule"] in program.causes]
    if not right:
        return f"wanted {' or '.join(sorted(program.causes))}, got: {said}"
    if not any(_is_placed(each, program) for each in right):
        return f"wanted line {' or '.join(map(str, sorted(program.lines)))}, got: {said}"
    return ""


def _is_placed(diagnostic: dict[str, Any], program: Program) -> bool:
    place = diagnostic["location"]
    if not program.lines:
        return True
    if place is None or Path(place["file"]).name != program.file.name:
        return False
    last = place.get("end_line") or place["line"]
    return any(place["line"] <= line <= last for line in program.lines)


def run(program: Program, pipe: int) -> None:
    """In a process of its own: the program under watch, and the report into the pipe."""
    from whygrad.report import render
    from whygrad.watch import watch

    quiet = os.open(os.devnull, os.O_WRONLY)
    os.dup2(quiet, 1)
    os.dup2(quiet, 2)
    file = str(program.file.resolve())
    sys.argv = [file]
    sys.path.insert(0, str(program.file.resolve().parent))
    names: dict[str, Any] = {}  # of the program; they live until the report is made, as in `whygrad run`
    with watch() as watched:
        try:
            names |= runpy.run_path(file, run_name="__main__")
        except BaseException as error:
            watched.failed(error)
    text = render(watched.report(), "json").encode()
    while text:
        text = text[os.write(pipe, text) :]


def start(program: Program) -> tuple[int, int]:
    """Fork; the process id and the end of the pipe that the report comes out of."""
    out, into = os.pipe()
    child = os.fork()
    if child == 0:
        try:
            os.close(out)
            run(program, into)
        finally:
            os._exit(0)
    os.close(into)
    return child, out


def scores(programs: list[Program], jobs: int) -> Iterator[tuple[Program, str]]:
    """What is wrong with each program's report, as they finish."""
    waiting = list(reversed(programs))
    running: dict[int, tuple[Program, int, float, bytearray]] = {}
    while waiting or running:
        while waiting and len(running) < jobs:
            program = waiting.pop()
            child, out = start(program)
            running[out] = (program, child, time.monotonic(), bytearray())
        ready, _, _ = select.select(list(running), [], [], 1.0)
        for out, (program, child, began, text) in list(running.items()):
            late = time.monotonic() - began > TIME_LIMIT
            if late:
                os.kill(child, signal.SIGKILL)
            elif out not in ready:
                continue
            elif piece := os.read(out, 1 << 16):
                text += piece
                continue
            os.close(out)
            os.waitpid(child, 0)
            del running[out]
            yield program, "took too long" if late else _verdict(program, bytes(text))


def _verdict(program: Program, text: bytes) -> str:
    return judge(program, json.loads(text)["diagnostics"]) if text else "no report"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="programs (default: all)")
    parser.add_argument("--jobs", type=int, default=2)
    options = parser.parse_args()
    files = options.files or sorted(HERE.glob("[0-9]*.py"))
    limits = dict(re.findall(r"^(\w+): (.*)$", KNOWN_LIMITS.read_text(), re.M))
    import keras  # noqa: F401 -- before the forks
    import tensorflow  # noqa: F401

    wrong = surprises = 0
    for done, (program, trouble) in enumerate(scores([read(file) for file in files], options.jobs), 1):
        known = program.file.stem in limits
        wrong += bool(trouble)
        if bool(trouble) != known:
            surprises += 1
            print(f"\r{program.file.stem}: {trouble or 'explained now: take it off the known limits'}")
        if sys.stderr.isatty():
            print(f"\r{done} of {len(files)}", end="", file=sys.stderr)
    print(f"{len(files) - wrong} of {len(files)} as they should be, {surprises} surprises")
    return surprises > 0


if __name__ == "__main__":
    sys.exit(main())
