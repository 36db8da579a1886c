from __future__ import annotations

from pathlib import Path

import pytest

from ledger_of_a_decoder import BIAS, decoder_ledger, write
from whygrad.graph.ledger import Ledger, Stretch, WriterKind
from whygrad.report.ledger import printed
from whygrad.source import SourceSpan


@pytest.fixture
def ledger() -> Ledger:
    return decoder_ledger()


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
