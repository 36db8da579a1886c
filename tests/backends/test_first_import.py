"""What waits for the first import of a framework."""

from __future__ import annotations

import importlib
import importlib.abc
import sys
from pathlib import Path

import pytest

from whygrad.backends.first_import import FirstImport


@pytest.fixture
def frame_work(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a module that can be imported and is not."""
    (tmp_path / "frame_work.py").write_text("loaded = True\n")
    monkeypatch.syspath_prepend(str(tmp_path))
    monkeypatch.delitem(sys.modules, "frame_work", raising=False)
    return "frame_work"


def test_it_calls_once_and_before_the_module_is_there(frame_work: str) -> None:
    seen: list[bool] = []
    waiting = FirstImport([frame_work], lambda: seen.append(frame_work in sys.modules))
    waiting.start()
    import json  # noqa: F401

    assert seen == []
    assert importlib.import_module(frame_work).loaded
    assert importlib.reload(sys.modules[frame_work]).loaded
    assert seen == [False]
    assert waiting not in sys.meta_path


def test_a_finder_that_is_added_just_then_is_asked_too(frame_work: str) -> None:
    asked: list[str] = []

    class Finder(importlib.abc.MetaPathFinder):
        def find_spec(self, fullname: str, path: object, target: object = None) -> None:
            asked.append(fullname)

    finder = Finder()
    waiting = FirstImport([frame_work], lambda: sys.meta_path.insert(0, finder))
    waiting.start()
    try:
        importlib.import_module(frame_work)
    finally:
        sys.meta_path.remove(finder)

    assert asked == [frame_work]


def test_what_is_there_already_is_not_waited_for() -> None:
    seen: list[int] = []
    FirstImport(["sys", "no_such_framework"], lambda: seen.append(1)).start()

    assert seen == [1]


def test_it_can_be_told_to_wait_no_longer(frame_work: str) -> None:
    seen: list[int] = []
    waiting = FirstImport([frame_work], lambda: seen.append(1))
    waiting.start()
    waiting.stop()
    waiting.stop()
    importlib.import_module(frame_work)

    assert seen == []
