"""A recording is explained from the texts it carries: the user's files may be gone, or have become others."""

from __future__ import annotations

import linecache
from collections.abc import Callable
from pathlib import Path

import pytest

from graph_builder import GraphBuilder
from rules.diagnosis import Script, at
from whygrad.graph import OpKind, Recording
from whygrad.graph.codec import dump, load
from whygrad.graph.sources import MAX_TEXT, texts_at, with_sources
from whygrad.report import render
from whygrad.watch import explain_recording

PROGRAM = """
with tf.GradientTape() as tape:
    größe_ä = np.square(x); scaled = (w * größe_ä).numpy()
    loss = tf.square(scaled)
    rate = tf.cast(w, tf.int32)  # whygrad: ignore
gradients = tape.gradient(loss, [x, w])
"""


def escaping(script: Script) -> Recording:
    g = GraphBuilder()
    w = g.variable("w")
    x = g.constant()
    scaled = g.op(OpKind.SMOOTH, (w, x), where=script["(w * größe_ä)"])
    back = g.op(OpKind.FOREIGN, (scaled,), where=script["(w * größe_ä).numpy()"])
    g.request(g.op(OpKind.SMOOTH, (back,)), [x, w], where=script["tape.gradient(loss, [x, w])"])
    return g.finish()


def silenced(script: Script) -> Recording:
    g = GraphBuilder()
    w = g.variable("w")
    return g.finish(loss=g.op(OpKind.CAST, (w,), dtype="int32", where=script["tf.cast(w, tf.int32)"]))


@pytest.mark.parametrize("build", [escaping, silenced])
@pytest.mark.parametrize("other", [None, "", "1 +\n" * 90, "a = b\n" * 90])
def test_the_same_is_said_without_the_file(
    tmp_path: Path, build: Callable[[Script], Recording], other: str | None
) -> None:
    script = Script(tmp_path, PROGRAM)
    recording = with_sources(build(script))
    here = {form: render(explain_recording(recording), form) for form in ("text", "html", "sarif", "json")}
    stored = dump(recording)
    script.path.unlink()
    if other is not None:
        script.path.write_text(other)
    linecache.clearcache()

    report = explain_recording(load(stored, Recording))

    assert {form: render(report, form) for form in here} == here


def test_the_words_are_really_from_the_file(tmp_path: Path) -> None:
    script = Script(tmp_path, PROGRAM)
    said = str(explain_recording(with_sources(escaping(script))))

    assert "`x`" in said
    assert "^" * len("(w * größe_ä).numpy()") in said
    assert explain_recording(with_sources(silenced(script))).diagnostics == ()


def test_of_a_very_long_file_the_lines_that_matter_are_kept(tmp_path: Path) -> None:
    script = Script(tmp_path, "a = 1\nb = 2\n" + "c = 3\n" * (MAX_TEXT // 4))

    assert texts_at([script["b = 2"]]) == {str(script.path): "\nb = 2"}


def test_a_file_that_cannot_be_read_is_kept_as_empty() -> None:
    g = GraphBuilder()
    w = g.variable("w")

    assert with_sources(g.finish(loss=g.op(OpKind.STOP, (w,), where=at(1)))).sources == {"train.py": ""}
