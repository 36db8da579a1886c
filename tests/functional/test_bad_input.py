"""Bad input gets one clear sentence and exit status 2, before the script starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from functional.command import run, whygrad


@pytest.fixture
def project(tmp_path: Path) -> Path:
    (tmp_path / "script.py").write_text("print('the script has started')")
    (tmp_path / "folder").mkdir()
    (tmp_path / "broken.py").write_text("print('started')\nx = = 1\n")
    (tmp_path / "bytes.py").write_bytes(b"print('\xff')\n")
    return tmp_path


SENTENCES = {
    ("run", "nowhere.py"): "script `nowhere.py` not found",
    ("run", "folder"): "`folder` is a directory, not a script\nhelp: name a file in it, or use -m",
    ("run", "-m", "nowhere"): "No module named nowhere",
    ("run", "-m", "folder"): "No module named folder.__main__; 'folder' is a package and cannot be directly executed",
    ("run",): "missing argument 'SCRIPT'",
    ("run", "--sparkle", "script.py"): "no such option '--sparkle'",
    ("run", "--fail-on", "note", "script.py"): (
        "invalid value for '--fail-on': 'note' is not one of 'error', 'warning', 'never'"
    ),
    ("run", "--select", "no-such-rule", "script.py"): (
        "unknown rule `no-such-rule`\nhelp: `whygrad rules` lists the codes and names"
    ),
    ("run", "--ignore", "WG1,XY999", "script.py"): (
        "unknown rule `XY999`\nhelp: `whygrad rules` lists the codes and names"
    ),
    ("run", "--output-file", "nowhere/report.txt", "script.py"): (
        "cannot write the report to `nowhere/report.txt`: No such file or directory"
    ),
    ("run", "--output-file", "script.py/report.txt", "script.py"): (
        "cannot write the report to `script.py/report.txt`: Not a directory"
    ),
    ("run", "--output-file", "folder", "script.py"): "cannot write the report to `folder`: Is a directory",
    ("explain", "no-such-rule"): "unknown rule `no-such-rule`\nhelp: `whygrad rules` lists the codes and names",
    ("explain", "stop-gradiant"): (
        "unknown rule `stop-gradiant`\nhelp: did you mean `stop-gradient`? `whygrad rules` lists the codes and names"
    ),
    ("explain",): "missing argument 'CODE|NAME|FAMILY'",
    ("exlpain", "WG101"): "no such command 'exlpain'",
}


@pytest.mark.parametrize("words", SENTENCES, ids=" ".join)
def test_one_sentence_and_status_2(words: tuple[str, ...], project: Path) -> None:
    done = whygrad(project, *words)

    assert (done.status, done.out) == (2, "")
    assert done.err == f"whygrad: error: {SENTENCES[words]}\n"


def test_syntax_error_is_shown_as_python_shows_it(project: Path) -> None:
    done = whygrad(project, "run", "broken.py")

    assert (done.status, done.out) == (2, "")
    assert done.err == run([sys.executable, "broken.py"], project).err


def test_bytes_that_are_no_text_are_a_syntax_error(project: Path) -> None:
    done = whygrad(project, "run", "bytes.py")

    assert (done.status, done.out) == (2, "")
    assert done.err.splitlines()[-1].startswith("SyntaxError: (unicode error) 'utf-8' codec can't decode byte 0xff")


def test_syntax_error_in_a_module_is_bad_input_too(project: Path) -> None:
    done = whygrad(project, "run", "-m", "broken")

    assert (done.status, done.out) == (2, "")
    assert done.err == run([sys.executable, "broken.py"], project).err


def test_missing_tensorflow_is_told_before_the_script_runs(project: Path) -> None:
    (project / "without.py").write_text(
        "import sys\n"
        "import importlib.machinery\n"
        "find = importlib.machinery.PathFinder.find_spec\n"
        "importlib.machinery.PathFinder.find_spec = classmethod(\n"
        "    lambda cls, name, *rest: None if name == 'tensorflow' else find(name, *rest))\n"
        "sys.argv = ['whygrad', 'run', 'script.py']\n"
        "from whygrad.cli import main\n"
        "sys.exit(main())\n"
    )

    done = run([sys.executable, "without.py"], project)

    assert (done.status, done.out) == (2, "")
    said, advice = done.err.splitlines()
    assert said == "whygrad: error: TensorFlow is not installed"
    assert advice.startswith("help: pip install tensorflow ")


def test_no_command_shows_the_commands(project: Path) -> None:
    done = whygrad(project)

    assert done.status == 2
    assert "run         Run a script, and explain its gradients." in done.err


def test_old_report_is_emptied_before_the_script_runs(project: Path) -> None:
    (project / "report.txt").write_text("of yesterday")
    (project / "script.py").write_text("import os; os._exit(3)")

    assert whygrad(project, "run", "--output-file", "report.txt", "script.py").status == 3
    assert (project / "report.txt").read_text() == ""
