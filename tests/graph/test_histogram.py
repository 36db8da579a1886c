"""What the numbers of a histogram say."""

from __future__ import annotations

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from store.samples import histogram_of
from whygrad.graph.histogram import WIDTH, buckets_of, contiguous

NUMBERS = st.lists(st.floats(-(2.0**100), 2.0**100, width=32), max_size=50)


@given(NUMBERS)
def test_buckets_hold_the_elements_between_their_ends(values: list[float]) -> None:
    buckets = buckets_of(histogram_of(np.array(values)))

    assert sum(count for _, _, count in buckets) == len(values)
    assert [low for low, _, _ in buckets] == sorted(low for low, _, _ in buckets)
    for low, high, count in buckets:
        inside = [v for v in values if (low <= v < high if low >= 0 else low < v <= high) or low == high == v == 0]
        lumped = 0.0 in (low, high) and low != high  # the smallest bin leaves out what is exactly zero
        assert sum(1 for v in inside if v or not lumped) == count


@given(NUMBERS)
def test_contiguous_bins_have_one_edge_more_and_lose_nothing(values: list[float]) -> None:
    edges, counts = contiguous(buckets_of(histogram_of(np.array(values))))

    assert edges == sorted(set(edges))
    assert len(edges) == (len(counts) + 1 if counts else 0)
    assert sum(counts) == len(values)


def test_what_was_not_taken_or_makes_no_sense_has_no_buckets() -> None:
    assert buckets_of(np.full(WIDTH, np.nan)) == []
    assert buckets_of(np.full(WIDTH, 1e30)) == []
    assert contiguous([]) == ([], [])
