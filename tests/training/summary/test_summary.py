"""`summarize` and `print_summary`: rows, groups, sorting, forms; eager and inside `tf.function`."""

from __future__ import annotations

import io
import math
from types import ModuleType
from typing import Any

import numpy as np
import pytest

pytestmark = pytest.mark.tensorflow

NAMES = ["net/encoder/dense/kernel", "net/encoder/dense/bias", "net/decoder/dense/kernel", "net/decoder/dense/bias"]


@pytest.fixture
def arrays() -> list[np.ndarray]:
    rng = np.random.default_rng(3)
    return [rng.normal(size=shape).astype("float32") for shape in ((4, 3), (3,), (3, 4), (4,))]


@pytest.fixture
def gradients(tf: ModuleType, arrays: list[np.ndarray]) -> list[Any]:
    return [tf.constant(a) for a in arrays]


def joined(arrays: list[np.ndarray]) -> np.ndarray:
    return np.concatenate([a.ravel() for a in arrays]).astype("float64")


def check_row(row: dict[str, Any], arrays: list[np.ndarray]) -> None:
    """The row is what NumPy says of the gradients put end to end."""
    x = joined(arrays)
    expected = {
        "size": x.size,
        "sum": x.sum(),
        "norm": np.linalg.norm(x),
        "mean": x.mean(),
        "minimum": x.min(),
        "maximum": x.max(),
        "absolute_maximum": np.abs(x).max(),
        "zero_fraction": np.mean(x == 0),
        "nonfinite": 0,
    }
    assert {key: row[key] for key in expected} == pytest.approx(expected, rel=1e-5, abs=1e-6)


@pytest.mark.parametrize(
    ("by", "groups"),
    [
        ("variable", {name: [i] for i, name in enumerate(NAMES)}),
        ("layer", {"net/encoder/dense": [0, 1], "net/decoder/dense": [2, 3]}),
        ("model", {"encoder": [0, 1], "decoder": [2, 3]}),
        ("total", {"all": [0, 1, 2, 3]}),
        (r"/(encoder)/", {"encoder": [0, 1], "(other)": [2, 3]}),
        (r"kernel|bias", {"kernel": [0, 2], "bias": [1, 3]}),
        (lambda name: name[-1], {"l": [0, 2], "s": [1, 3]}),
    ],
    ids=["variable", "layer", "model", "total", "group of a pattern", "pattern", "function"],
)
def test_rows_are_the_gradients_of_a_group_put_end_to_end(
    gradients: list[Any], arrays: list[np.ndarray], by: Any, groups: dict[str, list[int]]
) -> None:
    from whygrad.training.summary.summarize import summarize

    summary = summarize(gradients, NAMES, by=by)

    assert list(summary) == list(groups)
    for name, members in groups.items():
        check_row(summary[name], [arrays[i] for i in members])
    check_row(summary.total, arrays)


def test_missing_is_shown_as_missing_and_not_as_zero(tf: ModuleType, gradients: list[Any], arrays: list[Any]) -> None:
    from whygrad.training.summary.summarize import summarize

    some = [gradients[0], None, gradients[2], tf.zeros([4])]
    by_variable = summarize(some, NAMES)
    by_layer = summarize(some, NAMES, by="layer")

    assert by_variable[NAMES[1]] == dict.fromkeys(by_variable.columns) | {"variables": 1, "missing": 1}
    assert by_variable[NAMES[3]]["norm"] == 0
    assert by_variable[NAMES[3]]["zero_fraction"] == 1
    lines = str(by_variable).splitlines()
    assert "missing" in lines[3]
    assert "missing" not in lines[5]
    assert by_layer["net/encoder/dense"]["missing"] == 1
    check_row(by_layer["net/encoder/dense"], arrays[:1])


def test_nothing_but_missing_gradients_is_a_table_too(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    assert summarize([None, None], NAMES[:2]).total["missing"] == 2
    assert len(summarize([], [])) == 0


def test_a_table_of_no_gradients_says_why_there_are_none(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    summary = summarize([], [])

    assert str(summary).startswith(
        "there are no gradients: the list of variables is empty\nhelp: build the model first"
    )
    assert "there are no gradients" in summary._repr_html_()


@pytest.mark.parametrize(
    ("by", "text"),
    [
        ("laye", "`by='laye'` is not a grouping, and as a pattern it matches no variable"),
        (5, "`by` cannot be 5"),
    ],
)
def test_a_grouping_there_is_not(tf: ModuleType, gradients: list[Any], by: Any, text: str) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.summary.summarize import summarize

    with pytest.raises(UsageError) as caught:
        summarize(gradients, NAMES, by=by)

    assert caught.value.message == text
    assert "group by" in str(caught.value.help)


def test_a_model_is_not_its_variables(tf: ModuleType, keras: ModuleType) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.summary.summarize import summarize

    model = keras.Sequential([keras.Input((2,)), keras.layers.Dense(1)])
    with pytest.raises(UsageError) as caught:
        summarize([tf.ones([2, 1]), tf.ones([1])], model)

    assert str(caught.value) == (
        "`variables` must be a list of variables, got a `Sequential`\nhelp: pass `model.trainable_variables`"
    )


def test_a_gradient_of_another_shape_is_not_that_of_the_variable(tf: ModuleType) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.summary.summarize import summarize

    weight = tf.Variable(tf.ones(5), name="weight")
    with pytest.raises(UsageError, match=r"the gradient of `weight` has shape \(3,\), the variable \(5,\)"):
        summarize([tf.ones(3)], [weight])


def test_a_nan_stays_in_its_row_and_in_the_total(tf: ModuleType, gradients: list[Any]) -> None:
    from whygrad.training.summary.summarize import summarize

    bad = tf.constant([1.0, np.nan, np.inf])
    summary = summarize([gradients[0], bad, *gradients[2:]], NAMES)

    assert summary[NAMES[1]]["nonfinite"] == 2
    assert math.isnan(summary[NAMES[1]]["norm"])
    assert math.isnan(summary[NAMES[1]]["minimum"])
    assert summary.total["nonfinite"] == 2
    assert math.isnan(summary.total["maximum"])
    assert math.isfinite(summary[NAMES[2]]["norm"])


def test_update_ratio_is_rate_times_gradient_over_weight(tf: ModuleType, keras: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    plain = tf.Variable([3.0, 4.0], name="plain")
    wrapped = keras.Variable(np.array([6.0, 8.0], "float32"), name="wrapped")
    optimizer = keras.optimizers.SGD(0.5)
    gradients = [tf.constant([1.0, 0.0]), tf.constant([0.0, 2.0])]

    by_number = summarize(gradients, [plain, wrapped], learning_rate=0.1)
    by_optimizer = summarize(gradients, [plain, wrapped], learning_rate=optimizer)

    assert by_number.update_ratio.tolist() == pytest.approx([0.1 * 1 / 5, 0.1 * 2 / 10])
    assert by_optimizer.update_ratio.tolist() == pytest.approx([0.5 * 1 / 5, 0.5 * 2 / 10])


def test_inside_a_function_it_is_tensors_and_outside_a_table(
    tf: ModuleType, gradients: list[Any], arrays: list[np.ndarray]
) -> None:
    from whygrad.training.summary.summarize import summarize

    seen = []

    @tf.function
    def step(gradients: list[Any]) -> Any:
        summary = summarize(gradients, NAMES, by="layer")
        seen.append((summary.is_symbolic, str(summary), summary.norm.shape[0]))
        return summary

    summary = step(gradients)

    assert seen == [(True, "<Summary of 2 rows by layer, known when the graph runs>", 2)]
    assert not summary.is_symbolic
    check_row(summary["net/encoder/dense"], arrays[:2])


def test_rows_sort_by_any_column_with_missing_last(gradients: list[Any]) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.summary.summarize import summarize

    summary = summarize([None, *gradients[1:]], NAMES)
    down, up = summary.sort("norm"), summary.sort("norm", descending=False)

    assert [*down][-1] == [*up][-1] == NAMES[0]
    assert [*down][:3] == [*up][:3][::-1]
    assert sorted(down.norm[:3].tolist(), reverse=True) == down.norm[:3].tolist()
    assert [*summary.sort("name", descending=False)] == sorted(NAMES)
    with pytest.raises(UsageError, match="`by` cannot be 'colour'"):
        summary.sort("colour")


def test_table_is_aligned_and_complete(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    text = str(summarize([tf.constant([3.0, -4.0, 0.0, 1.0]), None], ["w", "a/longer/name"]))

    assert text == (
        "variable       L2 norm            sum  mean  min  max  |max|  zeros\n"
        "───────────────────────────────────────────────────────────────────\n"
        "w                  5.1  ████████    0     0   -4    3      4  25.0%\n"
        "a/longer/name  missing              –     –    –    –      –      –\n"
        "───────────────────────────────────────────────────────────────────\n"
        "total              5.1              0     0   -4    3      4  25.0%"
    )


def test_non_finite_elements_have_a_column_where_there_are_any(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    head, _, bad, fine, *_ = str(summarize([tf.constant([3.0, np.nan]), tf.ones(3)], ["w", "z"])).splitlines()

    assert head.endswith("non-finite")
    assert bad.split()[-1] == "1"
    assert fine.split()[-1] == "0"


def test_bars_are_as_long_as_the_norms_are_large() -> None:
    from whygrad.training.summary.view import bar

    assert [bar(norm, 2.0) for norm in (2.0, 1.0, 0.5, 1e-9, 0.0)] == ["████████", "████", "██", "▏", ""]
    assert bar(None, 1.0) == bar(float("nan"), 1.0) == ""


def test_dict_frame_and_html_hold_the_same_numbers(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    pandas = pytest.importorskip("pandas")
    summary = summarize([tf.constant([3.0, -4.0]), None], ["w<1>", "b"])

    frame, html = summary.to_pandas(), summary._repr_html_()
    assert summary.to_dict()["w<1>"]["norm"] == frame.loc["w<1>", "norm"] == 5.0
    assert pandas.isna(frame.loc["b", "norm"])
    assert "w&lt;1&gt;" in html
    assert "w<1>" not in html
    assert html.count("<tr") == 4
    assert html.count("<td>missing</td>") == 1


def test_gradients_may_come_as_pairs_dict_or_one_tensor(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    v = tf.Variable([1.0, 2.0], name="v")
    g = tf.constant([3.0, 4.0])

    assert [*summarize([(g, v)])] == ["v"]
    assert [*summarize(zip([g, g], [v, v], strict=True))] == ["v", "v (2)"]
    assert [*summarize({"left": g, "right": g})] == ["left", "right"]
    assert summarize(g).total["norm"] == 5.0
    assert [*summarize([g, g])] == ["gradient 0", "gradient 1"]


def test_lists_that_do_not_match_and_patterns_that_do_not_parse_are_refused(gradients: list[Any]) -> None:
    from whygrad.errors import UsageError
    from whygrad.training.summary.summarize import summarize

    with pytest.raises(UsageError, match="4 gradients do not match 3 variables"):
        summarize(gradients, NAMES[:3])
    with pytest.raises(UsageError, match="neither a grouping nor a regular expression"):
        summarize(gradients, NAMES, by="(")


def test_complex_sum_is_complex(tf: ModuleType) -> None:
    from whygrad.training.summary.summarize import summarize

    summary = summarize([tf.constant([1 + 2j, 3 - 1j], tf.complex64), tf.constant([1.0])], ["c", "r"])

    assert summary["c"]["sum"] == 4 + 1j
    assert summary.total["sum"] == 5 + 1j
    assert "4+1j" in str(summary)


def test_print_in_a_function_comes_every_so_many_steps(tf: ModuleType, capfd: pytest.CaptureFixture[str]) -> None:
    from whygrad.training.summary.in_graph import print_summary

    traced = []

    @tf.function
    def step(g: Any) -> None:
        traced.append(1)
        print_summary([g, None], ["w", "b"], every=3)

    for number in range(1, 8):
        step(tf.constant([3.0 * number, 4.0 * number]))

    lines = capfd.readouterr().out.splitlines()
    assert len(traced) == 1  # the counter does not make `tf.function` trace twice
    rows = [line.split() for line in lines if line.startswith("w")]
    assert [row[2] for row in rows] == ["5", "20", "35"]
    assert len({len(line) for line in lines}) == 1
    assert sum("missing" in line for line in lines) == 3


def test_print_outside_counts_at_its_own_place(tf: ModuleType) -> None:
    from whygrad.training.summary.in_graph import print_summary

    out = io.StringIO()
    for _ in range(5):
        print_summary([tf.ones(2)], ["first"], every=2, stream=out)
        print_summary([tf.ones(2)], ["second"], every=5, stream=out)
    print_summary([tf.ones(2)], ["third"], step=4, every=4, stream=out)
    print_summary([tf.ones(2)], ["fourth"], step=5, every=4, stream=out)

    assert [out.getvalue().count(name) for name in ("first", "second", "third", "fourth")] == [3, 1, 1, 0]
