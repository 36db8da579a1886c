"""`whygrad lint` at the command line."""

from __future__ import annotations

import io
import json
import subprocess
import sys
from pathlib import Path
from types import SimpleNamespace

import pytest

from whygrad.cli.commands import parse
from whygrad.lint.files.watching import on_change

INTEGER = """import tensorflow as tf
n = tf.Variable(3)
with tf.GradientTape() as tape:
    loss = tf.cast(n, tf.float32)
tape.gradient(loss, n)
"""
STOPPED = """import tensorflow as tf
a, b = tf.Variable(1.0), tf.Variable(2.0)
with tf.GradientTape() as tape:
    loss = tf.stop_gradient(a) * b
tape.gradient(loss, [a, b])
"""


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "tests").mkdir()
    (tmp_path / "train.py").write_text(INTEGER)
    (tmp_path / "tests" / "test_train.py").write_text(STOPPED)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def lint(*words: str) -> int:
    status = parse(["lint", "--no-cache", *words])
    assert isinstance(status, int)
    return status


def rules(capsys: pytest.CaptureFixture[str], *words: str) -> list[str]:
    lint("--output-format", "json", *words)
    return [each["rule"] for each in json.loads(capsys.readouterr().out)["diagnostics"]]


def test_findings_are_shown_as_a_run_shows_them(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("train.py") == 1

    assert capsys.readouterr().out == (
        "error[WL110]: no gradient can be taken of `n`: it holds integers\n"
        " --> train.py:2:5\n"
        "  |\n"
        "2 | n = tf.Variable(3)\n"
        "  |     ^^^^^^^^^^^^^^ an integer, by the value that it begins with\n"
        "3 | with tf.GradientTape() as tape:\n"
        "4 |     loss = tf.cast(n, tf.float32)\n"
        "5 | tape.gradient(loss, n)\n"
        "  | ---------------------- the gradient is asked for here\n"
        "  |\n"
        "  = help: write the value as a float, or pass `dtype=tf.float32`\n"
        "  = more: whygrad explain WL110\n"
        "\n"
        "whygrad: 1 error\n"
        "can be fixed: 1 with --fix --unsafe-fixes\n"
    )


def test_a_clean_project_ends_with_zero(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text("import tensorflow\n")

    assert lint("train.py") == 0
    assert capsys.readouterr().out == "whygrad: no problem found in 1 file\n"


def test_the_working_folder_is_checked_by_default(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert rules(capsys) == ["stop-gradient", "int-variable"]


@pytest.mark.parametrize(
    ("words", "found"),
    [
        (["--select", "int-variable"], ["int-variable"]),
        (["--select", "WL103"], ["stop-gradient"]),
        (["--select", "WG103"], ["stop-gradient"]),
        (["--select", "WL103", "--extend-select", "WL110"], ["stop-gradient", "int-variable"]),
        (["--extend-select", "WL110"], ["stop-gradient", "int-variable"]),
        (["--ignore", "WL1"], []),
        (["--ignore", "stop-gradient,nan-log"], ["int-variable"]),
        (["--exclude", "tests"], ["int-variable"]),
    ],
)
def test_rules_and_files_are_chosen(
    project: Path, capsys: pytest.CaptureFixture[str], words: list[str], found: list[str]
) -> None:
    assert rules(capsys, *words) == found


def test_an_unknown_rule_is_wrong_usage(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert lint("--select", "int-varible") == 2
    assert "did you mean `int-variable`?" in capsys.readouterr().err


def test_the_project_settings_are_read(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "pyproject.toml").write_text('[tool.whygrad.per-file-ignores]\n"tests/*" = ["stop-gradient"]\n')
    assert rules(capsys) == ["int-variable"]

    (project / "pyproject.toml").write_text('[tool.whygrad]\nexclude = ["tests"]\nignore = ["WL110"]\n')
    assert rules(capsys) == []
    assert rules(capsys, "--no-config") == ["stop-gradient", "int-variable"]


def test_standard_input_is_checked_under_a_name(
    project: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(buffer=io.BytesIO(STOPPED.encode())))

    assert lint("--stdin-filename", "other.py") == 1
    assert "other.py:4:12" in capsys.readouterr().out


def test_statistics_count_each_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint("--statistics")

    assert capsys.readouterr().out == (
        "     1  WL103  stop-gradient (error)\n     1  WL110  int-variable (error)\nwhygrad: 2 errors\n"
    )


def test_exit_zero_ends_with_zero(project: Path) -> None:
    assert lint("--exit-zero") == 0


def test_sarif_links_to_the_page_of_each_rule(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lint("--output-format", "sarif")

    (run,) = json.loads(capsys.readouterr().out)["runs"]
    described = {rule["id"]: rule for rule in run["tool"]["driver"]["rules"]}
    assert [result["ruleId"] for result in run["results"]] == ["WL103", "WL110"]
    assert described["WL110"]["helpUri"] == "urn:whygrad:rule:int-variable"


def test_github_annotations_are_written_to_a_file(project: Path) -> None:
    lint("--output-format", "github", "--output-file", "out.txt", "train.py")

    assert (project / "out.txt").read_text().startswith("::error file=train.py,line=2,endLine=2,col=5")


def test_quiet_says_nothing_of_clean_files(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "train.py").write_text("")

    assert lint("--quiet", "train.py") == 0
    assert capsys.readouterr().out == ""


def test_watching_checks_again_after_a_change(project: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    seen: list[str] = []

    def pause(_: float) -> None:
        if len(seen) == 1:
            (project / "train.py").write_text("import tensorflow as tf\n")

    monkeypatch.setattr("whygrad.lint.files.watching.time.sleep", pause)
    on_change(["train.py"], (), lambda: seen.append("checked"), turns=4)

    assert seen == ["checked", "checked"]


def test_the_page_of_a_static_rule_is_that_of_its_twin(capsys: pytest.CaptureFixture[str]) -> None:
    parse(["explain", "WL110"])

    assert capsys.readouterr().out.startswith("# WL110 int-variable\n\nDetects gradients asked of variables")


def test_a_whole_command_imports_no_framework(project: Path) -> None:
    program = (
        "import sys; from whygrad.cli.commands import parse; parse(['lint', '--no-cache', '-q', '--exit-zero']); "
        "sys.exit(bool({'tensorflow', 'keras', 'numpy', 'whygrad.graph', 'whygrad.rules'} & set(sys.modules)))"
    )

    done = subprocess.run([sys.executable, "-c", program], check=False, capture_output=True, text=True)

    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("option", ["--fix", "--diff", "--watch"])
def test_what_needs_files_refuses_standard_input(
    project: Path, capsys: pytest.CaptureFixture[str], option: str
) -> None:
    assert lint("--stdin-filename", "train.py", option) == 2

    assert f"`{option}` works on files" in capsys.readouterr().err
    assert (project / "train.py").read_text() == INTEGER


def test_a_folder_without_files_is_not_called_clean(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / "empty").mkdir()

    assert lint("empty") == 0
    assert capsys.readouterr().out == "whygrad: no Python file and no notebook to check\n"


def test_fixes_reach_the_files_that_are_checked(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (project / ".git").mkdir()
    (project / ".gitignore").write_text("train.py\n")
    (project / "train.py").write_text("import keras\nkeras.optimizers.SGD(lr=1.0)\n")

    assert lint("--diff", ".") == 0
    assert lint("--diff", "--no-gitignore", ".") == 1


def test_a_cell_of_a_notebook_is_named_and_its_lines_are_not_those_of_the_file(
    project: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    cells = [{"cell_type": "code", "source": ["import keras\n", "keras.optimizers.SGD(lr=1.0)"]}]
    (project / "a.ipynb").write_text(json.dumps({"cells": cells}))

    lint("--output-format", "sarif", "a.ipynb")
    (result,) = json.loads(capsys.readouterr().out)["runs"][0]["results"]
    assert result["locations"] == [
        {
            "physicalLocation": {"artifactLocation": {"uri": "a.ipynb", "uriBaseId": "%SRCROOT%"}},
            "message": {"text": "cell 1, line 2: of an older version"},
        }
    ]
    assert "fixes" not in result

    lint("--output-format", "github", "a.ipynb")
    out = capsys.readouterr().out
    assert out.startswith("::error file=a.ipynb,line=1,title=")
    assert "a.ipynb:cell 1:2:25: of an older version" in out
