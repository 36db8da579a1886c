"""Kept steps as files: one folder for each, under the run's; the oldest go where they would take too much room."""

from __future__ import annotations

import json
import os
import shutil
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final

from whygrad.bounded import parse_json, read_file
from whygrad.errors import UsageError
from whygrad.run_folder import run_folder

VERSION: Final = 1
MAX_STEP_BYTES: Final = 256 * 2**20
MAX_ALL_BYTES: Final = 2**30
MAX_SOURCE: Final = 2**20  # characters of one file
LATEST: Final = "latest"


@dataclass(frozen=True, slots=True)
class KeptStep:
    """One step as it lies on disk: `facts` is JSON, `values` the bytes of tensors, `sources` the user's own files."""

    facts: Mapping[str, Any]
    values: Mapping[int, bytes]
    sources: Mapping[str, str]


def steps_folder(folder: str | os.PathLike[str] | None = None) -> Path:
    """Where steps are kept: below the folder of runs."""
    return run_folder(folder) / "steps"


def save(step: KeptStep, run: Path, number: int) -> Path:
    """Write a step, complete or not at all."""
    final, draft = run / f"step-{number}", run / f".step-{number}.part"
    shutil.rmtree(draft, ignore_errors=True)
    draft.mkdir(parents=True)
    (draft / "step.json").write_text(json.dumps({"version": VERSION, **step.facts}), encoding="utf-8")
    (draft / "sources.json").write_text(json.dumps(dict(step.sources)), encoding="utf-8")
    index, offset = {}, 0
    with (draft / "values.bin").open("wb") as file:
        for place, content in step.values.items():
            index[place] = [offset, len(content)]
            offset += file.write(content)
    (draft / "values.json").write_text(json.dumps(index), encoding="utf-8")
    shutil.rmtree(final, ignore_errors=True)
    draft.rename(final)
    _make_room(run.parent, keep=final)
    return final


def load(path: Path) -> KeptStep:
    """What was kept in a folder, which may be somebody else's: nothing of it is believed beyond its form."""
    try:
        facts, sources, index = (_table(path / name) for name in ("step.json", "sources.json", "values.json"))
        content = read_file(path / "values.bin", 2 * MAX_STEP_BYTES)
        if facts.get("version") != VERSION:
            raise UsageError(
                f"`{path}` was kept by another version of whygrad", help="install the version that kept it"
            )
        if not all(type(text) is str and len(text) <= MAX_SOURCE for text in sources.values()):
            raise ValueError("`sources.json` holds more than sources")
        return KeptStep(facts, _values(index, content), sources)
    except (OSError, ValueError) as error:
        raise UsageError(f"`{path}` is not a kept step: {error}") from None


def _table(path: Path) -> dict[str, Any]:
    table = parse_json(read_file(path, MAX_STEP_BYTES))
    if not isinstance(table, dict):
        raise ValueError(f"`{path.name}` is not a table")
    return table


def _values(index: Mapping[str, Any], content: bytes) -> dict[int, bytes]:
    """The stretches lie one after the other, as they were written: none can be counted twice."""
    values, end = {}, 0
    for place, stretch in index.items():
        if not isinstance(stretch, list) or len(stretch) != 2 or not all(type(part) is int for part in stretch):
            raise ValueError(f"value {place} has no part of `values.bin`")
        start, length = stretch
        if start != end or not 0 <= length <= len(content) - start:
            raise ValueError(f"value {place} does not lie inside `values.bin`")
        end = start + length
        values[int(place)] = content[start:end]
    return values


def find(run: str, number: int | None, folder: str | os.PathLike[str] | None = None) -> Path:
    """The folder of a step: `run` is a name, the beginning of one, `latest`, or a path; the first step by default."""
    home = Path(run) if os.path.isdir(run) else _find_run(run, steps_folder(folder))
    if (home / "step.json").is_file():
        return home
    named = ((path.name.removeprefix("step-"), path) for path in home.glob("step-*"))
    known = {int(name): path for name, path in named if name.isascii() and name.isdigit()}
    if not known:
        raise UsageError(f"run `{run}` has no kept step")
    if number is None:
        return known[min(known)]
    if number not in known:
        listed = ", ".join(map(str, sorted(known)))
        raise UsageError(f"step {number} of run `{run}` was not kept", help=f"kept: {listed}")
    return known[number]


def _find_run(name: str, folder: Path) -> Path:
    runs = sorted((path for path in folder.glob("*") if path.is_dir()), key=lambda path: path.stat().st_mtime)
    found = runs[-1:] if name == LATEST else [path for path in runs if path.name.startswith(name)]
    exact = [path for path in found if path.name == name]
    if len(exact or found) == 1:
        return (exact or found)[0]
    if not found:
        raise UsageError(f"no kept step of a run `{name}` in `{folder}`", help="`whygrad run` keeps steps that go bad")
    raise UsageError(f"`{name}` fits {len(found)} runs", help=", ".join(path.name for path in found[:5]))


def _make_room(folder: Path, keep: Path) -> None:
    """Drop the oldest steps of all runs until the rest fits."""
    steps = sorted(folder.glob("*/step-*"), key=lambda path: path.stat().st_mtime)
    sizes = {path: sum(file.stat().st_size for file in path.iterdir()) for path in steps}
    total = sum(sizes.values())
    for path in steps:
        if total <= MAX_ALL_BYTES:
            return
        if path != keep:
            shutil.rmtree(path, ignore_errors=True)
            total -= sizes[path]
