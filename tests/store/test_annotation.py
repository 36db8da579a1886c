"""What is added to a run after it was recorded, and the digests that a long one is drawn from."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from store.samples import rows, track
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.run_folder import runs_of_this_process
from whygrad.store import Run, RunUnreadableError, RunWriter, annotate, attach, digest


def recorded(folder: Path, steps: int = 10) -> Run:
    writer = RunWriter.start(folder, name="first")
    writer.append(writer.add_track(track()), rows(track(), range(steps)))
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


def finding(message: str) -> Diagnostic:
    return Diagnostic(code="WG101", rule="stop-gradient", severity=Severity.ERROR, message=message)


def test_facts_are_set_and_taken_away(tmp_path: Path) -> None:
    run = recorded(tmp_path)

    annotate(run, {"name": "second", "tags": ["good"], "note": "<b>"})
    assert {key: run.facts()[key] for key in ("name", "tags", "note")} == {
        "name": "second",
        "tags": ["good"],
        "note": "<b>",
    }
    annotate(run, {"note": None})

    assert "note" not in run.facts()
    assert list(tmp_path.iterdir()) == [run.path]  # no journal is left
    assert run.path in runs_of_this_process()


def test_documents_are_read_back_and_giants_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    run = recorded(tmp_path)
    monkeypatch.setattr("whygrad.store.annotation.MOST_CHARACTERS", 10)

    attach(run, {"report": "{}", "recording": "x" * 11})

    assert run.documents() == {"report"}
    assert run.document("report") == "{}"
    assert run.document("recording") is None


def test_findings_replace_those_of_the_same_rule(tmp_path: Path) -> None:
    run = recorded(tmp_path)

    attach(run, {}, [finding("one")])
    attach(run, {}, [finding("two")])

    assert [each.message for each in run.diagnostics()] == ["two"]


def test_what_is_no_run_is_refused_untouched(tmp_path: Path) -> None:
    other = tmp_path / "other.sqlite"
    other.write_bytes(b"not a database, but long enough to look like something" * 20)

    with pytest.raises(RunUnreadableError):
        annotate(Run(other), {"name": "x"})
    assert other.read_bytes().startswith(b"not a database")


def test_each_block_has_its_lowest_and_highest_norms(tmp_path: Path) -> None:
    run = recorded(tmp_path, 100)

    ((first, last, layout, numbers),) = run.digests("adam")
    norms = run.series("layer_1/kernel").channels["norm"]

    assert (first, last, len(layout.variables)) == (0, 99, 3)
    assert numbers[1].tolist() == [np.float32(norms.min()), np.float32(norms.max()), 0]


def test_digest_of_what_is_never_finite_is_nan() -> None:
    values = np.full((4, 2, 9), np.nan, "float32")
    values[:, 1] = 1

    assert np.isnan(digest.decode(digest.encode(values), 2)[0, :2]).all()
    assert digest.decode(digest.encode(values), 2)[:, 2].tolist() == [0, 4]
