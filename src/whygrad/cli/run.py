"""`whygrad run`: watch an unmodified script."""

from __future__ import annotations

import os
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Final

import click

from whygrad.cli.options import ignore_rules, select_rules
from whygrad.config import FAIL_ON, OUTPUT_FORMATS, Config, find_config
from whygrad.run_folder import run_folder

if TYPE_CHECKING:
    from whygrad.cli.commands import Todo
    from whygrad.diagnostics import Selection

GUARD_MODES: Final = ("skip", "raise", "zero", "rollback")


@click.command(
    "run",
    short_help="Run a script, and explain its gradients.",
    epilog="""\b
Examples:
  whygrad run train.py --epochs 3
  whygrad run --fail-on error -m my_package.train
  whygrad run --output-format json train.py > report.json
  whygrad run -c 'import train; train.main()'""",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is the name of a module, as in `python -m`.")
@click.option("-c", "is_code", is_flag=True, help="SCRIPT is Python code, as in `python -c`.")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), help="Form of the report. [default: text]")
@click.option("--output-file", metavar="FILE", help="Write the report to FILE, not to the terminal.")
@select_rules
@ignore_rules
@click.option(
    "--fail-on", type=click.Choice(FAIL_ON), help="Exit with 1 if the script succeeds but has such a finding."
)
@click.option("--raise-on", type=click.Choice(FAIL_ON[:2]), help="Stop at the first certain finding, with a traceback.")
@click.option("--find-nan", is_flag=True, help="Keep all that is needed to find the first NaN or Inf, at any cost.")
@click.option("--terms", is_flag=True, help="Measure what each term of a loss contributes to each layer.")
@click.option("--guard", is_flag=True, help="Hold back updates that are not finite, and go on.")
@click.option(
    "--on-nonfinite", type=click.Choice(GUARD_MODES), help="What --guard does with such an update. [default: skip]"
)
@click.option("--keep/--no-keep", default=True, help="Keep a step that goes bad, for `whygrad replay`. [default: keep]")
@click.option("--record", is_flag=True, help="Keep the report as a run, for `whygrad ui` and `whygrad export`.")
@click.option("-q", "--quiet", is_flag=True, help="Print nothing unless there is an error or a warning.")
@click.option("--no-config", is_flag=True, help="Do not read [tool.whygrad] of pyproject.toml.")
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    *,
    is_module: bool,
    output_format: str | None,
    output_file: str | None,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    fail_on: str | None,
    raise_on: str | None,
    find_nan: bool,
    terms: bool,
    guard: bool,
    on_nonfinite: str | None,
    keep: bool,
    record: bool,
    quiet: bool,
    no_config: bool,
    is_code: bool,
    script: str,
    args: tuple[str, ...],
) -> Todo:
    """Run SCRIPT as `python` would, and explain its gradients; `-` is a script from standard input.

    Everything after SCRIPT belongs to the script. The exit status is the script's own. The report goes to standard
    error as text; as JSON, SARIF or HTML it goes to standard output, and what the script prints goes to standard error,
    so that standard output is one document. With --output-file the script's output stays where it is.
    """
    from whygrad.cli.output import Output
    from whygrad.cli.program import Invocation
    from whygrad.cli.session import Plan, execute
    from whygrad.diagnostics import Severity

    invocation = Invocation("-c", args, code=script) if is_code else Invocation(script, args, is_module)
    folder = Path(script).resolve().parent if invocation.is_file else Path.cwd()
    config = Config() if no_config else find_config(folder)
    limit = fail_on or config.fail_on
    plan = Plan(
        invocation=invocation,
        selection=_selection(select or config.select, ignore or config.ignore),
        fail_on=None if limit == "never" else Severity.parse(limit),
        output=Output(output_format or config.output_format, output_file, quiet),
        raise_on=raise_on,
        find_nan=find_nan,
        terms=terms,
        guard=on_nonfinite or ("skip" if guard else None),
        keep=os.path.abspath(run_folder()) if keep else None,
        record=os.path.abspath(run_folder()) if record else None,
    )
    return partial(execute, plan)


def _selection(select: tuple[str, ...], ignore: tuple[str, ...]) -> Selection:
    from whygrad.diagnostics import Selection

    if not select and not ignore:
        return Selection()  # without loading the rules
    from whygrad.rules import selection_of

    return selection_of(select, ignore)
