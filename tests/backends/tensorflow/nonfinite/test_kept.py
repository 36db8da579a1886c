"""A step that went bad can be analysed again elsewhere, with the same result."""

from __future__ import annotations

import runpy
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest

sys.path.insert(0, str(Path(__file__).parent))

from ways import COMPILED, DRAWING, EAGER, FIT, NESTED, STRUCTURED, XLA, Way

from whygrad.backends import kept_steps
from whygrad.watch import diagnosed, replay, watch

pytestmark = pytest.mark.tensorflow

EVERY_THIRD = [*EAGER[::3], *COMPILED[1::6], *NESTED[2::8], *XLA[::9], *STRUCTURED, *DRAWING, *FIT]
NOT_A_STEP = ("nan-optimizer", "nan-weights")  # made by an update, or long before


@pytest.mark.parametrize("way", [way for way in EVERY_THIRD if way.rule not in NOT_A_STEP], ids=lambda way: way.name)
def test_what_was_kept_says_the_same(way: Way, tf: Any, keras: Any, tmp_path: Path) -> None:
    script = tmp_path / "train.py"
    script.write_text(way.source)
    with watch(keep=str(tmp_path / "kept")) as run:
        runpy.run_path(str(script))
    first = run.report().diagnostics[0]
    assert first.primary is not None
    script.unlink()  # on another machine
    moved = shutil.move(tmp_path / "kept", tmp_path / "elsewhere")

    found = diagnosed(replay(str(kept_steps.find("latest", None, moved))))

    assert [each.primary.span for each in found if each.primary is not None] == [first.primary.span]
    assert [each.code for each in found] == [first.code]
    evidence = [note for note in first.notes if note.startswith(("here", "the gradient of", "caused by"))]
    assert set(evidence) <= set(found[0].notes)


def test_nothing_is_kept_of_a_healthy_run(tf: Any, tmp_path: Path) -> None:
    with watch(keep=str(tmp_path / "kept")):
        x = tf.Variable(1.0)
        with tf.GradientTape() as tape:
            loss = x * x
        tape.gradient(loss, x)

    assert not (tmp_path / "kept").exists()


def test_what_is_too_large_is_not_kept_and_this_is_told(tf: Any, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    monkeypatch.setattr(kept_steps, "MAX_STEP_BYTES", 100)
    with watch(keep=str(tmp_path / "kept")) as run:
        x = tf.Variable(tf.zeros(1000))
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.sqrt(x))
        tape.gradient(loss, x)

    assert run.report().diagnostics
    assert "the failing step was not kept" in capsys.readouterr().err
