"""Keeps what the benchmarks measured, and writes it into docs/costs.md and, in part, into the README.

python benchmarks/record.py      rewrite the tables from benchmarks/results.json
"""

from __future__ import annotations

import json
import platform
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results.json"
ROOT = Path(__file__).parent.parent
IN_SHORT = (  # what the README shows
    "`whygrad run`, compiled step",
    "`whygrad run`, eager step",
    "`whygrad run`, fit, 100 batches",
    "`Monitor`, every step, transformer as a graph",
    "`wg.guard`, transformer",
)
START, END = "<!-- benchmarks: written by benchmarks/record.py -->", "<!-- end of benchmarks -->"


def record(what: str, figure: str, budget: str, command: str) -> None:
    """Remember one figure under its name; the newest counts."""
    results = json.loads(RESULTS.read_text()) if RESULTS.exists() else {}
    results[what] = {
        "figure": figure,
        "budget": budget,
        "command": command,
        "day": datetime.now(UTC).date().isoformat(),
        "python": platform.python_version(),
    }
    RESULTS.write_text(json.dumps(results, indent=1, sort_keys=True) + "\n")


def table(only: Sequence[str] = ()) -> str:
    """All figures with budgets and commands, or some of them without."""
    results = json.loads(RESULTS.read_text())
    if only:
        rows = ["| what | measured |", "| --- | --- |", *(f"| {what} | {results[what]['figure']} |" for what in only)]
        return "\n".join(rows)
    rows = ["| what | measured | budget | command |", "| --- | --- | --- | --- |"]
    rows += [f"| {what} | {r['figure']} | {r['budget']} | `{r['command']}` |" for what, r in sorted(results.items())]
    return "\n".join(rows)


def with_table(text: str, only: Sequence[str] = ()) -> str:
    """A page with the table as it should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table(only)}\n{END}{after}"


PAGES = ((ROOT / "README.md", IN_SHORT), (ROOT / "docs" / "costs.md", ()))


def main() -> None:
    for page, only in PAGES:
        page.write_text(with_table(page.read_text(encoding="utf-8"), only), encoding="utf-8")


if __name__ == "__main__":
    main()
