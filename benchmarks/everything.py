"""All benchmarks, one after another, each in a process of its own; then the tables: `make benchmarks`.

    python benchmarks/everything.py [--share 1]

Figures that none of these takes, as those of `whygrad ui`, stay as they are. `--share 0.1` takes a tenth of the rounds:
it shows that everything runs, and its figures are noise.
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from pathlib import Path

import record

HERE = Path(__file__).parent
PARTS = (  # script, words, rounds
    ("side_by_side.py", ("compiled", "policy"), 150),
    ("side_by_side.py", ("read", "policy"), 100),
    ("side_by_side.py", ("compiled", "MLP"), 100),
    ("side_by_side.py", ("compiled", "CNN"), 80),
    ("side_by_side.py", ("eager", "policy"), 60),
    ("side_by_side.py", ("eager", "MLP"), 60),
    ("side_by_side.py", ("fit", "policy"), 60),
    ("side_by_side.py", ("fit", "MLP"), 100),
    ("side_by_side.py", ("fit", "CNN"), 60),
    ("side_by_side.py", ("fit", "transformer", "--ours"), 40),
    ("side_by_side.py", ("fit", "MLP", "--dump", "CURT_HEALTH"), 20),
    ("side_by_side.py", ("fit", "MLP", "--dump", "FULL_HEALTH"), 10),
    ("side_by_side.py", ("fit", "CNN", "--dump", "CURT_HEALTH"), 15),
    ("side_by_side.py", ("fit", "CNN", "--dump", "FULL_HEALTH"), 8),
    ("side_by_side.py", ("fit", "MLP", "--jit"), 100),
    ("side_by_side.py", ("fit", "transformer", "--jit"), 40),
    ("workers.py", (), 100),
    ("first_steps.py", (), 7),
    ("accumulation.py", ("--no-memory",), 12),
    ("explain.py", ("--real",), None),
    ("memory.py", ("--steps", "20000"), None),
    ("large.py", (), None),
)


def run(script: str, words: tuple[str, ...], rounds: int | None, share: float) -> str:
    """One part; what went wrong, or nothing."""
    some = () if rounds is None else ("--rounds", str(max(3, round(share * rounds))))
    done = subprocess.run([sys.executable, HERE / script, *words, *some], capture_output=True, text=True, check=False)
    print(done.stdout, flush=True)
    return "" if done.returncode == 0 else f"{script} {' '.join(words)} failed:\n{done.stderr[-2000:]}"


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--share", type=float, default=1.0, help="of the rounds")
    share = parser.parse_args().share
    began, failures = time.monotonic(), []
    for number, (script, words, rounds) in enumerate(PARTS, 1):
        minutes = (time.monotonic() - began) / 60
        print(f"[{number}/{len(PARTS)}, {minutes:.1f} min] {script} {' '.join(words)}", file=sys.stderr, flush=True)
        failure = run(script, words, rounds, share)
        if failure:
            failures.append(failure)
            print(failure, file=sys.stderr)
    record.main()
    print(f"{(time.monotonic() - began) / 60:.1f} minutes; benchmarks/RESULTS.md", file=sys.stderr)
    return len(failures)


if __name__ == "__main__":
    sys.exit(main())
