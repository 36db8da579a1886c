"""NumPy calls on tensors become the framework's own, all of them on the way."""

from __future__ import annotations

from textwrap import dedent

import pytest

from fixes.rewritten import first, rewritten
from whygrad.fixes.array_calls import without_arrays

HEAD = "import numpy as np\nimport tensorflow as tf\n"


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("y = np.sum(«x.numpy()»)", "y = tf.reduce_sum(x)"),
        ("y = «np.exp(x)» * 2", "y = tf.exp(x) * 2"),
        ("y = 2 * «(a + b).numpy()»", "y = 2 * (a + b)"),
        ("y = «x.numpy()».mean(axis=0)", "y = tf.reduce_mean(x, axis=0)"),
        ("y = ((«x.numpy()» - 1) ** 2).sum()", "y = tf.reduce_sum((x - 1) ** 2)"),
        ("y = tf.constant(float(«x.numpy()»))", "y = x"),
        ("y = «x.numpy()».astype('float32')", "y = tf.cast(x, tf.float32)"),
        ("y = np.concatenate([«x.numpy()», z])", "y = tf.concat([x, z], axis=0)"),
        (
            "y = np.mean(\n    «x.numpy()»,  # größe\n    axis=0,\n)",
            "y = tf.reduce_mean(\n    x,  # größe\n    axis=0,\n)",
        ),
        ("y = «model.predict(x, verbose=0)» - z", "y = model(x, training=True) - z"),
        ("y = tf.constant([«float(a)», 2.0])", "y = tf.convert_to_tensor([a, 2.0])"),
    ],
)
def test_a_call_is_translated(before: str, after: str) -> None:
    assert first(HEAD + before, without_arrays) == HEAD + after


def test_all_that_follows_is_translated_and_nothing_else() -> None:
    code = """
        import numpy as np
        import tensorflow as tf

        noise = np.random.normal(size=3)
        m = «mean.numpy()»  # leaves
        z = m + np.exp(0.5 * m) * noise
        print(np.max(z))
        size = np.zeros(m.shape)
        loss = tf.constant(z)
    """
    after = """
        import numpy as np
        import tensorflow as tf

        noise = np.random.normal(size=3)
        m = mean  # leaves
        z = m + tf.exp(0.5 * m) * noise
        print(np.max(z))
        size = np.zeros(m.shape)
        loss = z
    """
    assert first(code, without_arrays) == dedent(after).lstrip("\n")


def test_all_values_that_leave_on_the_way_stay_tensors() -> None:
    line = "z = «mean.numpy()» + np.exp(0.5 * «spread.numpy()») * noise.numpy()"
    assert first(HEAD + line, without_arrays) == HEAD + "z = mean + tf.exp(0.5 * spread) * noise.numpy()"

    lines = "s = «spread.numpy()»\nm = «mean.numpy()»\nz = tf.constant(m + np.exp(s))"
    assert first(HEAD + lines, without_arrays) == HEAD + "s = spread\nm = mean\nz = m + tf.exp(s)"
    assert rewritten(HEAD + "z = «mean.numpy()» + np.sort(«spread.numpy()»)", without_arrays) == []


def test_a_function_that_is_given_the_value_is_translated_too() -> None:
    code = """
        import numpy as np
        import tensorflow as t

        def norm(a):
            return np.sqrt((a ** 2).sum())

        loss = norm(«w.numpy()»)
    """
    changed = first(code, without_arrays)

    assert "return t.sqrt(t.reduce_sum(a ** 2))" in changed
    assert "loss = norm(w)" in changed


@pytest.mark.parametrize(
    "code", ["y = np.sort(«x.numpy()»)", "y = np.sum(«x.numpy()», out=z)", "y = «x.numpy()».astype('int8')"]
)
def test_nothing_is_offered_where_a_word_is_missing(code: str) -> None:
    assert rewritten(HEAD + code, without_arrays) == []


def test_a_file_that_calls_something_else_by_the_usual_name_gets_no_fix() -> None:
    assert rewritten("import numpy as np\ntf = 3\ny = np.sum(«x.numpy()»)", without_arrays) == []


def test_a_missing_import_is_added_after_the_others() -> None:
    code = '"""Doc."""\nimport numpy as np\n\ny = np.sum(«x.numpy()»)\n'

    # a text that is no file is a cell of a notebook, which sees the imports of others
    assert first(code, without_arrays) == '"""Doc."""\nimport numpy as np\n\ny = tf.reduce_sum(x)\n'
