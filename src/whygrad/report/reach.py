"""Which loss reaches which variables, for programs with more than one loss or with a loss of several terms."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable
from itertools import takewhile
from typing import NamedTuple

from whygrad.report.remarks import place
from whygrad.report.report_data import LossReach, ReportData, TermReach

TITLE = "which loss reaches which variables"
HEADINGS = ("loss", "asked at", "reaches", "does not reach")
_MOST_ROWS = 20
_MOST_GROUPS = 6
_WIDEST_TERM = 40
_WIDEST_HEADING = 24


class ReachRow(NamedTuple):
    loss: str
    asked_at: str
    reaches: str
    misses: str


def reach_rows(report: ReportData) -> tuple[ReachRow, ...]:
    """A row for each loss and for its terms; none where there is only one, since then the diagnostics say it all."""
    by_loss: dict[tuple[str, object], list[LossReach]] = {}
    for reach in report.gradients:
        by_loss.setdefault((reach.loss, reach.where), []).append(reach)
    rows = [row for reaches in by_loss.values() for row in (_row(reaches), *_term_rows(reaches))]
    if len(rows) < 2:
        return ()
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


def _term_rows(reaches: list[LossReach]) -> list[ReachRow]:
    """The terms, where there is more to see than a loss and its penalties on weights."""
    terms = reaches[0].terms
    if sum(not term.is_penalty for term in terms) < 2 and not any(term.missing for term in terms):
        return []
    return [
        ReachRow(
            f"  + {_shortened(term.term.strip('`'))}",
            "",
            group_names(term.reached) or "nothing",
            group_names(term.missing),
        )
        for term in terms
    ]


def _shortened(text: str, widest: int = _WIDEST_TERM) -> str:
    return text if len(text) <= widest else f"{text[: widest - 3]}..."


class NormTable(NamedTuple):
    """What each term of one loss gives to each layer."""

    title: str
    headings: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]


def norm_tables(report: ReportData) -> tuple[NormTable, ...]:
    """One for each loss whose terms were measured."""
    return tuple(_norm_table(reach) for reach in report.gradients if any(term.norms for term in reach.terms))


def _norm_table(reach: LossReach) -> NormTable:
    layers = dict.fromkeys(_layer(name) for term in reach.terms for name in term.norms)
    rows = [(layer, *(f"{_norm(term, layer):.3g}" for term in reach.terms)) for layer in list(layers)[:_MOST_ROWS]]
    if len(layers) > _MOST_ROWS:
        rows.append((f"and {len(layers) - _MOST_ROWS} more", *("" for _ in reach.terms)))
    rows.append(("all", *(f"{_norm(term, None):.3g}" for term in reach.terms)))
    steps = reach.terms[0].steps
    return NormTable(
        f"norm of the gradient that each term of `{reach.loss}` gives, over {steps} step{'s' * (steps != 1)}",
        ("layer", *(_shortened(term.term.strip("`"), _WIDEST_HEADING) for term in reach.terms)),
        tuple(rows),
    )


def _layer(name: str) -> str:
    return name.rpartition("/")[0] or name


def _norm(term: TermReach, layer: str | None) -> float:
    return math.hypot(*(norm for name, norm in term.norms.items() if layer in (None, _layer(name))))


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
    shared = [parts[0] for parts in takewhile(lambda parts: len(set(parts)) == 1, zip(*folders, strict=False))]
    return f"{'/'.join([*shared, '*'])} ({len(members)})"
