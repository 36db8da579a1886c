"""`whygrad replay` analyses a step in a process of its own; however that one ends, the user reads a sentence."""

from __future__ import annotations

import json
import sys
from pathlib import Path

import pytest

from functional.command import whygrad
from whygrad.cli.replay_apart import replay_apart
from whygrad.errors import UsageError


def be(monkeypatch: pytest.MonkeyPatch, tmp_path: Path, script: str) -> None:
    """Let this be what runs in place of the interpreter."""
    file = tmp_path / "interpreter"
    file.write_text(f"#!/bin/sh\n{script}\n")
    file.chmod(0o700)
    monkeypatch.setattr(sys, "executable", str(file))


@pytest.mark.skipif(sys.platform == "win32", reason="no shell")
def test_a_process_that_is_ended_gives_a_sentence(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    be(monkeypatch, tmp_path, "echo 'Check failed: d < dims()' >&2; kill -ABRT $$")

    with pytest.raises(UsageError, match="the replay of `folder` ended with status -6"):
        replay_apart("folder", "text", color=False, width=80)

    assert capsys.readouterr().err == "Check failed: d < dims()\n"


@pytest.mark.skipif(sys.platform == "win32", reason="no shell")
def test_the_report_comes_through(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    be(monkeypatch, tmp_path, 'printf "1 error: ×"')

    assert replay_apart("folder", "text", color=False, width=80) == "1 error: ×"


@pytest.mark.tensorflow
def test_a_planted_op_is_refused_on_the_command_line(tmp_path: Path) -> None:
    step = tmp_path / "copied" / "step-1"
    step.mkdir(parents=True)
    node = {"type": "WriteFile", "inputs": [0, 1], "outputs": [], "place": None, "layers": [], "incoming": []}
    facts = {
        "version": 1,
        "nodes": [{**node, "rerun": "op", "attrs": ["T", 1]}],
        "when": {"request": None, "step": 1, "loss_is_bad": True, "symptom": "NaN", "variables": [], "compiled": False},
        **{name: {} for name in ("handles", "numbers", "dtypes", "variables")},
        **{name: [] for name in ("ends", "outside")},
    }
    (step / "step.json").write_text(json.dumps(facts))
    (step / "sources.json").write_text("{}")
    (step / "values.json").write_text("{}")
    (step / "values.bin").write_bytes(b"")
    (tmp_path / "tensorflow.py").write_text("open('imported', 'w')")  # nothing is imported from where one stands

    done = whygrad(tmp_path, "replay", "copied")

    assert done.status == 2
    assert "whygrad: error: op 0 of the step, 'WriteFile', is not run: it may have an effect\nhelp: a step" in done.err
    assert not (tmp_path / "imported").exists()
