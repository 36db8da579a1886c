"""What many pages ask for at once is found once, and is never old when somebody has changed something."""

from __future__ import annotations

import json
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from store.samples import rows, track
from whygrad.store import Run, RunWriter, annotate
from whygrad.web import answers
from whygrad.web.answers import Answers
from whygrad.web.library import Library


@pytest.fixture
def run(tmp_path: Path) -> Run:
    writer = RunWriter.start(tmp_path, name="first")
    writer.append(writer.add_track(track()), rows(track(), range(10)))
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


@pytest.fixture
def asked(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The addresses for which an answer was found, not given again."""
    found: list[str] = []
    real = answers.answer

    def answer(library: Library, path: str, query: Any) -> Any:
        found.append(path)
        return real(library, path, query)

    monkeypatch.setattr(answers, "answer", answer)
    return found


def test_many_who_ask_at_once_get_one_answer(run: Run, asked: list[str]) -> None:
    given = Answers(Library([run.path.parent]))
    barrier = threading.Barrier(20)

    def ask(_: int) -> Any:
        barrier.wait()
        return given.get(f"runs/{run.id}/heat", {"track": "adam"})

    with ThreadPoolExecutor(20) as pool:
        found = list(pool.map(ask, range(20)))

    assert len(asked) == 1
    assert len({one.plain for one in found}) == 1
    assert found[0].status == 200


def test_a_file_that_does_not_change_is_read_once(run: Run, asked: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_FRESH_SECONDS", 0.0)
    given = Answers(Library([run.path.parent]))

    for _ in range(3):
        given.get(f"runs/{run.id}/heat", {"track": "adam"})
        given.get(f"runs/{run.id}", {})  # whether its process lives is not in the file

    assert sorted(asked) == sorted([f"runs/{run.id}/heat", *[f"runs/{run.id}"] * 3])


def test_a_change_is_seen_when_it_is_old_enough_or_was_made_here(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    given = Answers(Library([run.path.parent]))
    name = lambda: json.loads(given.get(f"runs/{run.id}", {}).plain)["name"]  # noqa: E731
    assert name() == "first"

    annotate(run, {"name": "second"})
    assert name() == "first"  # for a second at most
    given.forget()
    assert name() == "second"
    annotate(run, {"name": "third"})
    monkeypatch.setattr(answers, "_FRESH_SECONDS", 0.0)
    assert name() == "third"


def test_what_is_kept_is_bounded(run: Run, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(answers, "_MOST_KEPT", 10)
    given = Answers(Library([run.path.parent]))

    for i in range(50):
        assert given.get(f"runs/none-{i}", {}).status == 404

    assert len(given._kept) <= 11
