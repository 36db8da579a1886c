"""Shells complete commands, rules and runs."""

from __future__ import annotations

from pathlib import Path

import click
import pytest
from click.shell_completion import ShellComplete

from whygrad.cli.commands import parse, whygrad
from whygrad.store import RunWriter


def offered(*words: str) -> list[str]:
    completion = ShellComplete(whygrad, {}, "whygrad", "_WHYGRAD_COMPLETE")
    return [item.value for item in completion.get_completions(list(words[:-1]), words[-1])]


def test_rules_are_offered_by_code_name_and_family() -> None:
    assert {"WG1", "WG103"} <= set(offered("explain", "wg1"))
    assert "stop-gradient" in offered("run", "--select", "stop")
    assert "stop-gradient" in offered("lint", "--ignore", "stop")
    assert offered("explain", "nothing-like-it") == []


def test_runs_are_offered_by_id(tmp_path: Path) -> None:
    writer = RunWriter.start(str(tmp_path))
    writer.close("finished", None)

    assert offered("show", "--dir", str(tmp_path), "") == ["latest", writer.id]
    assert offered("export", "--dir", str(tmp_path), "lat") == ["latest"]
    assert offered("runs", "--dir", str(tmp_path), "rm", writer.id[:3]) == [writer.id]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_the_script_for_a_shell_asks_whygrad(shell: str, capsys: pytest.CaptureFixture[str]) -> None:
    parse(["completion", shell])

    text = capsys.readouterr().out
    assert f"_WHYGRAD_COMPLETE={shell}_complete" in text
    assert isinstance(whygrad, click.Group)
