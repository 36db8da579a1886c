"""A run for Weights & Biases: written to a folder, without a network; `wandb sync` sends it."""

from __future__ import annotations

import os
from pathlib import Path
from typing import Any

import numpy as np

from whygrad.errors import UsageError
from whygrad.integrations.step_log import logged_histograms, logged_steps, prefixes
from whygrad.store import Run


def export_wandb(run: Run, folder: str | os.PathLike[str]) -> Path:
    """Write all numbers of a run as an offline run of project `whygrad`; the folder that `wandb sync` takes."""
    try:
        import wandb
    except ImportError as error:
        raise UsageError("the export needs wandb", help="pip install 'whygrad[wandb]'") from error
    facts = run.facts()
    Path(folder).mkdir(parents=True, exist_ok=True)
    logged = wandb.init(
        project="whygrad",
        id=run.id,
        name=str(facts.get("name") or run.id),
        tags=[str(tag) for tag in facts.get("tags", [])] or None,
        notes=str(facts.get("note", "")) or None,
        config={key: facts[key] for key in ("model", "every", "environment") if key in facts},
        dir=str(folder),
        mode="offline",
        reinit="create_new",
        settings=wandb.Settings(silent=True, console="off", disable_git=True, x_disable_stats=True),
    )
    try:
        for name, prefix in prefixes(run).items():
            _log(wandb, logged, run, name, prefix)
        for diagnostic in run.diagnostics():
            logged.summary[f"findings/{diagnostic.code} {diagnostic.rule}"] = diagnostic.message
    finally:
        logged.finish()
        wandb.teardown()  # only when its helper has ended is all of it in the file
    return Path(logged.dir).parent


def _log(wandb: Any, logged: Any, run: Run, track: str, prefix: str) -> None:
    """The numbers of one track, each against the step of that track: those of two optimizers do not go together."""
    clock = f"{prefix}step"
    logged.define_metric(clock, hidden=True)
    logged.define_metric(f"{prefix}*", step_metric=clock)
    for one in logged_steps(run, track, prefix):
        logged.log({clock: one.step, **dict(one.numbers)})
    by_step: dict[int, dict[str, Any]] = {}
    for each in logged_histograms(run, track, prefix):
        drawn = wandb.Histogram(np_histogram=(np.array(each.counts), np.array(each.edges)))
        by_step.setdefault(each.step, {})[each.name] = drawn
    for step, drawn in sorted(by_step.items()):
        logged.log({clock: step, **drawn})
