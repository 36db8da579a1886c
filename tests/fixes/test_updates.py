"""Rewrites of what is done with gradients."""

from __future__ import annotations

from typing import Any

import pytest

from fixes.rewritten import first, rewritten
from whygrad.fixes import making, updates

HEAD = "import tensorflow as tf\n"


def test_only_the_lists_of_the_named_object_are_renamed() -> None:
    code = "g = «t.gradient(loss, net.variables)»\nopt.apply(zip(g, net.variables))\nself.variables = other.weights\n"

    assert first(code, updates.trainable_only) == (
        "g = t.gradient(loss, net.trainable_variables)\nopt.apply(zip(g, net.trainable_variables))\n"
        "self.variables = other.weights\n"
    )


def paired(asked: Any, applied: Any) -> Any:
    return updates.paired_with(applied, asked)


def test_gradients_are_zipped_with_the_list_that_was_asked_for() -> None:
    code = "grads = «t.gradient(loss, g.trainable_variables)»\n«opt.apply(zip(grads, d.trainable_variables))»\n"

    assert first(code, paired).endswith("opt.apply(zip(grads, g.trainable_variables))\n")


def test_in_a_loop_the_list_that_goes_with_it_is_asked_for() -> None:
    code = "for net in nets:\n    grads = «t.gradient(loss, a.ws)»\n    «opt.apply(zip(grads, net.ws))»\n"

    assert (
        first(code, paired)
        == "for net in nets:\n    grads = t.gradient(loss, net.ws)\n    opt.apply(zip(grads, net.ws))\n"
    )


def test_one_gradient_for_several_networks_is_nobodys_fix() -> None:
    code = "grads = «t.gradient(loss, a.ws)»\nfor net in nets:\n    «opt.apply(zip(grads, net.ws))»\n"

    assert rewritten(code, paired) == []


def test_sums_are_divided_by_the_name_that_the_file_has_for_the_number() -> None:
    code = "STEPS = 4\n«opt.apply(zip(sums, ws))»\n"

    assert (
        first(code, updates.averaged, 4) == "STEPS = 4\nopt.apply(zip([gradient / STEPS for gradient in sums], ws))\n"
    )
    assert "gradient / 3 for" in first(code, updates.averaged, 3)


def test_sums_are_set_back_after_the_update() -> None:
    code = "for s, g in zip(sums, gs):\n\t«s.assign_add(g)»\nif last:\n\t«opt.apply(zip(sums, ws))»  # step\n"

    def reset(summed: Any, applied: Any) -> Any:
        return updates.set_back(applied, summed)

    assert first(HEAD + code, reset).endswith(
        "if last:\n\topt.apply(zip(sums, ws))  # step\n\tfor s in sums:\n\t    s.assign(tf.zeros_like(s))\n"
    )


@pytest.mark.parametrize(
    ("rewrite", "before", "after"),
    [
        (
            updates.dense,
            "gs = «t.gradient(loss, ws)»",
            "gs = [tf.convert_to_tensor(gradient) for gradient in t.gradient(loss, ws)]",
        ),
        (updates.undivided, "loss = «total / 4»", "loss = total"),
        (
            making.made_once,
            "for b in data:\n    opt = «Adam()»\n    f(opt)",
            "opt = Adam()\nfor b in data:\n    f(opt)",
        ),
        (
            updates.read_when_used,
            "ws = «net.trainable_variables»\ng = t.gradient(loss, ws)",
            "g = t.gradient(loss, net.trainable_variables)",
        ),
    ],
)
def test_a_place_is_rewritten(rewrite: Any, before: str, after: str) -> None:
    assert first(HEAD + before, rewrite) == HEAD + after


def test_what_is_written_is_written_after_the_gradient() -> None:
    code = "def step():\n    «opt.apply(a)»  # now\n    g = «t.gradient(loss, w)»\n    return g\n"

    assert (
        first(code, updates.after)
        == "def step():\n    g = t.gradient(loss, w)\n    opt.apply(a)  # now\n    return g\n"
    )


def test_a_model_is_frozen_layer_by_layer() -> None:
    code = "if tune:\n    «net.trainable = False»\n"
    changed = "if tune:\n    for layer in net.layers:\n        layer.trainable = False\n"
    assert first(code, updates.frozen_by_layers) == changed
    assert rewritten("«net.trainable = flag»\n", updates.frozen_by_layers) == []
