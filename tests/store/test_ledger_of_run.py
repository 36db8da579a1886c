from __future__ import annotations

from pathlib import Path

import pytest
from click.testing import CliRunner

from whygrad.cli.recorded.show import command
from whygrad.errors import UsageError
from whygrad.graph.codec import load
from whygrad.graph.ledger import Ledger, Stretch, Write, WriterKind
from whygrad.graph.node import VariableId
from whygrad.source import SourceSpan
from whygrad.store import Run, RunWriter

LEDGER = Ledger(
    variables={VariableId(3): "decoder/kernel", VariableId(4): "decoder/bias"},
    writes=(
        Write(
            variable=VariableId(3),
            kind=WriterKind.OPTIMIZER,
            writer="adam",
            method="assign_sub",
            where=SourceSpan("train.py", 7, 4, 7, 30),
            count=200,
            steps=(Stretch(1, 200),),
            compiled=True,
        ),
        Write(
            variable=VariableId(4), kind=WriterKind.USER, writer="", method="assign", count=1, steps=(Stretch(0, 0),)
        ),
    ),
    steps=200,
)


@pytest.fixture
def run(tmp_path: Path) -> Run:
    writer = RunWriter.start(tmp_path)
    writer.set_ledger(Ledger())
    writer.set_ledger(LEDGER)
    writer.close()
    assert writer.path is not None
    return Run(writer.path)


def test_the_last_ledger_is_read_back(run: Run) -> None:
    assert run.ledger() == LEDGER


def test_a_run_without_one_has_none(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.close()
    assert writer.path is not None
    assert Run(writer.path).ledger() is None


def test_show_prints_the_writers_of_a_variable(run: Run) -> None:
    done = CliRunner().invoke(command, [str(run.path), "--variables", "--match", "kernel"])

    assert done.output.splitlines() == [
        "variable        writer          how         writes  at steps  where",
        "decoder/kernel  optimizer adam  assign_sub     200  1-200     train.py:7",
    ]


def test_show_gives_the_ledger_as_json(run: Run) -> None:
    done = CliRunner().invoke(command, [str(run.path), "--variables", "--output-format", "json"])

    assert load(done.output, Ledger) == LEDGER


def test_show_says_where_there_is_none(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.close()
    done = CliRunner().invoke(command, [str(writer.path), "--variables"])

    assert isinstance(done.exception, UsageError)
    assert "has no ledger" in str(done.exception)
