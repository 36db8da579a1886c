"""`whygrad run script` against `python script`: the interpreter itself says what is right."""

from __future__ import annotations

import json
import re
import sys
import zipapp
from pathlib import Path

import pytest

from functional.command import Done, run, whygrad
from functional.programs import PROGRAMS

ARGUMENTS = ["--flag", "-q", "--", "-m", "a b", "--output-format", "é"]
STDIN = "Ada\nand more\nlines"


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A folder with room for the report outside of it, so that a script that lists it sees no difference."""
    folder = tmp_path / "project"
    folder.mkdir()
    (folder / "beside_with_a_mistake.py").write_text("def f(:\n    pass\n")
    return folder


def under_python(project: Path, *words: str, flags: tuple[str, ...] = (), merged: bool = False) -> Done:
    return run([sys.executable, *flags, *words], project, STDIN, merged=merged)


def under_whygrad(project: Path, *words: str, flags: tuple[str, ...] = (), merged: bool = False) -> Done:
    report = project.parent / "report.json"
    options = ["--output-format", "json", "--output-file", str(report)]
    return run([sys.executable, *flags, "-m", "whygrad", "run", *options, *words], project, STDIN, merged=merged)


def without_runpy(done: Done) -> Done:
    """`python -m` shows the frames of what starts the module; we do not."""
    return Done(done.status, done.out, re.sub(r'  File "<frozen runpy>".*\n', "", done.err))


@pytest.mark.parametrize("name", PROGRAMS)
def test_script_cannot_tell_whygrad_from_python(name: str, project: Path) -> None:
    (project / "script.py").write_text(PROGRAMS[name], encoding="latin-1" if "latin" in name else "utf-8")

    expected = under_python(project, "script.py", *ARGUMENTS)

    assert under_whygrad(project, "script.py", *ARGUMENTS) == expected


@pytest.mark.parametrize("name", ["argv", "exception_in_a_function", "exit_with_words"])
def test_code_cannot_tell_whygrad_from_python(name: str, project: Path) -> None:
    expected = under_python(project, "-c", PROGRAMS[name], *ARGUMENTS)

    assert under_whygrad(project, "-c", PROGRAMS[name], *ARGUMENTS) == expected


def test_a_script_from_standard_input_cannot_tell_whygrad_from_python(project: Path) -> None:
    text = (
        "import sys\nprint(sys.argv, sys.path[0], sys.orig_argv[-2:], __name__, sys.stdin.read())\nraise KeyError(1)\n"
    )
    expected = run([sys.executable, "-", "a"], project, text)

    assert run([sys.executable, "-m", "whygrad", "run", "-q", "-", "a"], project, text) == expected


@pytest.mark.parametrize("name", ["argv", "exception_in_a_function", "exit_with_words", "thread_that_outlives_main"])
def test_module_cannot_tell_whygrad_from_python(name: str, project: Path) -> None:
    (project / "script.py").write_text(PROGRAMS[name])

    expected = without_runpy(under_python(project, "-m", "script", *ARGUMENTS))

    assert under_whygrad(project, "-m", "script", *ARGUMENTS) == expected


IN_ORDER = ["exception_in_a_function", "exit_with_words", "exit_with_words_that_have_no_text", "atexit_handlers"]


@pytest.mark.parametrize("program", IN_ORDER)
def test_stdout_and_stderr_come_in_the_same_order(program: str, project: Path) -> None:
    (project / "script.py").write_text(PROGRAMS[program])

    expected = under_python(project, "script.py", merged=True)

    assert under_whygrad(project, "script.py", merged=True) == expected


@pytest.mark.parametrize("program", IN_ORDER)
def test_stdout_and_stderr_of_a_module_come_in_the_same_order(program: str, project: Path) -> None:
    (project / "script.py").write_text(PROGRAMS[program])

    expected = under_python(project, "-m", "script", merged=True)

    assert under_whygrad(project, "-m", "script", merged=True) == Done(
        expected.status, without_runpy(Done(0, "", expected.out)).err, ""
    )


@pytest.mark.parametrize("main", ["from . import part\nprint(part.VALUE, __package__, __spec__.name)", "1 / 0"])
def test_package_cannot_tell_whygrad_from_python(main: str, project: Path) -> None:
    package = project / "package"
    package.mkdir()
    (package / "__init__.py").write_text("import sys; print('init', sys.argv, sys.modules['__main__'])")
    (package / "part.py").write_text("VALUE = 5")
    (package / "__main__.py").write_text(f"import sys; print(sys.argv, sys.path[0], __file__, __cached__)\n{main}")

    for words in (["-m", "package", "x"], ["-m", "package.__main__"], ["-m", "package.part"]):
        expected = without_runpy(under_python(project, *words))
        # Both have a `__main__` that is still empty while the package is imported; its text differs by the loader only.
        assert under_whygrad(project, *words) == _plain_main(expected)


def _plain_main(done: Done) -> Done:
    return Done(done.status, re.sub(r"<module '__main__' \(.*?\)>", "<module '__main__'>", done.out), done.err)


def test_package_that_cannot_be_imported_crashes_as_under_python(project: Path) -> None:
    package = project / "package"
    package.mkdir()
    (package / "__init__.py").write_text("def f():\n    raise ValueError('at import')\nf()\n")
    (package / "__main__.py").write_text("print('never')")

    expected = without_runpy(under_python(project, "-m", "package"))

    assert expected.status == 1
    assert under_whygrad(project, "-m", "package") == expected


def test_zip_archive_cannot_tell_whygrad_from_python(project: Path) -> None:
    source = project / "source"
    source.mkdir()
    (source / "part.py").write_text("VALUE = 5")
    (source / "__main__.py").write_text("import part, sys; print(part.VALUE, sys.argv, sys.path[0], __file__)")
    zipapp.create_archive(source, project / "app.pyz")

    expected = under_python(project, "app.pyz", "x")

    assert expected.out.startswith("5 ")
    assert under_whygrad(project, "app.pyz", "x") == expected


@pytest.mark.parametrize("spelling", ["./script.py", "inner/../script.py", "inner/link.py", "{absolute}"])
def test_spelling_of_the_path_is_kept(spelling: str, project: Path) -> None:
    (project / "script.py").write_text("import sys; print(sys.argv, __file__, sys.path[0])\n1 / 0\n")
    (project / "inner").mkdir()
    (project / "inner/link.py").symlink_to(project / "script.py")
    path = spelling.format(absolute=project / "script.py")

    assert under_whygrad(project, path) == under_python(project, path)


@pytest.mark.parametrize("flag", ["-P", "-O", "-Wignore", "-Xdev"])
def test_flags_of_the_interpreter_hold_for_the_script(flag: str, project: Path) -> None:
    (project / "script.py").write_text(
        "import sys; print(sys.path, sys.flags, sys.orig_argv, sys.warnoptions, __debug__)",
    )

    expected = under_python(project, "script.py", flags=(flag,))

    assert under_whygrad(project, "script.py", flags=(flag,)) == expected


def test_module_beside_the_script_goes_before_one_that_whygrad_uses(project: Path) -> None:
    (project / "click.py").write_text("NAME = 'the one beside the script'")
    (project / "script.py").write_text("import click; print(click.NAME)")

    assert under_whygrad(project, "script.py").out == "the one beside the script\n"


def test_pytest_does_not_mind_that_whygrad_is_imported_already(project: Path) -> None:
    (project / "test_sum.py").write_text("def test_sum(): assert 1 + 1 == 3")
    words = ["-m", "pytest", "-q", "-p", "no:cacheprovider", "-W", "error"]

    expected = under_python(project, *words)
    done = under_whygrad(project, *words)

    assert done.status == expected.status == 1
    assert _without_times(done.out) == _without_times(expected.out)
    assert "assert (1 + 1) == 3" in done.out


def _without_times(text: str) -> str:
    return re.sub(r" in [0-9.]+s", "", text)


def test_report_is_written_even_where_the_script_crashes_and_changes_the_folder(project: Path) -> None:
    (project / "script.py").write_text("import os; os.chdir('/'); 1 / 0")

    done = whygrad(project, "run", "--output-format=json", "--output-file=report.json", "script.py")

    assert done.status == 1
    assert json.loads((project / "report.json").read_text())["schema_version"] == 1


def test_console_script_is_the_same_command(project: Path) -> None:
    (project / "script.py").write_text("import sys; print(sys.argv, sys.path[0], __file__)")
    command = Path(sys.executable).with_name("whygrad")

    done = run([str(command), "run", "-q", "script.py", "x"], project)

    assert done == under_python(project, "script.py", "x")


def test_the_comparison_above_can_fail(project: Path) -> None:
    (project / "script.py").write_text("import sys; print('whygrad' in sys.modules)")

    assert under_whygrad(project, "script.py") != under_python(project, "script.py")
