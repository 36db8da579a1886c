"""Who is measured beside bare training: the tools of this package, and what a user has otherwise.

A contestant has a model of its own, made from the same seed, and takes blocks of steps in turns with the others. What
must be switched on for its steps only (a watched run, a debugger of TensorFlow's) is on while its block runs.
"""

from __future__ import annotations

import contextlib
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, nullcontext
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from networks import endless, make

Step = Callable[[], Any]


@dataclass
class Contestant:
    """One step, and what stands around a block of them."""

    step: Step
    around: Callable[[], AbstractContextManager[Any]] = nullcontext
    end: Callable[[], None] = lambda: None
    variables: Callable[[], list[Any]] = list  # that are trained, for those that must not change a result
    warm: int = 20  # steps that are not timed: what looks closely at the first steps has looked
    taken: int = 0  # steps so far
    turns: int = 1  # it takes part in one round of so many: what is slow need not be measured as often
    seconds: list[tuple[int, float]] = field(default_factory=list)  # (round, a step)


class Watching:
    """`whygrad run` around the blocks of one contestant: one capture, whose hooks are out in between."""

    def __init__(self) -> None:
        from whygrad.watch import Run

        self.run = Run(None, None)
        self._left = 0.0

    @contextlib.contextmanager
    def around(self) -> Iterator[None]:
        from whygrad.backends.tensorflow.listen.op_listener import OpListener

        watcher = self.run._watcher
        capture: Any = watcher.backends.get("tensorflow")
        if capture is None:
            self.run._start()
            capture = watcher.backends["tensorflow"]
        else:
            capture.listener = OpListener(capture.hooks, capture._note_op, capture._ignores)
            capture._joined.clear()
            away = time.perf_counter() - self._left
            for history in capture.histories.by_graph.values():
                history.next_at += away  # rationed by the clock
            for known in capture.known_steps.of.values():
                calls, then = known._last_look
                known._last_look = (calls, then + away)
            capture.start()
        try:
            yield
        finally:
            watcher.stop()
            self._left = time.perf_counter()
        assert not capture.has_failed()


def fitted(name: str, jit: bool, model_class: Any = None, change: Callable[[Any], None] | None = None) -> Contestant:
    """The function that `fit` calls for each batch."""

    model, batch = make(name, jit=jit, model_class=model_class)
    if change is not None:
        change(model)
    model.make_train_function()
    iterator = endless(batch)
    made = Contestant(lambda: model.train_function(iterator), variables=lambda: model.trainable_variables)
    made.model = model  # type: ignore[attr-defined]
    return made


def under_run(made: Contestant) -> Contestant:
    made.around, made.warm = Watching().around, 80
    return made


def monitored(name: str, jit: bool, folder: str) -> Contestant:
    from whygrad.training.monitor.monitor import Monitor

    made, monitor = fitted(name, jit), Monitor(folder=folder)
    made.model.history = object()  # type: ignore[attr-defined]
    monitor.set_model(made.model)  # type: ignore[attr-defined]
    monitor.on_train_begin()
    made.end = monitor.on_train_end
    return made


def guarded(name: str, jit: bool) -> Contestant:
    import whygrad as wg

    def change(model: Any) -> None:
        model.optimizer = wg.guard(model.optimizer)

    return fitted(name, jit, change=change)


def called_back(name: str, jit: bool, folder: str) -> Contestant:
    """Keras's own TensorBoard callback, with the loss of every batch; weights only once an epoch, gradients never."""
    import keras

    made, callback = fitted(name, jit), keras.callbacks.TensorBoard(folder, histogram_freq=1, update_freq="batch")
    callback.set_model(made.model)  # type: ignore[attr-defined]
    callback.on_train_begin()
    callback.on_epoch_begin(0)
    train, count = made.step, iter(range(1 << 40))

    def step() -> None:
        batch = next(count)
        callback.on_train_batch_begin(batch)
        callback.on_train_batch_end(batch, {key: float(value) for key, value in train().items()})

    made.step = step
    return made


def statistics_class(write: Callable[[Any, list[Any], list[Any]], None]) -> Any:
    """A model with the training step that people write to see their gradients."""
    import keras
    import tensorflow as tf

    class Measured(keras.Model):
        def train_step(self, data: Any) -> Any:
            x, y = data
            with tf.GradientTape() as tape:
                loss = self.compute_loss(x=x, y=y, y_pred=self(x, training=True))
            gradients = tape.gradient(loss, self.trainable_variables)
            self.optimizer.apply_gradients(zip(gradients, self.trainable_variables, strict=True))
            write(self, gradients, self.trainable_variables)
            self._loss_tracker.update_state(loss, sample_weight=tf.shape(x)[0])
            return self.get_metrics_result()

    return Measured


def by_hand(name: str, jit: bool) -> Contestant:
    """Sum, norm, extremes, zeros and finiteness of every gradient, kept in a variable."""
    import tensorflow as tf

    rows: list[Any] = []

    def write(model: Any, gradients: list[Any], variables: list[Any]) -> None:
        table = []
        for gradient in map(tf.convert_to_tensor, gradients):
            bad = tf.reduce_sum(tf.cast(~tf.math.is_finite(gradient), tf.float32))
            zeros = tf.reduce_sum(tf.cast(tf.equal(gradient, 0), tf.float32))
            sums = tf.reduce_sum(gradient), tf.norm(gradient)
            table.append(tf.stack([*sums, tf.reduce_min(gradient), tf.reduce_max(gradient), zeros, bad]))
        rows[0].assign(tf.stack(table))

    made = fitted(name, jit, statistics_class(write))
    rows.append(tf.Variable(tf.zeros((len(made.variables()), 6)), trainable=False))
    return made


def histograms(name: str, jit: bool, folder: str) -> Contestant:
    """A histogram of every gradient for TensorBoard, the usual way to look at gradients."""
    import tensorflow as tf

    writer = tf.summary.create_file_writer(folder)

    def write(model: Any, gradients: list[Any], variables: list[Any]) -> None:
        with writer.as_default():
            step = tf.cast(tf.convert_to_tensor(model.optimizer.iterations), tf.int64)
            for gradient, variable in zip(gradients, variables, strict=True):
                tf.summary.histogram(f"gradient/{variable.path}", tf.convert_to_tensor(gradient), step)

    return fitted(name, jit, statistics_class(write))


@contextlib.contextmanager
def checking_numerics() -> Iterator[None]:
    import tensorflow as tf

    tf.debugging.enable_check_numerics()
    try:
        yield
    finally:
        tf.debugging.disable_check_numerics()


@contextlib.contextmanager
def dumping(folder: str, mode: str) -> Iterator[None]:
    import tensorflow as tf

    tf.debugging.experimental.enable_dump_debug_info(folder, tensor_debug_mode=mode, circular_buffer_size=-1)
    try:
        yield
    finally:
        tf.debugging.experimental.disable_dump_debug_info()


def debugged(made: Contestant, around: Callable[[], AbstractContextManager[Any]], turns: int) -> Contestant:
    made.around, made.turns = around, turns
    return made


def of_fit(name: str, jit: bool, folder: str, ours: bool = False) -> dict[str, Contestant]:
    """All of them, for a step of `fit`; TensorFlow's own tools see nothing under XLA. `ours`: no others."""
    found = {
        "bare": fitted(name, jit),
        "bare again": fitted(name, jit),
        "`whygrad run`": under_run(fitted(name, jit)),
        "`Monitor`, every step": monitored(name, jit, f"{folder}/monitor"),
        "`wg.guard`": guarded(name, jit),
    }
    if jit or ours:
        return found
    return found | {
        "statistics by hand": by_hand(name, jit),
        "`TensorBoard` callback": called_back(name, jit, f"{folder}/board"),
        "histograms of gradients": debugged(histograms(name, jit, f"{folder}/histograms"), nullcontext, 5),
        "`enable_check_numerics`": debugged(fitted(name, jit), checking_numerics, 5),
    }


def of_dump(name: str, folder: str, mode: str) -> dict[str, Contestant]:
    """TensorFlow's debugger, in a process of its own: one that switches it on a second time dies."""
    words = f"from contestants import take_steps; take_steps({name!r}, {folder!r}, {mode!r})"
    child = subprocess.Popen(
        [sys.executable, "-c", words],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        text=True,
        cwd=Path(__file__).parent,
    )
    assert child.stdin is not None
    assert child.stdout is not None
    asked, answers = child.stdin, child.stdout

    def step() -> None:
        print(file=asked, flush=True)
        if not answers.readline():
            sys.exit(f"TensorFlow's debugger ended its process with {child.wait()}")

    def end() -> None:
        asked.close()
        child.wait()

    return {
        "bare": fitted(name, False),
        "bare again": fitted(name, False),
        f"`enable_dump_debug_info`, {mode}": Contestant(step, end=end),
    }


def take_steps(name: str, folder: str, mode: str) -> None:
    """A step under TensorFlow's debugger for every line that comes in, and a line for each."""
    with dumping(f"{folder}/dump", mode):
        made = fitted(name, False)
        for _ in sys.stdin:
            made.step()
            print(flush=True)


def looped(name: str, *, compiled: bool, reads: bool = False) -> Contestant:
    """A loop of the user's own, which may read its loss at every step."""
    import tensorflow as tf

    model, batch = make(name, jit=False)
    x, y = map(tf.convert_to_tensor, batch)
    variables, optimizer, loss_of = model.trainable_variables, model.optimizer, model.loss
    optimizer.build(variables)

    def train(x: Any, y: Any) -> Any:
        with tf.GradientTape() as tape:
            loss = loss_of(y, model(x, training=True))
        optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables, strict=True))
        return loss

    step = tf.function(train) if compiled else train
    taken = (lambda: float(step(x, y))) if reads else lambda: step(x, y)
    return Contestant(taken, variables=lambda: variables)


def of_loop(name: str, *, compiled: bool, reads: bool) -> dict[str, Contestant]:
    """All that may be put around a loop without changing it."""
    made = partial(looped, name, compiled=compiled, reads=reads)
    return {
        "bare": made(),
        "bare again": made(),
        "`whygrad run`": under_run(made()),
        "`enable_check_numerics`": debugged(made(), checking_numerics, 5),
    }
