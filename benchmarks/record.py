"""Keeps what the benchmarks measured, and writes it into RESULTS.md, docs/costs.md and, in part, into the README.

python benchmarks/record.py      rewrite the tables from benchmarks/results.json
"""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterable
from dataclasses import asdict, dataclass, replace
from datetime import UTC, datetime
from importlib import metadata
from pathlib import Path

HERE = Path(__file__).parent
RESULTS = HERE / "results.json"
START, END = "<!-- benchmarks: written by benchmarks/record.py -->", "<!-- end of benchmarks -->"
IN_SHORT = (  # what the README shows: a tool, and how what it is measured on begins
    ("`whygrad run`", "a step of `fit`, as a graph", "CNN"),
    ("`whygrad run`", "an eager loop", "MLP"),
    ("`Monitor`, every step", "a step of `fit`, as a graph", "CNN"),
    ("`wg.guard`", "a step of `fit`, as a graph", "CNN"),
    ("`enable_check_numerics`", "a step of `fit`, as a graph", "CNN"),
    ("`enable_dump_debug_info`, FULL_HEALTH", "a step of `fit`, as a graph", "CNN"),
    ("histograms of gradients", "a step of `fit`, as a graph", "CNN"),
)


@dataclass(frozen=True, kw_only=True)
class Row:
    """One figure."""

    section: str
    what: str
    where: str = ""  # what it was measured on
    figure: str
    null: str = "–"
    budget: str = "–"
    held: bool | None = None  # whether the budget is, over the null; None: there is none
    equal: bool | None = None  # whether the weights came out bit for bit as bare ones; None: nobody looked
    day: str = ""  # of the measurement

    @property
    def key(self) -> tuple[str, str, str]:
        return self.section, self.what, self.where.partition(",")[0]  # the length of a step differs from run to run


def record(rows: Iterable[Row]) -> None:
    """Remember some figures; of one name the newest counts."""
    known = {row.key: row for row in rows_kept()}
    for row in rows:
        known[row.key] = replace(row, day=today())
        print(f"{row.section} | {row.what} | {row.where} | {row.figure} | null {row.null} | budget {row.budget}")
    data = {"machine": machine(), "rows": [asdict(row) for row in known.values()]}
    RESULTS.write_text(json.dumps(data, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")


def rows_kept() -> list[Row]:
    if not RESULTS.exists():
        return []
    return [Row(**row) for row in json.loads(RESULTS.read_text(encoding="utf-8"))["rows"]]


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def machine() -> str:
    """What it was measured on, in a sentence."""
    versions = ", ".join(f"{name} {metadata.version(name)}" for name in ("tensorflow-cpu", "keras"))
    load = os.getloadavg()[1]
    return f"{today()}, {os.cpu_count()} processors, Python {platform.python_version()}, {versions}; load {load:.1f}"


def short_table() -> str:
    """What the README shows."""
    rows = {row.key: row for row in rows_kept()}
    lines = ["| what | on | time of a step to bare | null |", "| --- | --- | --- | --- |"]
    for what, section, where in IN_SHORT:
        row = rows.get((section, what, where))
        if row is not None:
            lines.append(f"| {what} | {section}, {row.where} | {row.figure} | {row.null} |")
    return "\n".join(lines)


def full_table() -> str:
    """Every figure, a table for each section."""
    said = json.loads(RESULTS.read_text(encoding="utf-8"))["machine"] if RESULTS.exists() else "nothing yet"
    lines = [f"Last measured: {said}. A figure is of the day beside it."]
    rows = rows_kept()
    for section in dict.fromkeys(row.section for row in rows):
        lines += ["", f"### {section[0].upper()}{section[1:]}", ""]
        lines += ["| what | on | measured | null | budget | held | weights as bare | day |", "|" + " --- |" * 8]
        for row in rows:
            if row.section == section:
                words = (row.what, row.where, row.figure, row.null, row.budget, yes(row.held), yes(row.equal), row.day)
                lines.append(f"| {' | '.join(words)} |")
    return "\n".join(lines)


def yes(answer: bool | None) -> str:
    return "–" if answer is None else "yes" if answer else "**no**"


def with_table(text: str, table: str) -> str:
    """A page with the table as it should be."""
    before, _, rest = text.partition(START)
    _, _, after = rest.partition(END)
    return f"{before}{START}\n{table}\n{END}{after}"


PAGES = (
    (HERE.parent / "README.md", short_table),
    (HERE.parent / "docs" / "costs.md", full_table),
    (HERE / "RESULTS.md", full_table),
)


def main() -> None:
    for page, table in PAGES:
        page.write_text(with_table(page.read_text(encoding="utf-8"), table()), encoding="utf-8")


if __name__ == "__main__":
    main()
