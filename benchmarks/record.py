"""Keeps what the benchmarks measured, and writes it into the README's table.

python benchmarks/record.py      rewrite the table from benchmarks/results.json
"""

from __future__ import annotations

import json
import platform
from datetime import UTC, datetime
from pathlib import Path

RESULTS = Path(__file__).parent / "results.json"
README = Path(__file__).parent.parent / "README.md"
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


def table() -> str:
    results = json.loads(RESULTS.read_text())
    rows = ["| what | measured | budget | command |", "| --- | --- | --- | --- |"]
    rows += [f"| {what} | {r['figure']} | {r['budget']} | `{r['command']}` |" for what, r in sorted(results.items())]
    return "\n".join(rows)


def with_table(text: str) -> str:
    """The README with the table as it should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table()}\n{END}{after}"


def main() -> None:
    README.write_text(with_table(README.read_text(encoding="utf-8")), encoding="utf-8")


if __name__ == "__main__":
    main()
