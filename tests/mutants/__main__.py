"""Break healthy programs in known ways, and see whether whygrad names the way and the line.

python -m tests.mutants [--seed N] [--each N] [--tries N] [--penalty] [--json FILE] [--keep DIR] [PROGRAM ...]
"""

from __future__ import annotations

import argparse
import json
import time
from collections.abc import Sequence
from functools import partial
from pathlib import Path

from .campaign import Plan, rows_of
from .forks import prepare, side_by_side
from .operators import OPERATORS
from .table import Answer, line_of, table
from .variants import VARIANTS

GALLERY = Path(__file__).parent.parent / "gallery"


def healthy_programs() -> list[Path]:
    """The programs of the gallery whose header says so."""
    files = sorted(GALLERY.glob("[89]*.py"))
    return [file for file in files if "# verdict: healthy" in file.read_text(encoding="utf-8")]


def run(plan: Plan, programs: Sequence[Path], jobs: int, into: Path | None) -> list[Answer]:
    """All verdicts; each is printed as it comes, and written into the file, so that a run can be stopped."""
    began = time.monotonic()
    rows: list[Answer] = []
    for row in side_by_side(partial(rows_of, plan), programs, jobs):
        rows.append(row)
        print(f"{len(rows):4} {time.monotonic() - began:5.0f} s  {line_of(row)}", flush=True)
        if into is not None:
            into.write_text(json.dumps(rows, indent=1), encoding="utf-8")
    return rows


def names(text: str, known: Sequence[str]) -> tuple[str, ...]:
    chosen = tuple(filter(None, text.split(",")))
    if unknown := [each for each in chosen if each not in known]:
        raise SystemExit(f"not known: {', '.join(unknown)}; there are {', '.join(known)}")
    return chosen or tuple(known)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m tests.mutants", description=__doc__.splitlines()[0])
    parser.add_argument("programs", nargs="*", type=Path, help="default: every healthy program of the gallery")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--each", type=int, default=4, help="harmful mutants wanted of one program")
    parser.add_argument("--tries", type=int, default=12, help="mutants tried of one program")
    parser.add_argument("--operators", default="", help="only these, separated by commas")
    parser.add_argument("--variants", default="", help="only these, separated by commas")
    parser.add_argument(
        "--penalty", action="store_true", help="place again, with a penalty over all variables, what was placed"
    )
    parser.add_argument("--healthy", action="store_true", help="break nothing: are healthy variants left in peace?")
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--json", type=Path, help="file for all verdicts")
    parser.add_argument("--keep", type=Path, help="folder for the mutants that were not placed")
    options = parser.parse_args()
    plan = Plan(
        seed=options.seed,
        each=options.each,
        tries=options.tries,
        operators=names(options.operators, tuple(OPERATORS)),
        variants=names(options.variants, tuple(VARIANTS)),
        penalty=options.penalty,
        healthy=options.healthy,
        keep=options.keep and options.keep.resolve(),
    )
    prepare()
    rows = run(plan, [each.resolve() for each in options.programs] or healthy_programs(), options.jobs, options.json)
    print(table(rows))


if __name__ == "__main__":
    main()
