"""`whygrad replay`: the analysis of a step that went bad, done again."""

from __future__ import annotations

import sys
from functools import partial
from typing import TYPE_CHECKING

import click

from whygrad.config import OUTPUT_FORMATS

if TYPE_CHECKING:
    from whygrad.cli.commands import Todo


@click.command(
    "replay",
    short_help="Analyse a kept step again.",
    epilog="""\b
Example:
  whygrad replay latest --step 12""",
)
@click.option("--step", type=int, metavar="N", help="Which of the kept steps. [default: the first]")
@click.option("--output-format", type=click.Choice(OUTPUT_FORMATS), default="text", help="Form of the report.")
@click.argument("run", default="latest")
def command(*, run: str, step: int | None, output_format: str) -> Todo:
    """Run a step that `whygrad run` has kept once more, op by op, and say where its first NaN or Inf came from.

    RUN is a name below `.whygrad/steps`, the beginning of one, `latest`, or the path of a folder that was copied here.
    """
    return partial(_replay, run, step, output_format)


def _replay(run: str, step: int | None, output_format: str) -> int:
    from whygrad.backends.kept_steps import find
    from whygrad.cli.complaint import complain
    from whygrad.cli.replay_apart import replay_apart
    from whygrad.errors import UsageError
    from whygrad.report import terminal_width, wants_color

    try:
        path = str(find(run, step))
        text = replay_apart(path, output_format, color=wants_color(sys.stdout), width=terminal_width(sys.stdout))
    except UsageError as error:
        return complain(error)
    print(text)
    return 0
