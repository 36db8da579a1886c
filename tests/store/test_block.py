"""Compressed series come back bit for bit."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from whygrad.store import block
from whygrad.store.compaction import decode_steps, encode_steps


@st.composite
def bit_patterns(draw: st.DrawFn) -> np.ndarray:
    """[n, m, c] of any bits at all, and of series as they are: constant, counting, noisy."""
    width = draw(st.sampled_from([4, 8]))
    shape = (draw(st.integers(1, 40)), draw(st.integers(1, 3)), draw(st.integers(0, 4)))
    bits = draw(hnp.arrays(f"u{width}", shape, fill=st.nothing()))
    values = bits.view(f"f{width}")
    for channel in range(shape[2]):
        kind = draw(st.sampled_from(["any", "constant", "counting", "nan"]))
        if kind == "constant":
            values[..., channel] = values[0, :, channel]
        elif kind == "counting":
            values[..., channel] = np.arange(shape[0])[:, np.newaxis]
        elif kind == "nan":
            values[..., channel] = np.nan
    return values


@settings(deadline=None)
@given(values=bit_patterns())
def test_every_bit_comes_back(values: np.ndarray) -> None:
    count, members, channels = values.shape

    blobs = list(block.encode_many(values))

    assert len(blobs) == members
    for member, blob in enumerate(blobs):
        found = block.decode(blob, count, channels, values.dtype.name)
        assert found.tobytes() == np.ascontiguousarray(values[:, member].T).tobytes()


@given(st.lists(st.integers(0, 1 << 50), min_size=1, unique=True).map(sorted))
def test_steps_come_back(steps: list[int]) -> None:
    assert decode_steps(encode_steps(np.array(steps)), len(steps)).tolist() == steps


@pytest.mark.parametrize(("series", "most"), [("constant", 0.1), ("counting", 2.0), ("noise", 4.0)])
def test_a_number_takes_no_more_than_it_must(series: str, most: float) -> None:
    count = 1024
    numbers = {
        "constant": np.full(count, 0.001),
        "counting": np.arange(count) % 100,
        "noise": 1 + 0.2 * np.random.default_rng(0).normal(size=count),
    }[series].astype("float32")

    assert len(block.encode(numbers[:, np.newaxis])) / count <= most
