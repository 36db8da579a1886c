"""How a summary looks, on a terminal and in a notebook: rows of numbers by the name of their column."""

from __future__ import annotations

import math
from collections.abc import Mapping
from html import escape
from typing import Any, Final

from rich import box
from rich.table import Table
from rich.text import Text

Row = Mapping[str, Any]

HEADINGS: Final = {
    "sum": "sum",
    "norm": "L2 norm",
    "mean": "mean",
    "minimum": "min",
    "maximum": "max",
    "absolute_maximum": "|max|",
    "zero_fraction": "zeros",
    "nonfinite": "non-finite",
    "update_ratio": "update/weight",
}
TOTAL: Final = "total"
_ORDER: Final = ("norm", *(key for key in HEADINGS if key != "norm"))  # the norm first, its bar next to it
_BAR: Final = 8  # cells
_EIGHTHS: Final = " ▏▎▍▌▋▊▉█"
_HTML_STYLE: Final = (
    "<style>.whygrad-summary{border-collapse:collapse;font-variant-numeric:tabular-nums}"
    ".whygrad-summary th,.whygrad-summary td{padding:.15em .7em;border:0;background:none}"
    ".whygrad-summary td{text-align:right}.whygrad-summary th:first-child{text-align:left;font-weight:normal}"
    ".whygrad-summary thead th{border-bottom:1px solid currentColor;font-weight:bold;text-align:right}"
    ".whygrad-summary .total>*{border-top:1px solid currentColor;font-weight:bold!important}"
    ".whygrad-summary .bad>*{color:#c5221f}.whygrad-summary .zero>*{color:#b06000}"
    ".whygrad-summary .bar{display:inline-block;height:.6em;background:#4285f4;opacity:.7;vertical-align:baseline}"
    "</style>"
)


def keys_of(rows: Mapping[str, Row], total: Row) -> list[str]:
    """The columns to show; that of non-finite elements only where there are any."""
    bad = total["nonfinite"] or any(row["nonfinite"] for row in rows.values())
    return [key for key in _ORDER if key in total and (key != "nonfinite" or bad)]


def as_table(label: str, rows: Mapping[str, Row], total: Row) -> Table:
    """The table that rich shows, the norm of each row drawn as a bar."""
    table = Table(box=box.SIMPLE, show_edge=False, pad_edge=False, padding=(0, 1, 0, 0), show_footer=True)
    table.add_column(label, footer=TOTAL, no_wrap=True, header_style="bold", footer_style="bold")
    keys, largest = keys_of(rows, total), _largest(rows)
    for key in keys:
        table.add_column(HEADINGS[key], footer=shown(total[key], key), justify="right", no_wrap=True)
        if key == "norm":
            table.add_column("", no_wrap=True)
    for name, row in rows.items():
        drawn = Text(bar(row["norm"], largest), "cyan")
        cells = (text for key in keys for text in _with_bar(key, shown(row[key], key), drawn))
        table.add_row(name, *cells, style={"bad": "red", "zero": "yellow", "": ""}[_class(row)])
    return table


def as_html(label: str, rows: Mapping[str, Row], total: Row) -> str:
    keys, largest = keys_of(rows, total), _largest(rows)
    headings = (label, *(text for key in keys for text in _with_bar(key, HEADINGS[key], "")))
    head = "".join(f"<th>{escape(text)}</th>" for text in headings)
    all_rows = [(name, row, _class(row)) for name, row in rows.items()] + [(TOTAL, total, "total")]
    body = "".join(
        f"<tr{f' class={kind}' if kind else ''}><th>{escape(name)}</th>"
        + "".join(
            f"<td>{text}</td>"
            for key in keys
            for text in _with_bar(
                key, escape(shown(row[key], key)), "" if kind == "total" else _html_bar(row[key], largest)
            )
        )
        + "</tr>"
        for name, row, kind in all_rows
    )
    return f"{_HTML_STYLE}<table class='whygrad-summary'><thead><tr>{head}</tr></thead><tbody>{body}</tbody></table>"


def shown(value: Any, key: str) -> str:
    """A number as it stands in the table."""
    if value is None:
        return "missing" if key == "norm" else "–"
    if key in ("zero_fraction", "update_ratio") and not math.isfinite(value):
        return "–"  # of nothing, or of a weight that is zero
    if key == "zero_fraction":
        share = float(value)
        return f"{share:.0%}" if share in (0, 1) else f"{share:.1%}"
    if key == "nonfinite" and math.isfinite(value):
        return f"{int(value):,}"
    text: str = format(value, ".1e" if key == "update_ratio" else ".3g")
    return text


def bar(norm: Any, largest: float) -> str:
    """A norm as a stretch of cells, the largest of all as the whole of them."""
    if norm is None or not math.isfinite(norm) or largest <= 0 or norm <= 0:
        return ""
    eighths = max(1, round(float(norm) / largest * _BAR * 8))
    return "█" * (eighths // 8) + _EIGHTHS[eighths % 8].strip()


def _html_bar(norm: Any, largest: float) -> str:
    if norm is None or not math.isfinite(norm) or largest <= 0:
        return ""
    return f"<span class=bar style='width:{max(0.05, 5 * norm / largest):.2f}em'></span>"


def _with_bar(key: str, text: str, drawn: Any) -> tuple[Any, ...]:
    return (text, drawn) if key == "norm" else (text,)


def _largest(rows: Mapping[str, Row]) -> float:
    norms = [row["norm"] for row in rows.values()]
    return max((norm for norm in norms if norm is not None and math.isfinite(norm)), default=0.0)


def _class(row: Row) -> str:
    if row["norm"] is None or (row["nonfinite"] or 0) > 0:
        return "bad"
    return "zero" if row["norm"] == 0 else ""
