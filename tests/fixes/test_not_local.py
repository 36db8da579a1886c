"""The list of bugs that no local edit mends names programs that are there, and says why."""

from __future__ import annotations

from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
KINDS = ("redesign", "decision", "data")


def test_every_line_names_a_bug_and_its_reason() -> None:
    lines = (ROOT / "benchmarks" / "not_local.txt").read_text(encoding="utf-8").splitlines()
    entries = [line.split(" ", 2) for line in lines if line and not line.startswith("#")]

    assert len({name for name, *_ in entries}) == len(entries)
    for name, kind, reason in entries:
        assert kind.removesuffix(":") in KINDS
        assert reason
        if not name.startswith("cases/"):
            text = (ROOT / "tests" / "gallery" / f"{name}.py").read_text(encoding="utf-8")
            assert "# verdict: bug" in text
