"""Which loss reaches which variables, for programs with more than one loss."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import NamedTuple

from whygrad.report.remarks import place
from whygrad.report.report_data import LossReach, ReportData

TITLE = "which loss reaches which variables"
HEADINGS = ("loss", "asked at", "reaches", "does not reach")
_MOST_ROWS = 20
_MOST_GROUPS = 6


class ReachRow(NamedTuple):
    loss: str
    asked_at: str
    reaches: str
    misses: str


def reach_rows(report: ReportData) -> tuple[ReachRow, ...]:
    """One row for each loss; none where there is only one loss, since then the diagnostics say it all."""
    by_loss: dict[tuple[str, object], list[LossReach]] = {}
    for reach in report.gradients:
        by_loss.setdefault((reach.loss, reach.where), []).append(reach)
    if len(by_loss) < 2:
        return ()
    rows = [_row(reaches) for reaches in by_loss.values()]
    if len(rows) > _MOST_ROWS:
        rows[_MOST_ROWS:] = [ReachRow(f"and {len(rows) - _MOST_ROWS} more", "", "", "")]
    return tuple(rows)


def _row(reaches: list[LossReach]) -> ReachRow:
    where = reaches[0].where
    reached = dict.fromkeys(name for reach in reaches for name in reach.reached)
    missing = dict.fromkeys(name for reach in reaches for name in reach.missing if name not in reached)
    names = reaches[0] if len(reaches) == 1 else None  # equal names in one request are different variables
    return ReachRow(
        reaches[0].loss,
        "" if where is None else place(where),
        group_names(names.reached if names else reached) or "nothing",
        group_names(names.missing if names else missing),
    )


def group_names(names: Iterable[str]) -> str:
    """`generator/* (6), step`: variables by the folder they are in, a few folders by name."""
    folders: dict[str, list[str]] = {}
    for name in names:
        folders.setdefault(name.split("/", 1)[0], []).append(name)
    groups = [_group(members) for members in folders.values()]
    if len(groups) <= _MOST_GROUPS:
        return ", ".join(groups)
    rest = sum(len(members) for members in list(folders.values())[_MOST_GROUPS:])
    return f"{', '.join(groups[:_MOST_GROUPS])} and {rest} more"


def _group(members: list[str]) -> str:
    if len(members) == 1:
        return members[0]
    if len(Counter(members)) == 1:
        return f"{members[0]} ({len(members)})"
    folders = [name.split("/")[:-1] for name in members]
    shared = []
    for parts in zip(*folders, strict=False):
        if len(set(parts)) > 1:
            break
        shared.append(parts[0])
    return f"{'/'.join([*shared, '*'])} ({len(members)})"
