"""Run every program of the gallery under whygrad and compare what it says with what is true of the program.

python tests/score_gallery.py [--jobs 2] [--cells] [FILE ...]

What passes is said in tests/gallery/README.md. The exit status is 0 if the programs of known_limits.txt fail and all
others pass; whatever is otherwise is a surprise, and printed.
"""

from __future__ import annotations

import argparse
import os
import sys
import time
from pathlib import Path

from scoring.forks import Outcome, prepare, run_all
from scoring.program import KNOWN_LIMITS, all_programs, read, read_known_limits
from scoring.verdict import judge

PROGRESS_EVERY = 30.0  # seconds


def trouble_of(outcome: Outcome) -> str:
    """Empty if the program passes."""
    if outcome.report is None:
        return outcome.trouble
    return judge(read(outcome.file), outcome.report["diagnostics"])


def surprise(name: str, trouble: str, limits: dict[str, str]) -> str:
    """What nobody knew of yet: a program that fails, or one that passes though it is listed."""
    if bool(trouble) == (name in limits):
        return ""
    return trouble or "passes now: take it off known_limits.txt"


def score(files: list[Path], jobs: int, *, in_cells: bool = False) -> int:
    """Print what surprises and the sum of it; how many surprises there were."""
    limits = read_known_limits(KNOWN_LIMITS.read_text(encoding="utf-8"))
    began = last = time.monotonic()
    passed = surprises = 0
    for done, outcome in enumerate(run_all(files, jobs, in_cells=in_cells), 1):
        trouble = trouble_of(outcome)
        passed += not trouble
        if new := surprise(outcome.file.stem, trouble, limits):
            surprises += 1
            print(f"{outcome.file.stem}: {new}", flush=True)
        if time.monotonic() - last > PROGRESS_EVERY:
            last = time.monotonic()
            print(f"{done} of {len(files)} programs, {last - began:.0f} s", flush=True)
    seconds = time.monotonic() - began
    print(f"{passed} of {len(files)} pass, {surprises} surprises, {seconds:.0f} s", flush=True)
    return surprises


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("files", nargs="*", type=Path, help="programs (default: all)")
    parser.add_argument("--jobs", type=int, default=2, help="how many run at the same time (default: 2)")
    parser.add_argument("--cells", action="store_true", help="run each as a notebook of a few cells")
    options = parser.parse_args()
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    prepare()
    return 1 if score(options.files or all_programs(), options.jobs, in_cells=options.cells) else 0


if __name__ == "__main__":
    sys.exit(main())
