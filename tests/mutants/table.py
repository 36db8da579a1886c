"""Verdicts in lines: one as it comes, and all of them counted for each operator."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from .judge import Peace, Verdict

Answer = dict[str, Any]  # a `Row` of the campaign
WIDTH = 22


def line_of(row: Answer) -> str:
    place = f"{row['program']}:{row['first'] or '-'}"
    operator = f"{row['operator'] or 'healthy'}{' + penalty' if row['penalty'] else ''}"
    words = f"{row['verdict']:6} {operator} [{row['variant']}] {place}"
    is_good = row["verdict"] in (Verdict.PLACED, Peace.QUIET)
    return words if is_good else f"{words}  {', '.join(row['said']) or 'nothing said'}"


def table(rows: Sequence[Answer]) -> str:
    """One line for each operator and one for all; those with a penalty apart."""
    lines = []
    for penalty, heading in ((False, "operator"), (True, "with a penalty")):
        some = [row for row in rows if row["operator"] and row["penalty"] is penalty]
        if some:
            lines.append(f"{heading:{WIDTH}}  share " + "".join(f"{verdict.value:>8}" for verdict in Verdict))
            for operator in sorted({row["operator"] for row in some}):
                lines.append(_counted(operator, [row for row in some if row["operator"] == operator]))
            lines.append(_counted("all", some))
    if healthy := Counter(row["verdict"] for row in rows if not row["operator"]):
        lines.append(f"healthy variants: {healthy[Peace.QUIET]} quiet, {healthy[Peace.LOUD]} loud")
    return "\n".join(lines)


def _counted(name: str, rows: Sequence[Answer]) -> str:
    counts = Counter(row["verdict"] for row in rows)
    share = counts[Verdict.PLACED] / len(rows)
    return f"{name:{WIDTH}} {share:5.0%}  " + "".join(f"{counts[verdict]:8}" for verdict in Verdict)
