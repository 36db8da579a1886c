"""`%%whygrad`, in a real shell."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from whygrad.integrations.notebook import comment_out_magic
from whygrad.report import Report

IPython = pytest.importorskip("IPython")


@pytest.fixture
def shell(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Any]:
    """A shell with the extension loaded, whose displayed objects are kept in `shell.displayed`."""
    from IPython.core.displaypub import CapturingDisplayPublisher
    from IPython.core.interactiveshell import InteractiveShell
    from traitlets.config import Config

    monkeypatch.setenv("IPYTHONDIR", str(tmp_path))
    config = Config()
    config.HistoryManager.enabled = False
    shell = InteractiveShell.instance(config=config)
    shell.display_pub = publisher = CapturingDisplayPublisher()
    shell.displayed = publisher.outputs
    shell.run_cell("%load_ext whygrad.integrations.notebook")
    yield shell
    shell.run_cell("%unload_ext whygrad.integrations.notebook")
    InteractiveShell.clear_instance()


def _run(shell: Any, cell: str) -> Any:
    return shell.run_cell(cell, store_history=True)


def _shown(shell: Any) -> list[str]:
    return [output["data"]["text/plain"] for output in shell.displayed]


def test_a_marked_cell_is_followed_by_its_report(shell: Any) -> None:
    result = _run(shell, "%%whygrad\nx = 41\nx + 1")

    assert result.result == 42
    (output,) = shell.displayed
    assert output["data"]["text/plain"].startswith("whygrad: no gradient computation was seen")
    assert "<div class='whygrad'>" in output["data"]["text/html"]


def test_other_cells_are_not_watched(shell: Any) -> None:
    _run(shell, "x = '%%whygrad'")
    _run(shell, "%%capture\nprint('%%whygrad')")

    assert shell.displayed == []


def test_a_cell_that_fails_still_gets_its_report_and_its_traceback(
    shell: Any, capsys: pytest.CaptureFixture[str]
) -> None:
    result = _run(shell, "%%whygrad\n1 / 0")

    assert isinstance(result.error_in_exec, ZeroDivisionError)
    assert "ZeroDivisionError" in capsys.readouterr().out
    assert len(shell.displayed) == 1


def test_a_syntax_error_is_the_shells_own_business(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    result = _run(shell, "%%whygrad\nx = (")

    assert isinstance(result.error_before_exec, SyntaxError)
    assert "SyntaxError" in capsys.readouterr().out
    assert len(shell.displayed) == 1


def test_another_magic_may_follow(shell: Any, capsys: pytest.CaptureFixture[str]) -> None:
    _run(shell, "%%whygrad\n%%capture kept\nprint('quiet')")

    assert "quiet" not in capsys.readouterr().out
    assert shell.user_ns["kept"].stdout == "quiet\n"
    assert len(shell.displayed) == 1


def test_a_cell_run_by_the_watched_one_does_not_end_the_watch(shell: Any) -> None:
    _run(shell, "%%whygrad\nget_ipython().run_cell('y = 1')\nz = 2")

    assert (shell.user_ns["y"], shell.user_ns["z"]) == (1, 2)
    assert len(shell.displayed) == 1


def test_unloading_leaves_no_trace(shell: Any) -> None:
    _run(shell, "%unload_ext whygrad.integrations.notebook")

    assert comment_out_magic not in shell.input_transformers_cleanup
    _run(shell, "%load_ext whygrad.integrations.notebook")
    assert shell.input_transformers_cleanup.count(comment_out_magic) == 1


@pytest.mark.parametrize(
    ("cell", "meant"),
    [
        (["%%whygrad\n", "x\n"], ["# %%whygrad\n", "x\n"]),
        (["%%whygrad  \n"], ["# %%whygrad  \n"]),
        (["%%whygrad\n", "%%time\n", "x\n"], ["%%time\n", "x\n"]),
        (["%%whygrads\n", "x\n"], ["%%whygrads\n", "x\n"]),
        (["x\n", "%%whygrad\n"], ["x\n", "%%whygrad\n"]),
        ([], []),
    ],
)
def test_only_the_first_line_is_the_magic(cell: list[str], meant: list[str]) -> None:
    assert comment_out_magic(cell) == meant


def test_a_report_at_the_end_of_a_cell_shows_itself(shell: Any) -> None:
    shell.user_ns["report"] = Report()

    data, _ = shell.display_formatter.format(shell.user_ns["report"])

    assert data["text/plain"] == "whygrad: no problem found"
    assert "<div class='whygrad'>" in data["text/html"]


@pytest.mark.tensorflow
def test_a_cut_is_shown_in_its_cell_at_its_line(shell: Any, tf: ModuleType) -> None:
    shell.user_ns["tf"] = tf
    _run(shell, "x = 1")
    _run(
        shell,
        "%%whygrad\n"
        "w = tf.Variable(2.0)\n"
        "with tf.GradientTape() as tape:\n"
        "    loss = tf.cast(tf.cast(w * 3.0, tf.int32), tf.float32)\n"
        "grads = tape.gradient(loss, [w])\n",
    )

    (text,) = _shown(shell)
    assert " --> cell [2]:4:20\n" in text
    assert "^^^^^^^^^^^^^^^^^^^^^^^^^^ " in text
