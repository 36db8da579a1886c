"""`[tool.whygrad]` of the nearest pyproject.toml that has it."""

from __future__ import annotations

import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Final

from whygrad.errors import UsageError

OUTPUT_FORMATS: Final = ("text", "json", "sarif", "github", "html")
FAIL_ON: Final = ("error", "warning", "never")
KEYS: Final = ("select", "extend-select", "ignore", "per-file-ignores", "exclude", "fail-on", "output-format")


@dataclass(frozen=True, slots=True, kw_only=True)
class Config:
    """What the project asks for; the command line goes before it, option by option."""

    select: tuple[str, ...] = ()
    ignore: tuple[str, ...] = ()
    extend_select: tuple[str, ...] = ()
    per_file_ignores: tuple[tuple[str, tuple[str, ...]], ...] = ()  # patterns of paths, and rules
    exclude: tuple[str, ...] = ()
    fail_on: str = "never"
    output_format: str = "text"


def find_config(folder: Path) -> Config:
    """The settings that hold for a script in this folder; the defaults where no project has any."""
    file = config_file(folder)
    table = None if file is None else _table(file)
    return Config() if file is None or table is None else _config(table, file)


def config_file(folder: Path) -> Path | None:
    """The nearest pyproject.toml with settings of ours, in this folder or above it."""
    files = (place / "pyproject.toml" for place in (folder, *folder.parents))
    return next((file for file in files if file.is_file() and _table(file) is not None), None)


def _table(file: Path) -> Mapping[str, object] | None:
    try:
        document = tomllib.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise UsageError(f"cannot read `{file}`: {error}", help="correct it, or pass --no-config") from error
    table = document.get("tool", {}).get("whygrad")
    if table is not None and not isinstance(table, dict):
        raise UsageError(f"`tool.whygrad` in `{file}` is not a table")
    return table


def _config(table: Mapping[str, object], file: Path) -> Config:
    for key in table:
        if key not in KEYS:
            raise UsageError(f"unknown key `{key}` in [tool.whygrad] of `{file}`", help=f"known: {', '.join(KEYS)}")
    default = Config()
    return Config(
        select=_words(table, "select", file),
        ignore=_words(table, "ignore", file),
        extend_select=_words(table, "extend-select", file),
        per_file_ignores=_per_file(table, file),
        exclude=_words(table, "exclude", file),
        fail_on=_choice(table, "fail-on", FAIL_ON, file) or default.fail_on,
        output_format=_choice(table, "output-format", OUTPUT_FORMATS, file) or default.output_format,
    )


def _words(table: Mapping[str, object], key: str, file: Path) -> tuple[str, ...]:
    value = table.get(key, [])
    words = [value] if isinstance(value, str) else value
    if not isinstance(words, list) or not all(isinstance(word, str) for word in words):
        raise UsageError(f"`{key}` in [tool.whygrad] of `{file}` must be a list of rule codes or names")
    return tuple(words)


def _per_file(table: Mapping[str, object], file: Path) -> tuple[tuple[str, tuple[str, ...]], ...]:
    value = table.get("per-file-ignores", {})
    if not isinstance(value, dict):
        raise UsageError(f"`per-file-ignores` in [tool.whygrad] of `{file}` must be a table of patterns")
    return tuple((pattern, _words(value, pattern, file)) for pattern in value)


def _choice(table: Mapping[str, object], key: str, choices: tuple[str, ...], file: Path) -> str | None:
    value = table.get(key)
    if value is None or (isinstance(value, str) and value in choices):
        return value
    raise UsageError(f"`{key}` in [tool.whygrad] of `{file}` must be one of {', '.join(choices)}, not {value!r}")
