"""The workers of a cluster side by side, and the replicas of a run whose gradients were not finite."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from whygrad.cli.tables import number, print_rich, print_table
from whygrad.store import Run, header_of, workers_of


def print_workers(run: Run) -> None:
    """A row for each worker that trained together with this one, and what was found in their runs only."""
    from rich.text import Text

    workers = workers_of(run)
    if len(workers) > 1:
        print_rich("")
        print_table(("worker", "run", "status", "steps", "loss", "|gradient|", "seconds"), map(_row, workers))
    for text in dict.fromkeys(_not_finite(workers or [run])):
        print_rich(Text(text, "red"))
    known = {(each.code, each.message) for each in run.diagnostics()}
    for other in workers:
        for each in other.diagnostics():
            if other.id != run.id and (each.code, each.message) not in known:
                print_rich(f"{header_of(other).worker}: {each.code}: {each.message}")


def _row(run: Run) -> tuple[str, ...]:
    header, tracks = header_of(run), run.tracks()
    steps = "" if header.last_step is None else str(header.last_step + 1)
    numbers = ["", "", ""]
    if tracks:
        newest = run.everything(tracks[0].name, blocks=1)
        norms = [float(each.channels["norm"][-1]) for each in newest.variables if len(each.channels["norm"])]
        total = math.sqrt(sum(norm * norm for norm in norms))
        scalars = [newest.scalars[name][-1:] for name in ("loss", "duration")]
        loss, seconds = (number(float(values[0])) if len(values) else "" for values in scalars)
        numbers = [loss, number(total), seconds]
    return (header.worker, run.id, header.status, steps, *numbers)


def _not_finite(runs: list[Run]) -> Iterator[str]:
    """One sentence for the first time that a replica of each was not finite."""
    for run in runs:
        for event in run.events("not finite")[:1]:
            yield _told(event.step, event.data)


def _told(step: int | None, data: Any) -> str:
    bad, worker = data.get("replicas", []), data.get("worker")
    whose = f"replica{'s' if len(bad) > 1 else ''} {', '.join(map(str, bad))}"
    where = f" ({worker})" if worker else ""
    return f"the gradients of {whose}{where} were not finite at step {step}"
