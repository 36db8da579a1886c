from __future__ import annotations

from pathlib import Path

import pytest

from whygrad.config import Config, find_config
from whygrad.errors import UsageError


def write(folder: Path, text: str) -> Path:
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "pyproject.toml").write_text(text)
    return folder


def test_every_key_is_read(tmp_path: Path) -> None:
    write(
        tmp_path,
        """
        [tool.whygrad]
        select = ["WG1", "WG2"]
        ignore = "stop-gradient"
        fail-on = "warning"
        output-format = "github"
        """,
    )

    assert find_config(tmp_path) == Config(
        select=("WG1", "WG2"), ignore=("stop-gradient",), fail_on="warning", output_format="github"
    )


def test_defaults_where_nothing_is_said(tmp_path: Path) -> None:
    write(tmp_path, "[tool.whygrad]\n")

    assert find_config(tmp_path) == Config(select=(), ignore=(), fail_on="never", output_format="text")


def test_nearest_file_with_the_table_is_taken(tmp_path: Path) -> None:
    write(tmp_path, '[tool.whygrad]\nignore = ["far"]')
    near = write(tmp_path / "near", '[tool.whygrad]\nignore = ["near"]')
    write(near / "inner", "[tool.ruff]\n")

    assert find_config(near / "inner" / "not-there").ignore == ("near",)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("fail_on = 'error'", "unknown key `fail_on` in [tool.whygrad] of `{file}`"),
        ("select = [1]", "`select` in [tool.whygrad] of `{file}` must be a list of rule codes or names"),
        ("ignore = 1", "`ignore` in [tool.whygrad] of `{file}` must be a list of rule codes or names"),
        (
            "fail-on = 'note'",
            "`fail-on` in [tool.whygrad] of `{file}` must be one of error, warning, never, not 'note'",
        ),
        (
            "output-format = ['text']",
            "`output-format` in [tool.whygrad] of `{file}` must be one of text, json, sarif, github, html,"
            " not ['text']",
        ),
    ],
)
def test_mistake_is_named_with_its_file(text: str, sentence: str, tmp_path: Path) -> None:
    write(tmp_path, f"[tool.whygrad]\n{text}")

    with pytest.raises(UsageError) as caught:
        find_config(tmp_path)

    assert caught.value.message == sentence.format(file=tmp_path / "pyproject.toml")


def test_table_that_is_no_table_is_refused(tmp_path: Path) -> None:
    write(tmp_path, "[tool]\nwhygrad = 3")

    with pytest.raises(UsageError, match="is not a table"):
        find_config(tmp_path)


def test_file_that_is_not_toml_is_refused_with_a_way_out(tmp_path: Path) -> None:
    write(tmp_path, "[tool.whygrad\n")

    with pytest.raises(UsageError, match="cannot read") as caught:
        find_config(tmp_path)

    assert caught.value.help == "correct it, or pass --no-config"
