from __future__ import annotations

import random
from types import ModuleType
from typing import Any

import numpy as np
import pytest

import whygrad as wg
from training.edit.networks import arrays, dense, same
from whygrad.backends.tensorflow import compat
from whygrad.errors import NonfiniteError, UsageError
from whygrad.training.edit.owned_variables import variables_of

pytestmark = pytest.mark.tensorflow


class Fault(BaseException):
    """Raised where no code expects it."""


class FaultAfter:
    """Raises after a certain number of ops."""

    def __init__(self, count: int | None) -> None:
        self.left = count
        self.seen = 0

    def __enter__(self) -> FaultAfter:
        assert compat.add_op_callback is not None
        compat.add_op_callback(self._after_op)
        return self

    def __exit__(self, *error: object) -> None:
        assert compat.remove_op_callback is not None
        compat.remove_op_callback(self._after_op)

    def _after_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, *rest: Any) -> None:
        self.seen += 1
        if self.left is not None and self.seen > self.left:
            self.left = None  # once
            raise Fault


def values(*owners: Any) -> list[Any]:
    return arrays([compat.native(v) for v in variables_of(*owners)])


class Training:
    """A model and what training code does to it."""

    def __init__(self, tf: ModuleType, module: ModuleType, seed: int, *, built: bool) -> None:
        module.utils.set_random_seed(seed)
        self.tf, self.module = tf, module
        self.model = dense(module)
        self.optimizer = random.Random(seed).choice(
            [module.optimizers.Adam(0.1), module.optimizers.SGD(0.1, momentum=0.9), module.optimizers.RMSprop(0.1)]
        )
        if built:
            self.optimizer.build(self.model.trainable_variables)
        self.x, self.y = tf.random.normal((4, 3), seed=1), tf.random.normal((4, 1), seed=2)
        self.compiled = tf.function(self.update)

    def update(self) -> Any:
        with self.tf.GradientTape() as tape:
            loss = self.tf.reduce_mean((self.model(self.x, training=True) - self.y) ** 2)
        variables = self.model.trainable_variables
        self.optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    def scatter(self) -> None:
        kernel = compat.native(self.model.trainable_variables[0])
        kernel.scatter_nd_add([[0, 1]], [3.0])

    def overwrite(self) -> None:
        self.model.set_weights([w + 1.0 for w in self.model.get_weights()])

    def shrink(self) -> None:
        for variable in self.model.trainable_variables:
            variable.assign(variable * 0.5)

    def run(self, seed: int) -> None:
        choose = random.Random(seed)
        for _ in range(choose.randint(1, 4)):
            choose.choice([self.update, self.scatter, self.overwrite, self.shrink])()


@pytest.mark.slow
def test_a_fault_after_any_op_restores_weights_and_slots(tf: ModuleType, any_keras: ModuleType) -> None:
    """1,000 random trials over both Kerases; a fault may strike after each op of a random program.

    Each program is first asked to roll back, once, and tells how many ops it has.
    """
    training = Training(tf, any_keras, 0, built=True)
    training.update()
    choose = random.Random(1)
    struck = 0
    ops: dict[int, int] = {}
    for trial in range(500):
        program = choose.randrange(40)
        before = values(training.model, training.optimizer)
        if program not in ops:
            with FaultAfter(None) as dry, wg.edit.transaction(training.model, training.optimizer) as guard:
                training.run(program)
                guard.roll_back()
            assert guard.rolled_back
            assert same(values(training.model, training.optimizer), before), f"asked to roll back, trial {trial}"
            ops[program] = dry.seen
        point = choose.randrange(ops[program])
        try:
            with FaultAfter(point), wg.edit.transaction(training.model, training.optimizer):
                training.run(program)
        except Fault:
            struck += 1
            assert same(values(training.model, training.optimizer), before), f"trial {trial}, after op {point}"
        if trial % 25 == 0:
            training.update()  # go on from other values
    assert struck > 400


def test_a_fault_after_each_single_op_restores(tf: ModuleType, any_keras: ModuleType) -> None:
    training = Training(tf, any_keras, 3, built=True)
    before = values(training.model, training.optimizer)
    with FaultAfter(None) as dry:
        training.run(5)
    with wg.edit.transaction(training.model, training.optimizer) as guard:
        training.run(5)
        guard.roll_back()
    before = values(training.model, training.optimizer)
    for point in range(dry.seen):
        try:
            with FaultAfter(point), wg.edit.transaction(training.model, training.optimizer):
                training.run(5)
        except Fault:
            assert same(values(training.model, training.optimizer), before), f"after op {point}"


def test_a_fault_while_putting_back_does_not_stop_it(tf: ModuleType) -> None:
    variables = [tf.Variable(float(i)) for i in range(5)]
    before = values(variables)

    def change(guard: Any) -> None:
        for variable in variables:
            variable.assign_add(1.0)
        guard.roll_back()

    for point in range(5, 30):
        try:
            with FaultAfter(point), wg.edit.transaction(variables) as guard:
                change(guard)
        except Fault:
            pass
        assert same(values(variables), before), f"after op {point}"


def test_slots_made_inside_begin_anew(tf: ModuleType, any_keras: ModuleType) -> None:
    """After a fault in the very first update, training goes on as if it had never been tried."""
    for step in ("update", "compiled"):
        failed, fresh = (Training(tf, any_keras, 5, built=False) for _ in range(2))
        with pytest.raises(ZeroDivisionError), wg.edit.transaction(failed.model, failed.optimizer):
            (getattr(failed, step)(), 1 // 0)
        for training in (failed, fresh):
            for _ in range(3):
                getattr(training, step)()

        assert same(values(failed.model), values(fresh.model))


def test_weights_made_inside_get_their_first_values_back(keras: ModuleType, tf: ModuleType) -> None:
    keras.utils.set_random_seed(1)
    model = keras.Sequential([keras.layers.Dense(2)])
    first: list[Any] = []

    def train() -> None:
        model(tf.ones((1, 3)))
        first.extend(values(model))
        model.set_weights([w + 1 for w in model.get_weights()])
        raise RuntimeError("late")

    with pytest.raises(RuntimeError, match="late"), wg.edit.transaction(model):
        train()

    assert same(values(model), first)


def test_an_update_that_is_not_finite_is_undone(tf: ModuleType, any_keras: ModuleType) -> None:
    training = Training(tf, any_keras, 2, built=True)
    training.update()
    before = values(training.model, training.optimizer)
    variables = training.model.trainable_variables
    with wg.edit.transaction(training.model, training.optimizer) as guard:
        training.optimizer.apply_gradients([(tf.fill(v.shape, np.float32("nan")), v) for v in variables])

    assert guard.rolled_back
    assert "is not finite" in guard.reason
    assert same(values(training.model, training.optimizer), before)


def test_a_good_step_stays(tf: ModuleType, any_keras: ModuleType) -> None:
    training, plain = (Training(tf, any_keras, 2, built=True) for _ in range(2))
    with wg.edit.transaction(training.model, training.optimizer) as guard:
        guard.check(training.update())
    plain.update()

    assert not guard.rolled_back
    assert same(values(training.model, training.optimizer), values(plain.model, plain.optimizer))


def test_a_checked_value_decides_too(tf: ModuleType) -> None:
    w = tf.Variable(1.0)
    with wg.edit.transaction(w) as guard:
        w.assign(2.0)
        guard.check(tf.constant(float("inf")))

    assert float(w) == 1.0
    assert guard.reason == "a checked value is not finite"


def test_what_was_infinite_before_is_nobodys_fault(tf: ModuleType) -> None:
    mask, w = tf.Variable([0.0, -np.inf]), tf.Variable(1.0)
    with wg.edit.transaction([mask, w]) as guard:
        w.assign(2.0)

    assert not guard.rolled_back
    assert float(w) == 2.0


def test_raising_is_a_choice(tf: ModuleType) -> None:
    w = tf.Variable(1.0)
    with pytest.raises(NonfiniteError, match="restored"), wg.edit.transaction(w, nonfinite="raise"):
        w.assign(float("nan"))

    assert float(w) == 1.0


@pytest.mark.parametrize("jit", [False, True])
def test_inside_a_function_the_decision_is_part_of_the_graph(tf: ModuleType, jit: bool) -> None:
    w = tf.Variable([1.0, 2.0])

    @tf.function(jit_compile=jit)
    def step(factor: Any) -> Any:
        with wg.edit.transaction(w) as guard:
            w.assign(w * factor)
        return guard.rolled_back

    assert not bool(step(tf.constant(3.0)))
    assert list(w.numpy()) == [3, 6]
    assert bool(step(tf.constant(float("nan"))))
    assert list(w.numpy()) == [3, 6]


def test_compiled_steps_are_undone(tf: ModuleType, any_keras: ModuleType) -> None:
    training = Training(tf, any_keras, 4, built=True)
    training.compiled()
    before = values(training.model, training.optimizer)
    with pytest.raises(ZeroDivisionError), wg.edit.transaction(training.model, training.optimizer):
        (training.compiled(), training.compiled(), 1 // 0)

    assert same(values(training.model, training.optimizer), before)


def test_fit_is_undone_with_the_metrics(any_keras: ModuleType, network: Any, batch: Any) -> None:
    network.compile("adam", "mse", metrics=["mae"])
    network.fit(*batch, verbose=0)
    before = values(network)

    class Stop(any_keras.callbacks.Callback):
        def on_train_batch_end(self, batch: int, logs: Any = None) -> None:
            raise Fault

    with pytest.raises(Fault), wg.edit.transaction(network):
        network.fit(*batch, verbose=0, callbacks=[Stop()])

    assert same(values(network), before)


def test_loss_scale_and_learning_rate_are_put_back(any_keras: ModuleType, tf: ModuleType) -> None:
    module = any_keras
    scaled = getattr(module.optimizers, "LossScaleOptimizer", None) or module.mixed_precision.LossScaleOptimizer
    w = module.Variable([1.0]) if hasattr(module, "Variable") else tf.Variable([1.0])
    optimizer = scaled(module.optimizers.SGD(0.5))
    optimizer.apply_gradients([(tf.ones(1), w)])
    before = values(w, optimizer)
    with wg.edit.transaction(w, optimizer) as guard:
        optimizer.inner_optimizer.learning_rate.assign(0.1)
        optimizer.apply_gradients([(tf.constant([np.nan]), w)])
        guard.roll_back()

    assert len(before) >= 4
    assert same(values(w, optimizer), before)


def test_nothing_to_guard_is_refused() -> None:
    with pytest.raises(UsageError, match="something to guard"), wg.edit.transaction():
        pass
