"""The benchmarks run, and nothing is slower than anybody would bear: figures are for `make benchmarks` to take."""

from __future__ import annotations

import sys
from pathlib import Path
from types import ModuleType

import pytest

BENCHMARKS = Path(__file__).parents[2] / "benchmarks"
GENEROUS = 3.0  # times a bare step: other processes may take the machine while one of the two is timed
ROUNDS = 6

pytestmark = [pytest.mark.tensorflow, pytest.mark.slow]


@pytest.fixture
def side_by_side(monkeypatch: pytest.MonkeyPatch, tf: ModuleType) -> ModuleType:
    monkeypatch.syspath_prepend(str(BENCHMARKS))
    for name in ("side_by_side", "contestants", "networks", "record"):  # `networks` is a name among the tests too
        monkeypatch.delitem(sys.modules, name, raising=False)
    import side_by_side

    return side_by_side


@pytest.mark.parametrize("kind", ["fit", "compiled", "eager"])
def test_every_tool_of_ours_takes_steps_beside_bare_ones(kind: str, side_by_side: ModuleType) -> None:
    rows = side_by_side.measure(kind, "policy", False, ROUNDS, ours=True)
    ours = [row for row in rows if row.budget != "–"]

    assert {row.what for row in ours} >= {"`whygrad run`"}
    assert all(row.equal is not False for row in rows)
    assert all(float(row.figure.split()[0]) < GENEROUS for row in ours), [(row.what, row.figure) for row in ours]
