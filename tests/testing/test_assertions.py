from __future__ import annotations

from types import ModuleType
from typing import Any

import pytest

from whygrad.errors import MissingGradientError, UsageError
from whygrad.testing import assert_all_gradients, assert_diagnoses

pytestmark = pytest.mark.tensorflow


class Step:
    """A training step of two variables, of which one may be cut off."""

    def __init__(self, tf: ModuleType, *, cut: bool) -> None:
        self.tf = tf
        self.cut = cut
        self.w = tf.Variable(2.0, name="w")
        self.b = tf.Variable(1.0, name="b")

    def loss(self, x: float) -> Any:
        product = self.w * x
        return (self.tf.stop_gradient(product) if self.cut else product) + self.b

    def __call__(self, x: float) -> Any:
        with self.tf.GradientTape() as tape:
            loss = self.loss(x)
        return tape.gradient(loss, [self.w, self.b])


def test_passes_where_every_gradient_comes_back(tf: ModuleType) -> None:
    report = assert_all_gradients(Step(tf, cut=False), 3.0)

    assert [reach.reached for reach in report.gradients] == [("w", "b")]


def test_fails_with_the_explanation_where_one_is_missing(tf: ModuleType) -> None:
    with pytest.raises(MissingGradientError) as caught:
        assert_all_gradients(Step(tf, cut=True), 3.0)

    first, _, rest = str(caught.value).partition("\n\n")
    assert first == "no gradient reaches `w`"
    assert "self.tf.stop_gradient(product)" in rest
    assert isinstance(caught.value, AssertionError)


@pytest.mark.parametrize("compiled", [False, True])
def test_takes_the_gradient_itself_where_variables_are_given(compiled: bool, tf: ModuleType) -> None:
    step = Step(tf, cut=True)
    loss = tf.function(step.loss) if compiled else step.loss

    assert_all_gradients(loss, 3.0, variables=[step.b])
    with pytest.raises(MissingGradientError, match="no gradient reaches `w`"):
        assert_all_gradients(loss, 3.0, variables=[step.w, step.b])


def test_model_that_is_built_by_the_call_stands_for_its_variables(keras: ModuleType) -> None:
    model = keras.Sequential([keras.layers.Dense(3), keras.layers.Dense(1)])

    report = assert_all_gradients(lambda x: keras.ops.sum(model(x)), keras.ops.ones((2, 4)), variables=model)

    assert len(report.gradients[0].reached) == 4


def test_allowed_variables_may_go_without(tf: ModuleType) -> None:
    assert_all_gradients(Step(tf, cut=True), 3.0, allow=["w"])
    assert_all_gradients(Step(tf, cut=True), 3.0, allow=["[v-x]*"])
    with pytest.raises(MissingGradientError):
        assert_all_gradients(Step(tf, cut=True), 3.0, allow=["b", "W"])


def test_step_that_asks_for_nothing_is_no_success(tf: ModuleType) -> None:
    with pytest.raises(MissingGradientError, match="`loss` asked for no gradient of a variable") as caught:
        assert_all_gradients(Step(tf, cut=False).loss, 3.0)

    assert caught.value.help == "call what trains, or pass the loss function and `variables=`"


def test_exception_of_the_step_is_raised_where_no_gradient_is_missing(tf: ModuleType) -> None:
    def step() -> None:
        Step(tf, cut=False)(3.0)
        raise KeyError("the step's own")

    with pytest.raises(KeyError, match="the step's own"):
        assert_all_gradients(step)


def test_exception_of_the_step_is_the_cause_where_a_gradient_is_missing(tf: ModuleType, keras: ModuleType) -> None:
    def step() -> None:
        parts = Step(tf, cut=True)
        [gradient, _] = parts(3.0)
        keras.optimizers.SGD().apply_gradients([(gradient, parts.w)])

    with pytest.raises(MissingGradientError) as caught:
        assert_all_gradients(step)

    assert isinstance(caught.value.__cause__, ValueError)
    assert "No gradients provided for any variable" in str(caught.value.__cause__)


@pytest.mark.parametrize("word", ["stop-gradient", "code"])
def test_expected_diagnosis_is_found_by_name_and_by_code(word: str, tf: ModuleType) -> None:
    from whygrad.rules import find_rule

    rule = find_rule("stop-gradient")
    assert rule is not None
    with assert_diagnoses(rule.code if word == "code" else word):
        Step(tf, cut=True)(3.0)


def test_missing_diagnosis_fails_with_what_was_found_instead(tf: ModuleType) -> None:
    with (
        pytest.raises(AssertionError, match=r"WG\d+ int-variable was not diagnosed") as caught,
        assert_diagnoses("int-variable"),
    ):
        Step(tf, cut=True)(3.0)

    assert "self.tf.stop_gradient(product)" in str(caught.value)


def test_exception_of_the_block_is_let_through_after_the_diagnosis(tf: ModuleType) -> None:
    def fail() -> None:
        Step(tf, cut=True)(3.0)
        raise KeyError("after the cut")

    with pytest.raises(KeyError, match="after the cut"), assert_diagnoses("stop-gradient"):
        fail()


def test_unknown_rule_is_refused_before_the_block_runs() -> None:
    with pytest.raises(UsageError, match="unknown rule `stop-gradiant`"), assert_diagnoses("stop-gradiant"):
        pytest.fail("the block ran")
