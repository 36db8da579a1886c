"""What goes in comes out: at once, while more is written, afterwards, in pieces of any size."""

from __future__ import annotations

import os
import threading
from pathlib import Path

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from store.samples import rows, track
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.graph import Graph
from whygrad.graph.series import CHANNELS
from whygrad.store import Rows, Run, RunNotFoundError, RunWriter, Track, compaction, reader, run_file
from whygrad.store.writer import packed

TRACK = track()


def check(run: Run, steps: list[int], of: Track = TRACK) -> None:
    """The run holds the rows of these steps, bit for bit."""
    expected = rows(of, np.array(steps, np.int64))
    scalars = run.scalars(of.name)
    assert scalars.steps.tolist() == steps
    for i, name in enumerate(of.scalars):
        assert scalars.scalars[name].tobytes() == expected.scalars[:, i].tobytes()
    together = run.everything(of.name)
    assert [each.info for each in together.variables] == list(of.variables)
    for v, info in enumerate(of.variables):
        series, same = run.series(info.name), together.variables[v]
        assert (same.steps.tobytes(), same.track) == (series.steps.tobytes(), series.track)
        assert {name: same.channels[name].tobytes() for name in CHANNELS} == {
            name: series.channels[name].tobytes() for name in CHANNELS
        }
        assert series.steps.tolist() == steps
        assert series.info == info
        for c, channel in enumerate(CHANNELS):
            assert series.channels[channel].tobytes() == expected.values[:, v, c].tobytes()


@settings(max_examples=25, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    pieces=st.lists(st.integers(1, 90), min_size=1, max_size=12),
    stride=st.integers(1, 16),
    dtype=st.sampled_from(["float32", "float64"]),
    flushes=st.lists(st.booleans(), min_size=12, max_size=12),
)
def test_rows_in_pieces_of_any_size_are_read_back_bit_for_bit(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, pieces: list[int], stride: int, dtype: str, flushes: list[bool]
) -> None:
    monkeypatch.setattr(compaction, "rows_in_block", lambda track: 64)
    of = track(dtype=dtype)
    writer = RunWriter.start(tmp_path)
    number = writer.add_track(of)
    steps: list[int] = []
    for size, flush in zip(pieces, flushes, strict=False):
        more = [len(steps) * stride + i * stride for i in range(size)]
        writer.append(number, rows(of, np.array(more)))
        steps += more
        if flush:
            assert writer.flush()
            check(Run(writer.path), steps, of)
    writer.close()
    check(Run(writer.path), steps, of)
    assert [path.name for path in tmp_path.iterdir() if writer.id in path.name] == [f"{writer.id}.sqlite"]


def test_every_reader_sees_a_whole_prefix_while_rows_are_written(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(compaction, "rows_in_block", lambda track: 50)
    writer = RunWriter.start(tmp_path)
    number = writer.add_track(TRACK)
    writer.flush()
    total, seen = 1000, []
    done = threading.Event()

    def write() -> None:
        for step in range(0, total, 5):
            writer.append(number, rows(TRACK, range(step, step + 5)))
            if step % 40 == 0:
                writer.flush()
        done.set()

    thread = threading.Thread(target=write)
    thread.start()
    while not done.is_set():
        steps = Run(writer.path).series("layer_1/kernel").steps.tolist()
        assert steps == list(range(len(steps)))
        seen.append(len(steps))
    thread.join()
    writer.close()

    assert seen == sorted(seen)
    assert len(set(seen)) > 3
    check(Run(writer.path), list(range(total)))


def test_several_optimizers_keep_their_own_steps(tmp_path: Path) -> None:
    one, two = track(2, "generator"), track(3, "discriminator")
    writer = RunWriter.start(tmp_path)
    first, second = writer.add_track(one), writer.add_track(two)
    writer.append(first, rows(one, range(10)))
    writer.append(second, rows(two, range(50)))
    writer.close()

    run = Run(writer.path)
    assert [each.name for each in run.tracks()] == ["generator", "discriminator"]
    assert len(run.scalars("generator").steps) == 10
    assert len(run.series("layer_2/kernel").steps) == 50
    assert len(run.series("layer_0/kernel", "discriminator").steps) == 50
    assert len(run.series("layer_0/kernel", "generator").steps) == 10
    assert run.last_step() == 49


def test_a_run_can_be_carried_on(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path, name="first")
    writer.append(writer.add_track(TRACK), rows(TRACK, range(10)))
    writer.close()
    again = RunWriter.resume(writer.path)
    wider = Track(name=TRACK.name, variables=TRACK.variables, scalars=(*TRACK.scalars, "accuracy"))
    part = rows(TRACK, range(10, 25))
    again.append(again.add_track(wider), Rows(part.steps, np.c_[part.scalars, np.ones(15)], part.values))
    again.close("failed", failure="ValueError: nan")

    run = Run(writer.path)
    assert run.series("layer_1/kernel").steps.tolist() == list(range(25))
    assert np.isnan(run.scalars("adam").scalars["accuracy"][:10]).all()
    assert run.scalars("adam").scalars["accuracy"][10:].tolist() == [1.0] * 15
    facts = run.facts()
    assert (facts["name"], facts["status"], facts["failure"]) == ("first", "failed", "ValueError: nan")


def test_all_variables_together_are_read_with_one_look_at_what_is_newest(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    of, looks = track(variables=20), []
    writer = RunWriter.start(tmp_path)
    writer.append(writer.add_track(of), rows(of, range(8)))
    writer.close()
    read = reader.read_tail
    monkeypatch.setattr(reader, "read_tail", lambda *it: (looks.append(1), read(*it))[1])

    check(Run(writer.path), list(range(8)), of)
    looks.clear()
    Run(writer.path).everything(of.name)
    assert len(looks) == 2  # for what is measured of the step as a whole, and for the variables


def test_facts_events_diagnostics_and_graph_come_back(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path, name="night", facts={"model": "vae"})
    writer.add_event("epoch", {"epoch": 0, "val_loss": 0.5}, step=99)
    diagnostic = Diagnostic(code="WG301", rule="dead-units", severity=Severity.WARNING, message="half of `w` is dead")
    writer.add_diagnostic(diagnostic)
    writer.set_graph(0, packed(Graph(truncated=True)))
    writer.set_graph(0, packed(Graph(truncated=False)))
    writer.close()

    run = Run(writer.path)
    facts = run.facts()
    assert (facts["name"], facts["model"], facts["status"]) == ("night", "vae", "finished")
    assert facts["environment"]["packages"]["numpy"] == np.__version__
    assert facts["started"] <= facts["ended"]
    (event,) = run.events("epoch")
    assert (event.step, event.data) == (99, {"epoch": 0, "val_loss": 0.5})
    assert run.diagnostics() == (diagnostic,)
    assert run.graph() == Graph(truncated=True)
    assert run.check() == []


def test_a_variable_that_is_not_there_is_named(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.append(writer.add_track(TRACK), rows(TRACK, range(3)))
    writer.close()

    with pytest.raises(RunNotFoundError, match=f"run `{writer.id}` has no variable `bias`"):
        Run(writer.path).series("bias")


def test_sources_are_asked_before_each_commit_and_one_that_fails_is_dropped(
    tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    writer = RunWriter.start(tmp_path)
    number = writer.add_track(TRACK)
    asked = []

    def good() -> None:
        writer.append(number, rows(TRACK, [len(asked)]))
        asked.append(1)

    def bad() -> None:
        raise ValueError("broken ring")

    writer.add_source(bad)
    writer.add_source(good)
    writer.flush()
    writer.flush()
    writer.close()

    assert Run(writer.path).series("layer_0/kernel").steps.tolist() == list(range(len(asked)))
    assert len(asked) >= 2
    told = capfd.readouterr().err
    assert told == "whygrad: warning: recording stopped after an internal error: ValueError: broken ring\n"


def how_safely(writer: RunWriter) -> int:
    """0: what is committed survives a kill; 2: the loss of power, too."""
    assert writer._scribe is not None
    (level,) = writer._scribe._database.execute("PRAGMA synchronous").fetchone()
    return int(level)


def test_a_run_can_be_read_at_once_and_what_is_written_then_survives_the_loss_of_power(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_go_on, synced = threading.Event(), threading.Event()
    sync = os.fsync

    def slow(file: int) -> None:
        may_go_on.wait(20)
        sync(file)
        synced.set()

    monkeypatch.setattr(run_file.os, "fsync", slow)
    writer = RunWriter.start(tmp_path, name="early")
    assert writer.path is not None
    assert Run(writer.path).facts()["name"] == "early"
    assert how_safely(writer) == 0
    may_go_on.set()
    assert writer.flush()
    assert synced.is_set()
    assert how_safely(writer) == 2
    writer.close()

    assert [each.name for each in tmp_path.iterdir()] == [writer.path.name]
    again = RunWriter.resume(writer.path)
    assert again.flush()
    assert how_safely(again) == 2
    again.close()


def test_a_disk_that_refuses_at_first_is_asked_again_until_what_is_written_is_safe(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str]
) -> None:
    sync, asked = os.fsync, list[int]()

    def refuse_once(file: int) -> None:
        asked.append(file)
        if len(asked) == 1:
            raise OSError("not now")
        sync(file)

    monkeypatch.setattr(run_file.os, "fsync", refuse_once)
    writer = RunWriter.start(tmp_path)
    writer.set_fact("kept", 1)
    assert writer.flush()
    assert how_safely(writer) == 2
    writer.close()

    assert len(asked) == 2
    assert writer.path is not None
    assert Run(writer.path).facts()["kept"] == 1
    assert "not now" in capfd.readouterr().err
