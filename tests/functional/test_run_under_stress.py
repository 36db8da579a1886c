"""What happens when the surroundings of `whygrad run` give way."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from functional.command import ENVIRONMENT, run, whygrad


@pytest.fixture
def script(tmp_path: Path) -> Path:
    return tmp_path / "script.py"


def test_folder_of_the_report_that_the_script_removes_is_a_warning(script: Path) -> None:
    script.write_text("import shutil, sys; shutil.rmtree('reports'); sys.exit(3)")
    (script.parent / "reports").mkdir()

    done = whygrad(script.parent, "run", "--output-file", "reports/report.txt", "script.py")

    file = script.parent / "reports/report.txt"
    assert done.status == 3
    assert done.err == f"whygrad: warning: cannot write the report to {file}: No such file or directory\n"


def test_reader_that_goes_away_changes_nothing(script: Path) -> None:
    script.write_text("import sys; sys.stdin.read(); sys.exit(3)")
    command = [sys.executable, "-m", "whygrad", "run", "--output-format", "json", "script.py"]

    with subprocess.Popen(
        command,
        cwd=script.parent,
        env=ENVIRONMENT,
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
    ) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        assert process.stderr is not None
        process.stdout.close()
        process.stdin.close()
        errors = process.stderr.read()

    assert (process.returncode, errors) == (3, b"")


@pytest.mark.parametrize("place", ["watch", "failed", "report"])
def test_failure_inside_whygrad_is_one_warning(place: str, script: Path) -> None:
    script.write_text("print('runs'); raise SystemExit(4) if __name__ != '__main__' else ValueError('its own')")
    (script.parent / "sabotage.py").write_text(
        "import contextlib, sys\n"
        "import whygrad.watch\n"
        "def fail(*_): raise RuntimeError('broken on purpose')\n"
        "class Run:\n"
        f"    failed = {'fail' if place == 'failed' else 'lambda *_: None'}\n"
        "    report = fail\n"
        "@contextlib.contextmanager\n"
        "def watch(**_):\n"
        f"    {'fail()' if place == 'watch' else 'pass'}\n"
        "    yield Run()\n"
        "sys.modules['whygrad.watch'].watch = watch\n"
        "sys.argv = ['whygrad', 'run', 'script.py']\n"
        "from whygrad.cli import main\n"
        "sys.exit(main())\n"
    )

    expected = run([sys.executable, "script.py"], script.parent)
    done = run([sys.executable, "sabotage.py"], script.parent)

    assert (done.status, done.out) == (expected.status, expected.out)
    warning = done.err.removeprefix(expected.err)  # nothing is watched before there is a framework, or a crash
    assert warning.startswith("whygrad: warning: an internal error at sabotage.py:3 spoils the report: RuntimeError")
    assert warning.count("\n") == 1
