"""How many programs with a bug get a fix, and how many of these fixes are verified.

python -O benchmarks/fixes.py [--sample N] [--seed S] [--json FILE] [--diffs] [--healthy] [FOLDER or FILES ...]

The programs assert their own symptoms, which a fix removes: `-O` leaves assertions out. Each run is a fork of this
process, which has imported the framework, so that a run takes a second and not five. Bugs that no local edit mends are
listed in `not_local.txt`, each with its reason; the share that is fixed is one of all others.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import signal
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import Any

from whygrad.cli.fixing.child import Performance
from whygrad.errors import UsageError
from whygrad.trial.changes import Changes
from whygrad.trial.order import Order
from whygrad.trial.search import search
from whygrad.trial.sighting import Ending, Sighting, load

GALLERY = Path(__file__).resolve().parent.parent / "tests" / "gallery"
NOT_LOCAL = Path(__file__).resolve().with_name("not_local.txt")
SECONDS = 90.0


def main() -> int:
    arguments = _arguments()
    if __debug__:
        sys.exit("run this with `python -O`: assertions of the programs are to be left out")
    import keras  # noqa: F401  # every fork has them then
    import tensorflow as tf  # noqa: F401

    import whygrad.watch  # noqa: F401

    programs = _programs(arguments.places, "healthy" if arguments.healthy else "bug")
    if arguments.sample:
        programs = random.Random(arguments.seed).sample(programs, min(arguments.sample, len(programs)))
    results = {}
    for program in programs:
        results[_name(program)] = result = _try(program)
        print(_line(program, result), flush=True)
        if arguments.diffs:
            print(_details(result), flush=True)
    _summary(results)
    if arguments.json:
        Path(arguments.json).write_text(json.dumps(results, indent=1), encoding="utf-8")
    return 0


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("places", nargs="*", type=Path, default=[GALLERY])
    parser.add_argument("--sample", type=int)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--json")
    parser.add_argument("--healthy", action="store_true", help="programs without a bug, which must get no fix")
    parser.add_argument("--diffs", action="store_true", help="print what was tried")
    return parser.parse_args()


def _programs(places: list[Path], verdict: str) -> list[Path]:
    found = [file for place in places for file in (sorted(place.glob("[0-9]*.py")) if place.is_dir() else [place])]
    return [file.resolve() for file in found if f"# verdict: {verdict}" in file.read_text(encoding="utf-8")[:2000]]


def _name(program: Path) -> str:
    """A program of the gallery by its own name, others with that of their folder."""
    return program.stem if program.parent == GALLERY else f"{program.parent.name}/{program.stem}"


def not_local() -> dict[str, str]:
    """The bugs that no local edit mends, and why."""
    lines = NOT_LOCAL.read_text(encoding="utf-8").splitlines()
    return dict(line.split(" ", 1) for line in lines if line and not line.startswith("#"))


def _try(program: Path) -> dict[str, Any]:
    order = Order(script=str(program))
    began = time.perf_counter()
    first = _run(order)
    attempts, last = [], first
    for attempt in search(first, lambda changes: _run(_changed(order, changes, first.enough))):
        attempts.append(
            {
                "rule": attempt.finding.rule,
                "titles": [fix.title for fix in attempt.fixes],
                "verified": attempt.verdict.is_verified,
                "evidence": attempt.verdict.evidence,
                "reasons": attempt.verdict.against,
                "diff": attempt.diff,
            }
        )
        if attempt.verdict.is_verified:
            last = attempt.sighting
    return {
        "found": [each.rule for each in first.loud],
        "candidates": sum(len(each.fixes) for each in first.loud),
        "attempts": attempts,
        "left": [each.rule for each in last.loud],
        "seconds": round(time.perf_counter() - began, 1),
    }


def _changed(order: Order, changes: Changes, steps: int | None) -> Order:
    return Order(script=order.script, overlay=changes.texts, steps=steps)


def _run(order: Order) -> Sighting:
    with tempfile.TemporaryDirectory() as folder:
        result = Path(folder, "result.json")
        child = os.fork()
        if not child:
            _perform(order, result, folder)
        began = time.monotonic()
        while not os.waitpid(child, os.WNOHANG)[0]:
            time.sleep(0.02)
            if time.monotonic() - began > SECONDS:
                os.kill(child, signal.SIGKILL)
                os.waitpid(child, 0)
                return Sighting(ending=Ending(status=1, late=True), watched=False)
        if result.exists():
            return load(result.read_text(encoding="utf-8"))
        return Sighting(ending=Ending(status=1, error=Path(folder, "said").read_text()[-300:]), watched=False)


def _perform(order: Order, result: Path, folder: str) -> None:
    said = os.open(Path(folder, "said"), os.O_WRONLY | os.O_CREAT)
    for number in (1, 2):
        os.dup2(said, number)
    os.chdir(folder)
    try:
        Performance(order, result).play()
    except UsageError as error:
        print(error, file=sys.stderr)
    finally:
        os._exit(1)


def _is_fixed(result: dict[str, Any]) -> bool:
    return any(attempt["verified"] for attempt in result["attempts"]) and not result["left"]


def _line(program: Path, result: dict[str, Any]) -> str:
    verified = any(attempt["verified"] for attempt in result["attempts"])
    word = "fixed" if _is_fixed(result) else "partly" if verified else "tried" if result["attempts"] else "no fix"
    return f"{word:7} {result['seconds']:6.1f} s  {_name(program)}  {', '.join(result['found'])}"


def _details(result: dict[str, Any]) -> str:
    lines = []
    for attempt in result["attempts"]:
        lines += [f"    {'verified' if attempt['verified'] else 'not verified'}: {'; '.join(attempt['titles'])}"]
        lines += [f"      {each}" for each in (attempt["evidence"] if attempt["verified"] else attempt["reasons"])]
        lines += [f"      | {line}" for line in attempt["diff"].splitlines()[2:] if line[:1] in "+-"]
    return "\n".join(lines)


def _summary(results: dict[str, dict[str, Any]]) -> None:
    found = [result for result in results.values() if result["found"]]
    offered = [result for result in found if result["candidates"]]
    fixed = [result for result in found if _is_fixed(result)]
    print(f"{len(results)} programs, {len(found)} with a finding, {len(offered)} with a candidate, {len(fixed)} fixed")
    left_out = not_local()
    local = [name for name in results if name not in left_out]
    mended = [name for name in local if _is_fixed(results[name])]
    print(f"local edits: {len(mended)} of {len(local)} fixed ({len(mended) / max(1, len(local)):.0%})")
    rules: dict[str, Counter[str]] = {}
    for result in found:
        for rule in dict.fromkeys(result["found"]):
            counts = rules.setdefault(rule, Counter())
            counts["programs"] += 1
            counts["fixed"] += _is_fixed(result)
    for rule, counts in sorted(rules.items(), key=lambda item: -item[1]["programs"]):
        print(f"  {rule:36} {counts['fixed']:3} of {counts['programs']:3}")


if __name__ == "__main__":
    sys.exit(main())
