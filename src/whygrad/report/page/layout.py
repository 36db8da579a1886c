"""Boxes and arrows from top to bottom: rows by the longest way, long arrows led around what lies between."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

BOX: Final = (236, 58)  # width and height, in pixels
_GAP: Final = (28, 34)
_LANE: Final = 24  # the width of an arrow that passes a row
_SWEEPS: Final = 8

Edge = tuple[int, int]


@dataclass(frozen=True, slots=True)
class Layout:
    """`places` are the middles of boxes, `routes` the points of each edge in the order they were given."""

    places: tuple[tuple[float, float], ...]
    routes: tuple[tuple[tuple[float, float], ...], ...]
    size: tuple[float, float]


def lay_out(boxes: int, edges: Sequence[Edge]) -> Layout:
    """Places for boxes that are numbered in the order they ran; an edge that leads back is drawn, and moves nothing."""
    if not boxes:
        return Layout((), (), (0, 0))
    rows, chains, links = _with_lanes(_ranks(boxes, edges), edges)
    widths = defaultdict(lambda: _LANE, dict.fromkeys(range(boxes), BOX[0]))
    neighbours: dict[int, list[int]] = defaultdict(list)
    for one, other in links:
        neighbours[one].append(other)
        neighbours[other].append(one)
    x: dict[int, float] = {}
    for row in rows:
        _spread(row, dict.fromkeys(row, 0.0), widths, x)
    for _ in range(_SWEEPS):
        for row in rows:
            wanted = {n: sum(map(x.__getitem__, neighbours[n])) / len(neighbours[n]) for n in row if neighbours[n]}
            row.sort(key=lambda node: wanted.get(node, x[node]))
            _spread(row, {node: wanted.get(node, x[node]) for node in row}, widths, x)
    left = min(x[node] - widths[node] / 2 for node in x)
    y = {node: BOX[1] / 2 + number * (BOX[1] + _GAP[1]) for number, row in enumerate(rows) for node in row}
    points = {node: (round(x[node] - left, 1), y[node]) for node in x}
    right = max(x[node] + widths[node] / 2 for node in x)
    return Layout(
        tuple(points[node] for node in range(boxes)),
        tuple(tuple(points[node] for node in chain) for chain in chains),
        (round(right - left, 1), max(y.values()) + BOX[1] / 2),
    )


def _ranks(boxes: int, edges: Sequence[Edge]) -> list[int]:
    ranks = [0] * boxes
    after: dict[int, list[int]] = defaultdict(list)
    for one, other in edges:
        if one < other:
            after[one].append(other)
    for one in range(boxes):
        for other in after[one]:
            ranks[other] = max(ranks[other], ranks[one] + 1)
    entered = {other for others in after.values() for other in others}
    for one in range(boxes - 1, -1, -1):  # what begins a way stands just above what takes it
        if one not in entered and after[one]:
            ranks[one] = min(ranks[other] for other in after[one]) - 1
    return ranks


def _with_lanes(ranks: list[int], edges: Sequence[Edge]) -> tuple[list[list[int]], list[list[int]], list[Edge]]:
    """Rows of boxes and of lanes, the stations of each edge, and the links between neighbours."""
    rows: list[list[int]] = [[] for _ in range(max(ranks) + 1)]
    for node, rank in enumerate(ranks):
        rows[rank].append(node)
    chains, links, lane = [], [], len(ranks)
    for one, other in edges:
        chain = [one]
        for rank in range(ranks[one] + 1, ranks[other]):
            rows[rank].append(lane)
            chain.append(lane)
            lane += 1
        chain.append(other)
        chains.append(chain)
        links += list(pairwise(chain)) if ranks[one] < ranks[other] else []
    return rows, chains, links


def _spread(row: list[int], wanted: dict[int, float], widths: dict[int, int], x: dict[int, float]) -> None:
    """Put a row as near as possible to where its nodes want to be, without one covering another."""
    previous: int | None = None
    for node in row:
        least = -1e9 if previous is None else x[previous] + (widths[previous] + widths[node]) / 2 + _GAP[0]
        x[node] = max(wanted[node], least)
        previous = node
    moved = sum(x[node] - wanted[node] for node in row) / len(row)
    for node in row:
        x[node] -= moved
