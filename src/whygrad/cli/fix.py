"""`whygrad fix`: try changes that would remove what was found, and show those that do."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Final

import click

from whygrad.cli.options import ignore_rules, select_rules

if TYPE_CHECKING:
    from whygrad.cli.commands import Todo

FORMATS: Final = ("text", "json")


@click.command(
    "fix",
    short_help="Try changes that may help, and show those that do.",
    epilog="""\b
Examples:
  whygrad fix train.py --epochs 1
  whygrad fix --apply train.py""",
    context_settings={"allow_interspersed_args": False, "ignore_unknown_options": False},
)
@click.option("-m", "is_module", is_flag=True, help="SCRIPT is the name of a module, as in `python -m`.")
@click.option("--apply", is_flag=True, help="Write the fixes that were verified to the files.")
@click.option("--interactive", is_flag=True, help="Ask for each fix that was verified whether to write it.")
@click.option("--scratch", is_flag=True, help="Run in a copy of the working folder.")
@click.option("--steps", type=click.IntRange(min=1), metavar="N", help="Stop each run after N steps.")
@click.option(
    "--seconds", type=click.FloatRange(min=1), default=600.0, show_default=True, help="Stop each run after this time."
)
@click.option("--output-format", type=click.Choice(FORMATS), default="text", help="Form of the answer. [default: text]")
@select_rules
@ignore_rules
@click.argument("script")
@click.argument("args", nargs=-1, type=click.UNPROCESSED)
def command(
    *,
    is_module: bool,
    apply: bool,
    interactive: bool,
    scratch: bool,
    steps: int | None,
    seconds: float,
    output_format: str,
    select: tuple[str, ...],
    ignore: tuple[str, ...],
    script: str,
    args: tuple[str, ...],
) -> Todo:
    """Run SCRIPT, then run it again with each change that may help, and show as a diff what does.

    Nothing is written without --apply or --interactive. Everything after SCRIPT belongs to the script. A run is stopped
    as soon as it has shown enough. The exit status is 0 where nothing is left to fix, 1 where something is.
    """
    from whygrad.cli.fixing.session import Plan, execute
    from whygrad.trial.order import Order

    given = args[1:] if args[:1] == ("--",) else args
    order = Order(script=script, args=given, is_module=is_module, steps=steps, select=select, ignore=ignore)
    plan = Plan(order, seconds, output_format, apply=apply, interactive=interactive, scratch=scratch)
    return partial(execute, plan)
