"""`whygrad runs`, `show`, `compare` and `export`, on runs that were written without TensorFlow."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import numpy as np
import pytest
from click.testing import CliRunner

from whygrad.cli.recorded import compare, export, runs, show
from whygrad.cli.recorded.tables import duration, sparkline
from whygrad.diagnostics import Diagnostic, Severity
from whygrad.errors import UsageError
from whygrad.graph.series import CHANNELS, VariableInfo
from whygrad.store import Rows, RunWriter, Track, find_run, run_file

NAMES = ("net/dense/kernel", "net/dense/bias", "net/head/kernel")
INFOS = (*(VariableInfo(name=name, shape=(4, 2), layer="net") for name in NAMES[:2]),)
TRACK = Track(
    name="adam",
    variables=(*INFOS, VariableInfo(name=NAMES[2], shape=(2,), missing=True)),
    scalars=("loss", "learning_rate", "time", "duration"),
)


def numbers(steps: int, parted_at: int | None = None, broken_at: int | None = None) -> Rows:
    values = np.full((steps, 3, len(CHANNELS)), np.nan, "float32")
    norm = np.linspace(2.0, 1.0, steps)
    for v in range(2):
        values[:, v] = np.stack([norm, norm, -norm, norm, norm * 0, norm * 0, norm * 4, norm * 0.004, norm * 0.5], 1)
    if parted_at is not None:
        values[parted_at:, 1, CHANNELS.index("norm")] *= 1.5
    if broken_at is not None:
        values[broken_at:, 0, CHANNELS.index("norm")] = np.nan
        values[broken_at:, 0, CHANNELS.index("nonfinite")] = 3
    scalars = np.stack([norm, np.full(steps, 1e-3), 1e9 + np.arange(steps), np.full(steps, 0.01)], 1)
    return Rows(np.arange(steps), scalars, values)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """`calm-fox-11`, and `wise-yak-33`, which parts from it at the step of index 7 and is broken from index 9 on."""
    names = iter(["calm-fox-11", "wise-yak-33"])
    monkeypatch.setattr(run_file, "new_id", lambda: next(names))
    monkeypatch.setenv("COLUMNS", "200")
    for started, parted, broken in ((100.0, None, None), (200.0, 7, 9)):
        facts = {"started": started, "ended": started + 90}
        writer = RunWriter.start(tmp_path, name="night" if parted else "", facts=facts)
        writer.append(writer.add_track(TRACK), numbers(12, parted, broken))
        if parted:
            writer.add_diagnostic(
                Diagnostic(code="WG399", rule="dead-units", severity=Severity.WARNING, message="`net` is dead")
            )
        writer.close()
    return tmp_path


def output(module: Any, *words: object) -> str:
    result = CliRunner().invoke(module.command, [*map(str, words)], catch_exceptions=False)
    assert result.exit_code == 0, result.output
    return result.output


def test_runs_lists_them_newest_first(folder: Path) -> None:
    lines = output(runs, "--dir", folder).splitlines()

    assert [line.split()[:2] for line in lines] == [
        ["run", "status"],
        ["wise-yak-33", "finished"],
        ["calm-fox-11", "finished"],
    ]
    assert lines[1].endswith("12  night")
    assert lines[0].index("name") == lines[1].index("night")


def test_runs_shows_a_damaged_file_with_its_problem(folder: Path) -> None:
    (folder / "bad-ox-10.sqlite").write_bytes(b"no database" * 50)

    text = output(runs, "--dir", folder)

    assert "bad-ox-10    unreadable" in text
    assert "is damaged: file is not a database" in text
    assert "calm-fox-11  finished" in text


def test_runs_of_an_empty_folder_is_a_sentence(tmp_path: Path) -> None:
    assert output(runs, "--dir", tmp_path) == f"there are no runs in `{tmp_path}`\n"


def test_runs_as_json(folder: Path) -> None:
    listed = json.loads(output(runs, "--dir", folder, "--output-format", "json"))

    assert [(run["id"], run["last_step"], run["status"]) for run in listed] == [
        ("wise-yak-33", 11, "finished"),
        ("calm-fox-11", 11, "finished"),
    ]


def test_show_has_heading_table_and_findings(folder: Path) -> None:
    text = output(show, "wise", "--dir", folder)

    lines = text.splitlines()
    assert lines[0] == "wise-yak-33  finished  night"
    assert "adam: 12 steps, loss 2 → 1, learning rate 0.001, seconds per step 0.01" in lines
    table = {line.split()[0]: line for line in lines if line.startswith("net/")}
    assert table.keys() == set(NAMES)
    assert "NaN or Inf at 3 steps" in table[NAMES[0]]
    assert "missing" in table[NAMES[2]]
    assert table[NAMES[1]].split()[-2:] == ["0.001", "×0.5"]  # update / weight, after clipping
    assert table[NAMES[1]].split()[2:5] == ["1.75", "1.5", "1"]  # median norm, last norm, last sum
    assert "warning[WG399]: `net` is dead" in text


def test_show_sorts_and_limits(folder: Path) -> None:
    lines = output(show, "wise", "--dir", folder, "--sort", "largest", "--limit", 1).splitlines()

    assert [line.split()[0] for line in lines if line.startswith("net/")] == [NAMES[1]]


def test_show_as_json(folder: Path) -> None:
    data = json.loads(output(show, "latest", "--dir", folder, "--output-format", "json"))

    assert data["run"]["id"] == "wise-yak-33"
    assert [variable["name"] for variable in data["variables"]] == list(NAMES)
    assert data["variables"][0]["nonfinite_steps"] == 3
    assert data["tracks"][0]["scalars"]["loss"] == [2.0, 1.0]
    assert data["diagnostics"][0]["rule"] == "dead-units"


def test_show_has_the_metrics_of_the_epochs(folder: Path) -> None:
    writer = RunWriter.resume(folder / "calm-fox-11.sqlite")
    for epoch, loss in enumerate((0.7, 0.6, 0.5)):
        writer.add_event("epoch", {"epoch": epoch, "loss": loss, "val_loss": 0.9}, 4 * epoch + 3)
    writer.close()

    assert "epochs: 3, loss 0.7 → 0.5, val_loss 0.9" in output(show, "calm", "--dir", folder).splitlines()
    data = json.loads(output(show, "calm", "--dir", folder, "--output-format", "json"))
    assert data["epochs"][-1] == {"step": 11, "epoch": 2, "loss": 0.5, "val_loss": 0.9}


def test_the_latest_run_is_the_newest_that_can_be_read_and_says_so(
    folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    (folder / "bad-ox-10.sqlite").write_bytes(b"no database" * 50)

    found = find_run("latest", folder)

    assert found.id == "wise-yak-33"
    said = capsys.readouterr().err
    assert said.startswith("whygrad: warning: run file `")
    assert said.endswith("`latest` is the newest run that can be read, `wise-yak-33`\n")


def test_show_tells_how_many_steps_were_left_out(folder: Path) -> None:
    writer = RunWriter.resume(folder / "calm-fox-11.sqlite")
    writer.set_fact("thinned", 17)
    writer.set_fact("failure", "ValueError: boom")
    writer.close("failed")

    text = output(show, "calm", "--dir", folder)

    assert "17 steps were left out because the disk did not keep up" in text
    assert "ended with ValueError: boom" in text


def test_compare_says_what_parts_and_when(folder: Path) -> None:
    text = output(compare, "calm", "wise", "--dir", folder)

    rows = [line.split() for line in text.splitlines() if line.startswith("net/")]
    assert [(row[0], row[1], row[2]) for row in rows] == [(NAMES[1], "8", "norm"), (NAMES[0], "10", "norm")]
    assert "2 diverge by more than 1 %, 3 agree; 12 common steps" in text


def test_compare_of_a_run_with_itself_finds_nothing(folder: Path) -> None:
    assert output(compare, "calm", "calm", "--dir", folder, "--tolerance", 0) == (
        "0 diverge by more than 0 %, 5 agree; 12 common steps\n"
    )


def test_compare_as_json(folder: Path) -> None:
    data = json.loads(output(compare, "calm", "wise", "--dir", folder, "--output-format", "json"))

    assert data["runs"] == ["calm-fox-11", "wise-yak-33"]
    assert data["entries"][0] | {"left": 0, "right": 0} == {
        "name": NAMES[1],
        "step": 7,
        "channel": "norm",
        "left": 0,
        "right": 0,
        "last_ratio": pytest.approx(1 / 1.5),
        "steps": 12,
    }


def test_export_without_a_target_is_refused(folder: Path) -> None:
    with pytest.raises(UsageError, match="no place to export to"):
        output(export, "calm", "--dir", folder)


@pytest.mark.parametrize("option", ["--csv", "--tensorboard", "--html"])
def test_an_export_to_a_place_that_cannot_be_written_is_one_sentence(option: str, folder: Path) -> None:
    file = folder / "a file"
    file.write_text("")
    with pytest.raises(UsageError) as caught:
        output(export, "calm", "--dir", folder, option, file / "below")

    assert str(caught.value) == f"cannot write to `{file / 'below'}`: Not a directory\nhelp: choose another place"


@pytest.mark.parametrize("module", [show, export])
def test_an_id_that_matches_nothing_is_a_sentence(folder: Path, module: Any) -> None:
    extra = ["--csv"] if module is export else []
    with pytest.raises(UsageError, match="no run is called `zebra`"):
        output(module, "zebra", "--dir", folder, *extra)


def test_every_command_explains_itself() -> None:
    for module in (runs, show, compare, export):
        assert isinstance(module.command, click.Command)
        assert module.command.help


def test_sparkline_and_duration() -> None:
    assert sparkline([1, 10, 100, 1000]) == "▁▃▆█"
    assert sparkline([5, 5]) == "▄▄"
    assert sparkline([0, 1]) == " ▄"
    assert sparkline([float("nan")]) == ""
    assert [duration(s) for s in (0.42, 90, 7300)] == ["0.4 s", "1 min 30 s", "2 h 01 min"]


def test_a_run_is_tagged_annotated_and_deleted(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path)
    writer.close()

    output(runs, "--dir", tmp_path, "tag", writer.id, "good", "slow")
    output(runs, "--dir", tmp_path, "note", writer.id, "try again")
    facts = find_run("latest", tmp_path).facts()
    assert (facts["tags"], facts["note"]) == (["good", "slow"], "try again")

    output(runs, "--dir", tmp_path, "rm", writer.id, "--yes")
    assert list(tmp_path.iterdir()) == []


def test_a_run_is_exported_as_one_page(tmp_path: Path) -> None:
    writer = RunWriter.start(tmp_path, name="first")
    writer.close()

    said = output(export, writer.id, "--dir", tmp_path, "--html", tmp_path / "run.html")

    assert "first" in (tmp_path / "run.html").read_text()
    assert said.strip() == str(tmp_path / "run.html")
