"""Hooks are put back, and a hook that fails never becomes the program's problem."""

from __future__ import annotations

import sys
import threading
from typing import Any

import pytest

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.capture import running_capture
from whygrad.backends.tensorflow.listen.hooks import LATE, Hooks
from whygrad.watch import Run, watch

pytestmark = pytest.mark.tensorflow


def program(tf: Any, keras: Any) -> list[str]:
    """A little of everything that is hooked; returns what it computed."""
    keras.utils.set_random_seed(0)
    model = keras.Sequential([keras.layers.Input((3,)), keras.layers.Dense(2, kernel_regularizer="l2")])
    model.trainable = True
    optimizer = keras.optimizers.SGD(0.1)
    x = tf.ones((4, 3))
    other = tf.Variable(2.0)

    @tf.custom_gradient
    def double(t: Any) -> Any:
        return t * 2.0, lambda upstream: upstream * 2.0

    with tf.GradientTape() as tape:
        tape.watch(x)
        body = tf.py_function(lambda t: tf.constant(t.numpy()), [other * 1.0], tf.float32)
        loss = tf.reduce_mean(tf.square(double(model(x, training=True)))) + tf.add_n(model.losses) + body
        loss += keras.losses.MeanSquaredError()(tf.ones((4, 2)), model(x, training=True))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables, strict=True))
    other.assign_add(float(loss))
    model.compile("sgd", "mse")
    model.optimizer.build(model.trainable_variables)  # or else the step is traced twice
    history = model.fit(x.numpy(), tf.ones((4, 2)).numpy(), verbose=0).history["loss"]
    return [float(loss).hex(), history[0].hex(), float(other).hex(), *(w.tobytes().hex() for w in model.get_weights())]


def notes(tf: Any, keras: Any, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The names of all our own functions that run inside the program's calls."""
    seen: dict[str, None] = {}
    safely = Hooks.safely

    def noting(self: Hooks, note: Any, *arguments: Any, **order: bool) -> Any:
        seen[note.__qualname__] = None
        return safely(self, note, *arguments, **order)

    with monkeypatch.context() as patch:
        patch.setattr(Hooks, "safely", noting)
        with watch():
            program(tf, keras)
    return list(seen)


def test_every_hook_may_fail_and_the_program_does_not_notice(
    tf: Any, keras: Any, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    expected = program(tf, keras)
    names = notes(tf, keras, monkeypatch)
    assert "Capture._note_op" in names
    assert len(names) > 15
    for name in names:
        with monkeypatch.context() as patch:
            _break(patch, name)
            with watch() as run:
                result = program(tf, keras)
        assert result == expected, name
        warnings = capsys.readouterr().err.splitlines()
        assert len([line for line in warnings if line.startswith("whygrad: warning")]) == 1, (name, warnings)
        assert f"broken {name}" in warnings[-1]
        assert run.report() is not None


def _break(patch: pytest.MonkeyPatch, name: str) -> None:
    safely = Hooks.safely

    def breaking(self: Hooks, note: Any, *arguments: Any, **order: bool) -> Any:
        def raising(*_: Any) -> None:
            raise RuntimeError(f"broken {name}")

        return safely(self, raising if note.__qualname__ == name else note, *arguments, **order)

    patch.setattr(Hooks, "safely", breaking)


@pytest.mark.parametrize("fails", [False, True])
def test_every_patched_name_is_the_original_object_again(tf: Any, keras: Any, fails: bool) -> None:
    from tensorflow.python.eager import execute

    before = (execute.execute, list(sys.meta_path))
    replaced: list[tuple[Any, str, Any]] = []
    try:
        with watch() as run:
            hooks = _capture(run).hooks
            replaced = list(hooks.replaced)
            assert all(vars(home)[name] is not original for home, name, original in replaced)
            program(tf, keras)
            if fails:
                raise KeyError("the program's own")
    except KeyError:
        assert fails

    assert len(replaced) > 25
    assert [(home, name) for home, name, original in replaced if vars(home)[name] is not original] == []
    assert (execute.execute, list(sys.meta_path)) == before


def test_a_second_watch_inside_a_watch_leaves_the_outer_one_intact(tf: Any, keras: Any) -> None:
    with watch() as outer:
        with watch() as inner:
            program(tf, keras)
        program(tf, keras)

    assert inner.report().run["requests"] == 2
    assert outer.report().run["requests"] == 4


def _capture(run: Run) -> Any:
    return run._watcher.backends["tensorflow"]  # type: ignore[attr-defined]


def test_ops_are_heard_again_after_a_backward_pass_also_after_one_that_fails(tf: Any) -> None:
    w = tf.Variable(2.0)
    heard = []
    with watch():
        capture = running_capture()
        assert capture is not None
        with tf.GradientTape() as tape:
            loss = w * w
        tape.gradient(loss, w)
        heard.append(capture.listener._on_op in compat.listeners())
        with pytest.raises(RuntimeError):
            tape.gradient(loss, w)
        heard.append(capture.listener._on_op in compat.listeners())

    assert heard == [True, True]


def test_ops_of_a_users_own_gradient_are_heard_and_those_of_tensorflow_are_not(
    tf: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    w = tf.Variable([1.0, 2.0])
    listening: list[bool] = []

    def is_listening() -> bool:
        return capture.listener._on_op in compat.listeners()

    @tf.custom_gradient
    def own(x: Any) -> Any:
        def grad(upstream: Any) -> Any:
            listening.append(is_listening())
            return upstream

        return x + 0.0, grad

    with watch():
        capture: Any = running_capture()
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(own(w))
        begin = capture.requests.begin

        def began(*arguments: Any) -> Any:
            ticket = begin(*arguments)
            listening.append(is_listening())
            return ticket

        monkeypatch.setattr(capture.requests, "begin", began)
        tape.gradient(loss, w)

    assert listening == [False, True]


def test_notes_that_wait_are_taken_before_the_next_one_and_when_there_are_enough() -> None:
    taken: list[int] = []
    hooks = Hooks()
    for number in range(LATE - 1):
        hooks.later(taken.append, number)
    hooks.safely(taken.append, -1, is_first=True)
    assert taken == [-1]
    hooks.later(taken.append, LATE - 1)
    assert taken == [-1, *range(LATE)]

    hooks.later(taken.append, LATE)
    hooks.safely(taken.append, LATE + 1)
    assert taken == [-1, *range(LATE + 2)]
    hooks.later(taken.append, LATE + 2)
    hooks.remove()
    assert taken == [-1, *range(LATE + 3)]


def test_notes_that_wait_are_taken_as_those_of_their_own_thread() -> None:
    taken: list[str] = []
    hooks = Hooks()
    hooks.on_thread = lambda before, now: taken.append("the thread changes")
    hooks.later(taken.append, "of the first thread")
    other = threading.Thread(target=hooks.safely, args=(taken.append, "of the second"), kwargs={"is_first": True})
    other.start()
    other.join()

    assert taken == ["of the first thread", "the thread changes", "of the second"]


def test_a_note_that_waited_and_fails_is_said_once_and_the_program_goes_on(capsys: pytest.CaptureFixture[str]) -> None:
    def fail() -> None:
        raise RuntimeError("a note that waited")

    hooks = Hooks()
    hooks.later(fail)
    assert hooks.safely(lambda: "the next") is None
    hooks.remove()

    assert hooks.broken
    assert capsys.readouterr().err.count("a note that waited") == 1


def test_nothing_waits_any_more_where_another_note_failed() -> None:
    def fail() -> None:
        raise RuntimeError("a note that could not wait")

    hooks, taken = Hooks(), list[int]()
    hooks.later(taken.append, 1)
    hooks.safely(fail, is_first=True)
    assert hooks.broken
    hooks.remove()

    assert not hooks.late
    assert taken == []
