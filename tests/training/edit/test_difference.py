from __future__ import annotations

from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import whygrad as wg
from whygrad.errors import UsageError
from whygrad.training.edit.difference import Change

pytestmark = pytest.mark.tensorflow


def test_norms_are_those_of_numpy(tf: ModuleType) -> None:
    random = np.random.default_rng(0)

    @settings(max_examples=30, deadline=None)
    @given(st.integers(0, 2**32 - 1), st.sampled_from(["float32", "float64", "float16", "bfloat16"]))
    def check(seed: int, dtype: str) -> None:
        nonlocal random
        random = np.random.default_rng(seed)
        shape = tuple(random.integers(1, 4, size=random.integers(0, 3)))
        w = tf.Variable(tf.cast(random.normal(size=shape), dtype), name="w")
        before = wg.edit.snapshot(w)
        w.assign_add(tf.cast(random.normal(size=shape), dtype))
        row = wg.edit.diff(before, w)["w"]
        old, new = before["w"].astype("float64"), w.numpy().astype("float64")
        assert row.before == pytest.approx(float(np.linalg.norm(old)))
        assert row.after == pytest.approx(float(np.linalg.norm(new)))
        assert row.distance == pytest.approx(float(np.linalg.norm(new - old)))
        assert row.largest == pytest.approx(float(np.abs(new - old).max()))

    check()


def test_the_same_bits_are_the_same(tf: ModuleType) -> None:
    w = tf.Variable([1.0, np.nan], name="w")
    before = wg.edit.snapshot(w)
    w.assign([1.0, np.nan])

    found = wg.edit.diff(before, w)
    assert not found
    assert found["w"].change is Change.SAME
    assert str(found) == "0 of 1 variables changed"


def test_a_snapshot_is_a_copy(tf: ModuleType) -> None:
    w = tf.Variable([1.0, 2.0], name="w")
    before = wg.edit.snapshot(w)
    w.assign_add([1.0, 1.0])

    assert list(before["w"]) == [1, 2]
    with pytest.raises(ValueError, match="read-only"):
        before["w"][0] = 3.0


def test_the_table_shows_what_changed(tf: ModuleType) -> None:
    kernel, bias = tf.Variable([[3.0, 4.0]], name="kernel"), tf.Variable([0.0], name="bias")
    still = tf.Variable(1, name="count")
    before = wg.edit.snapshot([kernel, bias, still])
    kernel.assign([[3.0, 8.0]])
    bias.assign([np.inf])

    assert str(wg.edit.diff(before, [kernel, bias, still])) == (
        "variable  shape  |before|  |after|  |change|  relative  largest  elements\n"
        "kernel    1×2           5    8.544         4       0.8        4       50%\n"
        "bias      1             0      inf       inf       inf      inf      100%  1 not finite\n"
        "2 of 3 variables changed, 1 are the same to the bit"
    )


def test_variables_come_and_go(tf: ModuleType) -> None:
    a, b = tf.Variable([1.0], name="a"), tf.Variable([2.0, 3.0], name="b")
    before = wg.edit.snapshot([a, b])
    after = wg.edit.snapshot([tf.Variable([1.0, 1.0], name="a"), tf.Variable(0.0, name="c"), b])

    found = wg.edit.diff(before, after)
    assert [(row.name, row.change) for row in found] == [
        ("a", Change.RESHAPED),
        ("b", Change.SAME),
        ("c", Change.ADDED),
    ]


def test_sorting_puts_the_largest_first(tf: ModuleType) -> None:
    a, b = tf.Variable([100.0], name="a"), tf.Variable([1.0], name="b")
    before = wg.edit.snapshot([a, b])
    a.assign([101.0])
    b.assign([1.5])
    found = wg.edit.diff(before, [a, b])

    assert [row.name for row in found.sort("relative")] == ["b", "a"]
    assert [row.name for row in found.sort("distance")] == ["a", "b"]
    with pytest.raises(UsageError, match="`by` cannot be 'size'"):
        found.sort("size")


def test_two_checkpoints(tf: ModuleType, network: Any, tmp_path: Path) -> None:
    checkpoint = tf.train.Checkpoint(model=network)
    first = checkpoint.write(str(tmp_path / "a"))
    network.get_layer("last").bias.assign([5.0])
    second = checkpoint.write(str(tmp_path / "b"))

    changed = wg.edit.diff(first, second).changed
    assert [row.distance for row in changed] == [5.0]
    assert "bias" in changed[0].name


@pytest.mark.parametrize("suffix", [".weights.h5", ".keras"])
def test_two_saved_keras_files(keras: ModuleType, tmp_path: Path, suffix: str) -> None:
    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, name="d")])
    save = model.save if suffix == ".keras" else model.save_weights
    save(tmp_path / f"a{suffix}")
    model.layers[0].bias.assign([2.0])
    save(tmp_path / f"b{suffix}")

    changed = wg.edit.diff(tmp_path / f"a{suffix}", tmp_path / f"b{suffix}").changed
    assert [(row.distance, row.shape) for row in changed] == [(2.0, (1,))]


def test_a_file_that_holds_nothing_is_refused(tf: ModuleType, tmp_path: Path) -> None:
    (tmp_path / "x.keras").write_bytes(b"no")
    with pytest.raises(UsageError, match="cannot read variables"):
        wg.edit.diff(tmp_path / "x.keras", tmp_path / "x.keras")
    with pytest.raises(UsageError, match="cannot read variables"):
        wg.edit.diff(str(tmp_path / "missing"), str(tmp_path / "missing"))


def test_names_that_never_agree_are_refused(tf: ModuleType) -> None:
    with pytest.raises(UsageError, match="no variable of the same name"):
        wg.edit.diff(wg.edit.snapshot(tf.Variable(1.0, name="a")), tf.Variable(1.0, name="b"))


@pytest.mark.parametrize("name", ["model.weights.h5", "model.keras"])
def test_a_saved_file_is_compared_with_the_live_model(name: str, tmp_path: Path, tf: Any, keras: Any) -> None:
    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(3), keras.layers.Dense(1)])
    path = tmp_path / name
    (model.save_weights if name.endswith(".h5") else model.save)(path)

    assert not wg.edit.diff(path, model)
    model.layers[0].kernel.assign_add(tf.ones([2, 3]))

    [changed] = wg.edit.diff(path, model).changed
    assert (changed.name, changed.shape) == ("layers/dense/vars/0", (2, 3))
    assert wg.edit.diff(model, str(path))[changed.name].distance == changed.distance
