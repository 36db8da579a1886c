"""`whygrad lint`: gradient mistakes in source, found without running it."""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING

import click

from whygrad.cli.options import ignore_rules, rules_option
from whygrad.config import OUTPUT_FORMATS, Config, find_config
from whygrad.errors import UsageError

if TYPE_CHECKING:
    from whygrad.diagnostics import Diagnostic, Selection
    from whygrad.report import Report

FOUND, CLEAN = 1, 0


@click.command(
    "lint",
    short_help="Find gradient mistakes without running anything.",
    epilog="""\b
Examples:
  whygrad lint
  whygrad lint --fix --diff src/model.py""",
)
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="Form of the report. [default: text]")
@click.option("--output-file", metavar="FILE", help="Write the report to FILE, not to the terminal.")
@rules_option("--select", help="Only these rules: codes, names or families (WL1).")
@rules_option("--extend-select", help="Add these rules to those selected.")
@ignore_rules
@click.option("--exclude", multiple=True, metavar="PATTERN", help="Leave out files and folders with such a name.")
@click.option("--stdin-filename", metavar="FILE", help="Check standard input, as if it were FILE.")
@click.option("--fix", is_flag=True, help="Write the fixes that are safe into the files.")
@click.option("--unsafe-fixes", is_flag=True, help="With --fix or --diff: also those that may change what is computed.")
@click.option("--diff", is_flag=True, help="Show what --fix would write, and write nothing.")
@click.option("--statistics", is_flag=True, help="Show how often each rule was broken instead of where.")
@click.option("--watch", is_flag=True, help="Check again whenever a file changes.")
@click.option("--exit-zero", is_flag=True, help="Exit with 0 even if something is found.")
@click.option("--no-gitignore", is_flag=True, help="Check files that git ignores, too.")
@click.option("--no-cache", is_flag=True, help="Check every file again: do not use the cache.")
@click.option("--jobs", type=click.IntRange(1), metavar="N", help="Number of processes. [default: one per core]")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing unless there is an error or a warning.")
@click.option("--no-config", is_flag=True, help="Do not read [tool.whygrad] of pyproject.toml.")
@click.argument("paths", nargs=-1)
def command(
    *,
    output_format: str | None,
    output_file: str | None,
    select: tuple[str, ...],
    extend_select: tuple[str, ...],
    ignore: tuple[str, ...],
    exclude: tuple[str, ...],
    stdin_filename: str | None,
    fix: bool,
    unsafe_fixes: bool,
    diff: bool,
    statistics: bool,
    watch: bool,
    exit_zero: bool,
    no_gitignore: bool,
    no_cache: bool,
    jobs: int | None,
    quiet: bool,
    no_config: bool,
    paths: tuple[str, ...],
) -> int:
    """Check the Python files and notebooks at PATHS, the working folder by default, without running them.

    Exits with 1 where there is an error or a warning.
    """
    from whygrad.cli.linting.report import Wanted, deliver, mend
    from whygrad.diagnostics import Severity
    from whygrad.lint.files.discovery import find_files

    first = Path(stdin_filename or (paths[0] if paths else ".")).resolve()
    config = Config() if no_config else find_config(first if first.is_dir() else first.parent)
    wanted = Wanted(
        selection=selection_of(
            select or config.select, (*extend_select, *config.extend_select), (*ignore, *config.ignore)
        ),
        per_file=tuple((pattern, selection_of((), (), words)) for pattern, words in config.per_file_ignores),
        format=output_format or config.output_format,
        file=output_file,
        statistics=statistics,
        quiet=quiet,
    )

    excluded = (*exclude, *config.exclude)
    files = partial(find_files, paths, excluded, respect_gitignore=not no_gitignore)

    def once() -> int:
        report = _checked(stdin_filename, files, wanted.admit, no_cache, jobs)
        deliver(report, wanted)
        return CLEAN if exit_zero or (report.worst or Severity.NOTE) < Severity.WARNING else FOUND

    if stdin_filename is not None and (fix or diff or watch):
        option = "--fix" if fix else "--diff" if diff else "--watch"
        raise UsageError(f"`{option}` works on files, not on standard input", help="name the files")
    if fix or diff:
        changed = mend(files(), wanted, unsafe=unsafe_fixes, write=fix and not diff)
        if diff:
            return FOUND if changed and not exit_zero else CLEAN
    elif unsafe_fixes:
        raise UsageError("`--unsafe-fixes` does nothing on its own", help="add --fix or --diff")
    if not watch:
        return once()
    from whygrad.lint.files.watching import on_change

    on_change(paths, excluded, once)
    return CLEAN


def _checked(
    stdin_filename: str | None,
    files: Callable[[], Sequence[Path]],
    admit: Callable[[Path, Diagnostic], bool],
    no_cache: bool,
    jobs: int | None,
) -> Report:
    from whygrad.lint.files.cache import Cache, default_folder
    from whygrad.lint.files.project import check_files
    from whygrad.report import Report

    if stdin_filename is not None:
        from whygrad.lint.files.checking import check_bytes

        data = sys.stdin.buffer.read()
        checked = {Path(stdin_filename): check_bytes(stdin_filename, data)}
        texts = {stdin_filename: data.decode("utf-8", "replace")}
    else:
        checked = check_files(files(), Cache(None if no_cache else default_folder()), jobs=jobs)
        texts = {}
    found: dict[object, Diagnostic] = {}  # what several files show of a third is said once
    for file, each in checked.items():
        for diagnostic in each.diagnostics:
            if admit(file, diagnostic):
                found.setdefault((diagnostic.code, diagnostic.primary), diagnostic)
        texts |= each.sources
    return Report(diagnostics=tuple(found.values()), run={"files": len(checked)}, sources=texts)


def selection_of(select: Sequence[str], extend: Sequence[str], ignore: Sequence[str]) -> Selection:
    """Which rules are wanted; a code of a run (`WG105`) means its static twin."""
    from whygrad.diagnostics import Selection, parse_selection

    if not select and not extend and not ignore:
        return Selection()
    from whygrad.lint.asking import static_rules
    from whygrad.rules import all_rules

    known = [*static_rules().items(), *((rule.code, rule.name) for rule in all_rules())]
    checked = parse_selection((*select, *(extend if select else ())), ignore, known)
    return Selection(tuple(map(_static, checked.select)), tuple(map(_static, checked.ignore)))


def _static(word: str) -> str:
    return "WL" + word[2:] if word[:2].upper() == "WG" and (len(word) == 2 or word[2].isdigit()) else word
