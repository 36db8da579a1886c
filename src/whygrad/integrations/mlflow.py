"""A run for MLflow: written to a database in a folder, where `mlflow ui` finds it."""

from __future__ import annotations

import itertools
import os
from pathlib import Path
from typing import Final

from whygrad.errors import UsageError
from whygrad.integrations.step_log import logged_steps, prefixes
from whygrad.store import Run

_AT_ONCE: Final = 1000  # numbers that MLflow takes in one call
_STATUS: Final = {"finished": "FINISHED", "running": "RUNNING", "interrupted": "KILLED", "killed": "KILLED"}


def export_mlflow(run: Run, folder: str | os.PathLike[str]) -> Path:
    """Write all numbers of a run to `mlflow.db` in a folder, as a run of experiment `whygrad`; the path of that file.

    MLflow has no histograms: they are left out.
    """
    try:
        import mlflow  # noqa: F401, it lacks more often than what it keeps runs with
        import sqlalchemy  # noqa: F401
        from mlflow import MlflowClient
        from mlflow.entities import Metric, Param, RunTag
    except ImportError as error:
        raise UsageError(f"the export needs {error.name}", help="pip install 'whygrad[mlflow]'") from error
    place = Path(folder).absolute()
    place.mkdir(parents=True, exist_ok=True)
    client = MlflowClient(tracking_uri=f"sqlite:///{place / 'mlflow.db'}")
    known = client.get_experiment_by_name("whygrad")
    artifacts = (place / "mlruns").as_uri()
    experiment = client.create_experiment("whygrad", artifacts) if known is None else known.experiment_id
    facts = run.facts()
    started = int(float(facts.get("started", 0.0)) * 1000)
    made = client.create_run(experiment, start_time=started, run_name=str(facts.get("name") or run.id))
    tags = [RunTag("whygrad.run", run.id), *(RunTag(f"tag.{tag}", "yes") for tag in facts.get("tags", []))]
    found = [RunTag(f"whygrad.{each.code}", each.message[:5000]) for each in run.diagnostics()]
    params = [Param(key, str(facts[key])[:500]) for key in ("model", "every") if key in facts]
    client.log_batch(made.info.run_id, params=params, tags=[*tags, *found])
    metrics = (
        Metric(_allowed(tag), value, int(one.seconds * 1000) or started, one.step)
        for name, prefix in prefixes(run).items()
        for one in logged_steps(run, name, prefix)
        for tag, value in one.numbers
    )
    while part := list(itertools.islice(metrics, _AT_ONCE)):
        client.log_batch(made.info.run_id, metrics=part)
    ended = int(float(facts.get("ended", facts.get("seen", 0.0))) * 1000)
    client.set_terminated(made.info.run_id, _STATUS.get(str(facts.get("status")), "FAILED"), ended)
    return place / "mlflow.db"


def _allowed(name: str) -> str:
    """A name with only the characters that MLflow takes."""
    return "".join(each if each.isalnum() or each in "_-. /" else "_" for each in name)
