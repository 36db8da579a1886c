"""Numbers that are held by variables, tensors that are carried on."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fixes.rewritten import first, rewritten
from whygrad.fixes.states import carried, drawn_anew, in_variable, unwrapped

HEAD = "import tensorflow as tf\n"


def test_a_number_of_an_object_is_held_by_a_variable_and_assigned_to() -> None:
    code = """
        import tensorflow as tf

        class Net:
            def __init__(self):
                self.beta = 0.0

            def step(self, x):
                return «self.beta» * max(x, self.beta)

        net.beta = min(1.0, epoch / 3)
        net.beta += 0.1
    """
    after = """
        import tensorflow as tf

        class Net:
            def __init__(self):
                self.beta = tf.Variable(0.0, trainable=False, dtype=tf.float32)

            def step(self, x):
                return self.beta * tf.maximum(x, self.beta)

        net.beta.assign(min(1.0, epoch / 3))
        net.beta.assign_add(0.1)
    """
    assert first(code, in_variable, "self.beta") == dedent(after).lstrip("\n")


@pytest.mark.parametrize(
    ("before", "name", "after"),
    [
        (
            'w = {"a": 1.0, "b": 0.5}\n«w["b"] = 0.1 * n»\n',
            "w['b']",
            'w = {"a": 1.0, "b": tf.Variable(0.5, trainable=False, dtype=tf.float32)}\nw["b"].assign(0.1 * n)\n',
        ),
        (
            "s = Namespace(rate=0.0, n=6)\n«s.rate = 0.1 * n»\n",
            "s.rate",
            "s = Namespace(rate=tf.Variable(0.0, trainable=False, dtype=tf.float32), n=6)\ns.rate.assign(0.1 * n)\n",
        ),
        ("step = 0\n«step += 1»\n", "step", "step = tf.Variable(0, trainable=False)\nstep.assign_add(1)\n"),
    ],
)
def test_a_number_is_held_by_a_variable_where_it_is_given(before: str, name: str, after: str) -> None:
    assert first(HEAD + before, in_variable, name) == HEAD + after


@pytest.mark.parametrize("code", ["step = 0\nprint(«step»)\n", "a, step = 0, 1\n«step» += 1\n", "print(«step»)\n"])
def test_nothing_is_offered_where_it_is_not_seen_to_be_set_and_changed(code: str) -> None:
    assert rewritten(HEAD + code, in_variable, "step") == []


@pytest.mark.parametrize(
    ("before", "after"),
    [
        (
            "z = x + «np.random.normal(0.0, s, size=x.shape)».astype('float32')",
            "z = x + tf.random.normal(tf.shape(x), 0.0, s)",
        ),
        ("z = «rng.uniform(low=-1.0, size=(3, 2))»", "z = tf.random.uniform((3, 2), -1.0)"),
        ("z = «random.random()» < p", "z = tf.random.uniform(()) < p"),
    ],
)
def test_noise_is_drawn_by_the_framework(before: str, after: str) -> None:
    assert first(HEAD + before, drawn_anew) == HEAD + after
    assert rewritten(HEAD + "z = «rng.choice(3)»", drawn_anew) == []


def test_a_variable_of_a_tensor_becomes_the_tensor() -> None:
    assert first("code = «tf.Variable(net(x), name='code')»", unwrapped) == "code = net(x)"


def test_a_state_that_is_written_in_a_loop_is_carried_through_it() -> None:
    code = """
        import tensorflow as tf

        def call(self, xs):
            for x in xs:
                drive = x + self.state
                «self.state.assign(tf.tanh(drive))»
            return self.state * 2
    """
    after = """
        import tensorflow as tf

        def call(self, xs):
            new_state = tf.convert_to_tensor(self.state)
            for x in xs:
                drive = x + new_state
                new_state = tf.tanh(drive)
            self.state.assign(new_state)
            return new_state * 2
    """
    assert first(code, carried) == dedent(after).lstrip("\n")


def test_what_is_scattered_into_a_variable_is_carried_on_and_kept() -> None:
    code = "def put(x):\n    «bank.scatter_nd_update(slots, f(x))»\n    return tf.gather(bank, slots)\n"
    assert first(HEAD + code, carried) == HEAD + (
        "def put(x):\n    new_bank = tf.tensor_scatter_nd_update(bank, slots, f(x))\n    bank.assign(new_bank)\n"
        "    return tf.gather(new_bank, slots)\n"
    )


def test_what_is_read_in_another_function_is_left_alone() -> None:
    assert rewritten(HEAD + "def put(x):\n    «bank.assign(f(x))»\n\ndef get():\n    return bank\n", carried) == []
    code = "def put(x):\n    «bank.assign(f(bank))»\n    return bank\n"
    assert "new_bank = f(bank)\n    bank.assign(new_bank)\n    return new_bank" in first(HEAD + code, carried)


def test_a_sum_in_a_variable_of_the_file_becomes_a_sum_of_tensors() -> None:
    code = "total.assign(0.0)\nfor x in xs:\n    «total.assign_add(f(x))»\nprint(total)\n"
    assert first(HEAD + code, carried) == HEAD + "total = 0.0\nfor x in xs:\n    total = total + f(x)\nprint(total)\n"


def test_a_write_whose_result_is_used_is_left_alone() -> None:
    assert rewritten("y = «v.assign(x)» + 1", carried) == []
