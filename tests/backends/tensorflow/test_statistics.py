"""Statistics against the float64 twin, over shapes, dtypes, NaN and Inf, repeated rows, eager, traced and under XLA."""

from __future__ import annotations

from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from backends.tensorflow.twin import Twin, densified, twin_of

pytestmark = pytest.mark.tensorflow

relaxed = settings(
    max_examples=200, deadline=None, suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture]
)
DTYPES = ["float32", "float64", "float16", "bfloat16", "complex64", "complex128"]


def storage(dtype: str) -> np.dtype:
    return np.dtype("float32" if dtype == "bfloat16" else dtype)


def numbers(dtype: str) -> st.SearchStrategy[Any]:
    """Usual gradients, tiny ones, huge ones, zeros, NaN and Inf; no denormals, which TensorFlow flushes."""
    if storage(dtype).kind == "c":
        part = numbers("float32")
        return st.builds(complex, part, part)
    held, ends = ("float16", [6e4, 1e-4, 1e-3]) if dtype == "float16" else ("float32", [3e38, 1e-37, 1e-3])
    largest, least, small = np.array(ends, held).tolist()  # as they are held: hypothesis wants no others
    return st.one_of(
        st.floats(-1e3, 1e3, width=16 if held == "float16" else 32).map(lambda x: x if abs(x) >= least else 0.0),
        st.sampled_from([0.0, -0.0, least, -least, largest, -largest, np.nan, np.inf, -np.inf, small, 1.0]),
    )


@st.composite
def gradients(draw: st.DrawFn) -> list[tuple[str, np.ndarray] | None]:
    """A list of dense gradients, some missing, some of the same shape."""
    shapes = draw(st.lists(hnp.array_shapes(min_dims=0, max_dims=3, min_side=0, max_side=5), min_size=1, max_size=3))
    result: list[tuple[str, np.ndarray] | None] = []
    for _ in range(draw(st.integers(1, 5))):
        dtype = draw(st.sampled_from(DTYPES))
        shape = draw(st.sampled_from(shapes))
        if draw(st.integers(0, 5)) == 0:
            result.append(None)
        else:
            result.append((dtype, draw(hnp.arrays(storage(dtype), shape, elements=numbers(dtype)))))
    return result


def tensor(tf: ModuleType, gradient: tuple[str, np.ndarray] | None) -> Any:
    return None if gradient is None else tf.cast(tf.constant(gradient[1]), gradient[0])


def as_tensorflow_has_it(tensors: list[Any]) -> list[Twin | None]:
    """The twins, of the numbers as rounded to the dtype of the gradient."""
    return [None if t is None else twin_of(_array(t)) for t in tensors]


def _array(tensor: Any) -> np.ndarray:
    array = tensor.numpy()
    return array if array.dtype.kind in "fc" and array.dtype.itemsize > 2 else array.astype("float32")


def check(columns: Any, twins: list[Twin | None]) -> None:
    total = np.asarray(columns.sum)
    if columns.imaginary is not None:
        total = np.array([complex(*pair) for pair in zip(total, columns.imaginary, strict=True)])
    for i, twin in enumerate(twins):
        if twin is None:
            assert np.isnan(columns.norm[i])
            assert np.isnan(columns.nonfinite[i])
            continue
        assert columns.size[i] == twin.size
        assert columns.zeros[i] == twin.zeros
        assert columns.nonfinite[i] == twin.nonfinite
        np.testing.assert_allclose(columns.norm[i], twin.norm, rtol=2e-6)
        np.testing.assert_allclose(columns.minimum[i], twin.minimum, rtol=1e-6)
        np.testing.assert_allclose(columns.maximum[i], twin.maximum, rtol=1e-6)
        if twin.nonfinite == 0:
            np.testing.assert_allclose(total[i], twin.sum, rtol=0, atol=twin.slack)
        else:
            assert not np.isfinite(total[i])


@relaxed
@given(given_gradients=gradients())
@example(given_gradients=[("float32", np.array([1e-37, -1e-37], "float32"))])  # too small to square, and they cancel
def test_every_number_is_that_of_the_twin(tf: ModuleType, given_gradients: list[Any]) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    tensors = [tensor(tf, gradient) for gradient in given_gradients]

    check(measure(tensors), as_tensorflow_has_it(tensors))


@pytest.mark.parametrize("jit", [False, True])
def test_traced_and_compiled_give_the_numbers_of_the_twin(tf: ModuleType, jit: bool) -> None:
    from whygrad.backends.tensorflow.measure.statistics import Columns, measure

    rng = np.random.default_rng(0)
    cases = [
        [rng.normal(size=(3, 4)), rng.normal(size=(3, 4)), rng.normal(size=7), np.float64(2.0)],
        [np.array([1e-30, 2e-30, 0.0]), np.array([3e38, 3e38, -3e38]), np.zeros((2, 2))],
        [np.array([1.0, np.nan, 3.0]), np.array([np.inf, 1.0, 2.0]), np.array([-np.inf, np.inf, 0.0])],
        [rng.normal(size=(200, 200)), rng.normal(size=(130, 100))],
    ]
    fields = [name for name in Columns.__slots__ if name != "imaginary"]

    @tf.function(jit_compile=jit)
    def run(tensors: list[Any]) -> list[Any]:
        columns = measure(tensors)
        return [getattr(columns, name) for name in fields]

    for arrays in cases:
        tensors = [tf.constant(a, tf.float32) for a in arrays]
        columns = Columns(imaginary=None, **dict(zip(fields, run(tensors), strict=True)))
        check(columns, as_tensorflow_has_it(tensors))


@relaxed
@given(
    rows=st.lists(st.integers(0, 5), max_size=8),
    spare=st.integers(0, 3),
    width=st.integers(1, 3),
    dtype=st.sampled_from(["float32", "float16", "float64", "complex64"]),
    data=st.data(),
)
def test_repeated_rows_of_slices_count_once_added_up(
    tf: ModuleType, rows: list[int], spare: int, width: int, dtype: str, data: st.DataObject
) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    whole = st.integers(-9, 9).map(float)  # sums of these are exact, so that cancelled rows are exactly zero
    values = data.draw(hnp.arrays(storage(dtype), (len(rows), width), elements=whole))
    height = max(rows, default=-1) + 1 + spare
    slices = tf.IndexedSlices(
        tf.cast(tf.constant(values), dtype), tf.constant(rows, tf.int64), tf.constant([height, width], tf.int64)
    )

    check(measure([slices]), [twin_of(densified(values, rows, height))])


def test_slices_are_never_written_out(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    rows, width = 1 << 40, 1 << 20  # four exabytes, were it dense
    slices = tf.IndexedSlices(tf.ones([2, 3]), tf.constant([5, 5], tf.int64), tf.constant([rows, width], tf.int64))

    columns = measure([slices])

    assert columns.sum[0] == 6
    assert float(columns.norm[0]) == pytest.approx(np.sqrt(12))
    assert columns.zeros[0] == rows * width - 3
    assert (columns.minimum[0], columns.maximum[0]) == (0, 2)


def test_sparse_and_ragged_tensors_count_what_they_stand_for(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    sparse = tf.SparseTensor([[0, 1], [2, 0]], [-3.0, 4.0], [3, 2])
    ragged = tf.ragged.constant([[1.0], [], [2.0, -5.0]])

    check(measure([sparse, ragged]), [twin_of(tf.sparse.to_dense(sparse).numpy()), twin_of(np.array([1.0, 2.0, -5.0]))])


def test_half_precision_is_added_up_in_float32(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    many = tf.fill([70000], tf.constant(1.0, tf.float16))  # more than float16 can hold

    assert measure([many]).sum[0] == 70000


def test_shapes_that_are_only_known_later_are_measured(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure

    @tf.function(input_signature=[tf.TensorSpec([None, 3]), tf.TensorSpec(None)])
    def run(a: Any, b: Any) -> Any:
        columns = measure([a, b])
        return columns.size, columns.norm, columns.zeros

    size, norm, zeros = run(tf.ones([4, 3]), tf.zeros([0]))

    assert size.numpy().tolist() == [12, 0]
    assert norm.numpy().tolist() == [pytest.approx(np.sqrt(12)), 0]
    assert zeros.numpy().tolist() == [0, 0]


def test_what_is_no_tensor_is_named(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import measure
    from whygrad.errors import UsageError

    with pytest.raises(UsageError, match="a gradient is a `object`, which is not a tensor"):
        measure([object()])


def test_norms_are_right_where_squares_overflow_or_vanish(tf: ModuleType) -> None:
    from whygrad.backends.tensorflow.measure.statistics import norms

    cancelling = tf.constant([3e-28, -3e-28, 4e-28, -4e-28])
    found = norms([tf.constant([3e25, 4e25]), tf.constant([3e-28, 4e-28]), cancelling, tf.constant([3.0, 4.0])])

    assert found.numpy().tolist() == pytest.approx([5e25, 5e-28, 50**0.5 * 1e-28, 5.0], rel=1e-6, abs=0)


@relaxed
@given(st.data())
def test_norms_are_rescued_alike_alone_and_stacked_in_any_precision(tf: ModuleType, data: st.DataObject) -> None:
    from whygrad.backends.tensorflow.measure import statistics

    shape, dtype = st.sampled_from([(2, 3), (7,)]), data.draw(st.sampled_from(["float32", "float64"]))
    arrays = [
        data.draw(hnp.arrays(dtype, data.draw(shape), elements=numbers("float32")))
        for _ in range(data.draw(st.integers(1, 9)))  # so many of one shape are stacked
    ]
    groups = statistics.grouped([statistics.part_of(tf.constant(each)) for each in arrays])
    norms, nonfinite = (column.numpy() for column in statistics.rescued(groups, tf.float32))

    for array, norm, count in zip(arrays, norms, nonfinite, strict=True):
        assert count == np.sum(~np.isfinite(array))
        expected = np.linalg.norm(array.astype("float64")) if count == 0 else np.nan
        largest = np.finfo("float32").max
        assert norm == pytest.approx(np.inf if expected > largest else expected, rel=1e-5, nan_ok=True)


def test_a_step_keeps_nothing_as_large_as_its_gradients(tf: ModuleType) -> None:
    """TensorFlow computes what depends on shapes alone ahead of the first step, and keeps it."""
    from whygrad.backends.tensorflow.measure.statistics import grouped, part_of, rescued

    @tf.function(autograph=False)
    def norms(x: Any) -> Any:
        return rescued(grouped([part_of(x), part_of(x[0, :8])]), tf.float32)

    graph = norms.get_concrete_function(tf.TensorSpec((1024, 1024))).graph
    fixed = {id(op) for op in graph.get_operations() if op.type in ("Const", "Shape", "Size", "Range")}
    for op in graph.get_operations():
        if op.inputs and op.type != "Placeholder" and all(id(each.op) in fixed for each in op.inputs):
            fixed.add(id(op))
    sizes = [out.shape.num_elements() or 0 for op in graph.get_operations() if id(op) in fixed for out in op.outputs]

    assert max(sizes) < 1000
