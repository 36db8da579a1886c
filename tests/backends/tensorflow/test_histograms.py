"""Histograms that the graph counts are those that NumPy counts."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest

from store.samples import histogram_of
from whygrad.graph.histogram import NONFINITE, SAMPLE, ZERO

pytestmark = pytest.mark.tensorflow


def counted(tf: ModuleType, values: list[Any], dtype: str = "float32", jit: bool = False) -> np.ndarray:
    from whygrad.backends.tensorflow.measure.gradient_part import part_of
    from whygrad.backends.tensorflow.measure.histograms import histograms

    @tf.function(jit_compile=jit)
    def count(tensors: list[Any]) -> Any:
        return histograms([part_of(each) for each in tensors], tf.as_dtype(dtype))

    return np.asarray(count([tf.convert_to_tensor(each) if isinstance(each, np.ndarray) else each for each in values]))


@pytest.mark.parametrize("jit", [False, True])
@pytest.mark.parametrize("dtype", ["float32", "float64"])
def test_every_element_is_in_its_bin(tf: ModuleType, dtype: str, jit: bool) -> None:
    rng = np.random.default_rng(0)
    wide = rng.normal(0, 1, (7, 50)) * 10.0 ** rng.integers(-9, 9, (7, 50))
    edges = 2.0 ** (np.arange(-40, 40) / 2)
    given = [
        wide,
        np.concatenate([edges, -edges, [0.0, -0.0]]),
        np.array([3.0]),
        np.zeros((2, 3)),
        np.zeros((0, 3)),
        rng.normal(size=500),
    ]
    given = [each.astype(dtype) for each in given]

    found = counted(tf, given, dtype, jit)

    np.testing.assert_array_equal(found, [histogram_of(each) for each in given])


def test_what_is_not_finite_is_counted_apart(tf: ModuleType) -> None:
    given = [np.array([np.nan, np.inf, -np.inf, 1.0, -2.0], "float32"), np.full(4, np.nan, "float32")]

    found = counted(tf, given)

    np.testing.assert_array_equal(found, [histogram_of(each) for each in given])
    assert found[:, NONFINITE].tolist() == [3, 4]


def test_half_precision_is_counted_too(tf: ModuleType) -> None:
    given = np.random.default_rng(1).normal(size=300).astype("float16")

    np.testing.assert_array_equal(counted(tf, [given])[0], histogram_of(given))


def test_large_tensors_are_counted_in_evenly_spaced_elements(tf: ModuleType) -> None:
    columns = np.tile(np.arange(1, 1025, dtype="float32"), (1024, 1))  # each column has a number of its own

    (found,) = counted(tf, [columns])

    assert found[1:].sum() == pytest.approx(columns.size)
    assert np.abs(found - histogram_of(columns))[1:].max() < 0.01 * columns.size


def test_slices_count_the_zeros_that_they_do_not_store(tf: ModuleType) -> None:
    values = tf.constant([[1.0, 2.0], [3.0, 4.0], [1.0, -1.0]])
    slices = tf.IndexedSlices(values, tf.constant([4, 0, 4]), tf.constant([10, 2]))

    (found,) = counted(tf, [slices])

    np.testing.assert_array_equal(found, histogram_of(tf.convert_to_tensor(slices).numpy()))
    assert found[ZERO] == 16


def test_a_sample_meets_every_column() -> None:
    pytest.importorskip("tensorflow")
    from whygrad.backends.tensorflow.measure.histograms import distance

    for shape in ((1024, 1024), (784, 512), (3, 3, 256, 256), (30000, 300)):
        count = int(np.prod(shape))
        picked = np.arange(0, count, distance(count))
        assert SAMPLE / 2 < len(picked) <= SAMPLE
        assert len(np.unique(picked % shape[-1])) > 0.99 * shape[-1]
