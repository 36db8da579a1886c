from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
from whygrad.graph.node import VariableId
from whygrad.report.ledger import printed
from whygrad.source import SourceSpan

KERNEL, BIAS = VariableId(1), VariableId(2)


def write(
    variable: VariableId, kind: WriterKind, writer: str, *steps: Stretch, where: SourceSpan | None = None
) -> Write:
    count = sum((s.last - s.first) // s.every + 1 if s.every else 1 for s in steps)
    return Write(variable=variable, kind=kind, writer=writer, method="assign", where=where, count=count, steps=steps)


@pytest.fixture
def ledger() -> Ledger:
    return Ledger(
        variables={KERNEL: "model/decoder/kernel", BIAS: "model/decoder/bias"},
        writes=(
            write(KERNEL, WriterKind.OPTIMIZER, "adam", Stretch(1, 200)),
            write(BIAS, WriterKind.OPTIMIZER, "adam", Stretch(1, 200)),
            write(KERNEL, WriterKind.EDIT, "ClipWeights", Stretch(10, 200, 10)),
            write(KERNEL, WriterKind.USER, "set_weights", Stretch(0, 0), Stretch(17, 17), Stretch(91, 91)),
        ),
        steps=200,
    )


def test_the_table(ledger: Ledger, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "train.py").write_text("x = 1\nmodel.decoder.bias.assign(zeros)\n")
    place = SourceSpan(str(tmp_path / "train.py"), 2, 0, 2, 32)
    extra = write(BIAS, WriterKind.USER, "", Stretch(5, 9, 0), where=place)
    table = str(printed(Ledger(ledger.variables, (*ledger.writes, extra), ledger.steps)))

    assert table == (
        "variable              writer            how     writes  at steps         where\n"
        "model/decoder/kernel  optimizer adam    assign     200  1-200\n"
        "                      edit ClipWeights  assign      20  10-200 every 10\n"
        "                      user set_weights  assign       3  before, 17, 91\n"
        "model/decoder/bias    optimizer adam    assign     200  1-200\n"
        "                      user              assign       1  some of 5-9      "
        "train.py:2  model.decoder.bias.assign(zeros)"
    )


def test_an_empty_ledger_says_so() -> None:
    assert str(printed(Ledger())) == "no writes to variables were seen"


def test_a_part_of_a_ledger_prints_as_a_table_too(ledger: Ledger) -> None:
    assert str(printed(ledger).of("bias")).startswith("variable            writer          how")
