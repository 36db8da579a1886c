from __future__ import annotations

from pathlib import Path

import pytest

from rules.diagnosis import Script
from whygrad.source.training_call import unknowing_step

HELPER = """
def forward(x{parameter}):
    return head(encoder(x, training={flag}))

def train(x, y):
    with tf.GradientTape() as tape:
        loss = loss_fn(y, {call})
    return tape.gradient(loss, variables)
"""


def script(folder: Path, *, parameter: str = "", flag: str = "False", call: str = "forward(x)") -> Script:
    return Script(folder, HELPER.format(parameter=parameter, flag=flag, call=call))


@pytest.mark.parametrize("used_elsewhere", [True, False])
def test_a_function_of_two_masters_is_told_from_one_that_only_trains(tmp_path: Path, used_elsewhere: bool) -> None:
    text = script(tmp_path)
    found = unknowing_step(
        text["encoder(x, training=False)"], [text["loss_fn(y, forward(x))"]], used_elsewhere=used_elsewhere
    )

    assert (found is None) is not used_elsewhere


def test_a_default_of_false_that_the_step_does_not_override_is_found(tmp_path: Path) -> None:
    text = script(tmp_path, parameter=", training=False", flag="training")
    call, step = text["encoder(x, training=training)"], text["loss_fn(y, forward(x))"]

    assert unknowing_step(call, [step], used_elsewhere=False) == step


def test_a_step_that_names_the_flag_knows(tmp_path: Path) -> None:
    text = script(tmp_path, parameter=", training=False", flag="training", call="forward(x, training=False)")
    call = text["encoder(x, training=training)"]

    assert unknowing_step(call, [text["forward(x, training=False)"]], used_elsewhere=True) is None


def test_a_call_under_the_tape_itself_is_meant(tmp_path: Path) -> None:
    text = script(tmp_path, call="encoder(x, training=False) ")
    call = text["encoder(x, training=False) "]

    assert unknowing_step(call, [], used_elsewhere=True) is None
