"""Kept steps on disk: found by name, the oldest dropped."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import pytest

from whygrad.backends import kept_steps
from whygrad.backends.kept_steps import KeptStep
from whygrad.errors import UsageError

STEP = KeptStep({"nodes": []}, {0: b"abc", 7: b"", 3: b"de"}, {"train.py": "x = 1"})


def save(folder: Path, run: str, number: int, age: int = 0) -> Path:
    path = kept_steps.save(STEP, kept_steps.steps_folder(folder) / run, number)
    for each in (path, path.parent):
        os.utime(each, (1e9 - age, 1e9 - age))
    return path


def test_a_step_comes_back_as_it_was(tmp_path: Path) -> None:
    loaded = kept_steps.load(save(tmp_path, "one", 4))

    assert loaded.values == STEP.values
    assert loaded.sources == STEP.sources
    assert loaded.facts["nodes"] == []


def test_steps_are_found_by_the_run_and_their_number(tmp_path: Path) -> None:
    old, new = save(tmp_path, "aa-1", 4, age=10), save(tmp_path, "ab-2", 9)
    other = save(tmp_path, "ab-2", 12)

    assert kept_steps.find("latest", None, tmp_path) == new
    assert kept_steps.find("aa", None, tmp_path) == old
    assert kept_steps.find("ab-2", 12, tmp_path) == other
    assert kept_steps.find(str(old), None, tmp_path) == old
    with pytest.raises(UsageError, match="fits 2 runs"):
        kept_steps.find("a", None, tmp_path)
    with pytest.raises(UsageError, match="step 5 of run `aa-1` was not kept"):
        kept_steps.find("aa-1", 5, tmp_path)
    with pytest.raises(UsageError, match="no kept step of a run `zz`"):
        kept_steps.find("zz", None, tmp_path)


def test_the_oldest_are_dropped(tmp_path: Path, monkeypatch: Any) -> None:
    first = save(tmp_path, "one", 1, age=30)
    second = save(tmp_path, "two", 1, age=20)
    size = sum(file.stat().st_size for file in first.iterdir())
    monkeypatch.setattr(kept_steps, "MAX_ALL_BYTES", 2 * size)

    third = save(tmp_path, "three", 1)

    assert [path.exists() for path in (first, second, third)] == [False, True, True]


def test_what_is_no_step_is_refused(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="is not a kept step"):
        kept_steps.load(tmp_path)
