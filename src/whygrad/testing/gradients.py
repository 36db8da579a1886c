"""`assert_all_gradients`: no variable of a training step goes without."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable, Iterable
from typing import Any

from whygrad.diagnostics import Severity
from whygrad.errors import MissingGradientError
from whygrad.report import Report, render_diagnostic
from whygrad.watch import Run, watch


def assert_all_gradients(
    step: Callable[..., Any],
    *args: Any,
    variables: Any = None,
    allow: Iterable[str] = (),
    **kwargs: Any,
) -> Report:
    """Call `step(*args, **kwargs)` once; every gradient that is asked for meanwhile must come back.

    The step may be anything that trains: a function with a tape, `model.train_on_batch`, `model.fit`. It changes what
    it would change anyway. Raises MissingGradientError with the explanation, and what the step raises where no
    gradient is missing.

    Args:
        variables: set this where `step` only computes a loss: its gradient is then taken here, for these variables, or
            for the trainable variables of a layer or model.
        allow: names of variables that may go without; `*` stands for anything, as in `"teacher/*"`.
    """
    if variables is not None:
        from whygrad.training.gradient_check.step import gradient_step

        step = gradient_step(step, variables)
    run, error = _run(step, args, kwargs)
    report = run.report()
    missing = _missing(report, tuple(allow))
    if missing:
        raise MissingGradientError(_message(report, missing)) from error
    if error is not None:
        raise error
    if not any(reach.reached or reach.missing for reach in report.gradients):
        raise MissingGradientError(
            f"`{_name(step)}` asked for no gradient of a variable, so there is nothing to assert",
            help="call what trains, or pass the loss function and `variables=`",
        )
    return report


def _run(step: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]) -> tuple[Run, Exception | None]:
    error: Exception | None = None
    with watch() as run:
        try:
            step(*args, **kwargs)
        except Exception as raised:
            run.failed(raised)
            error = raised
    return run, error


def _missing(report: Report, allow: tuple[str, ...]) -> dict[str, None]:
    names = dict.fromkeys(name for reach in report.gradients for name in reach.missing)
    return {name: None for name in names if not any(fnmatch.fnmatchcase(name, pattern) for pattern in allow)}


def _message(report: Report, missing: Iterable[str]) -> str:
    names = ", ".join(f"`{name}`" for name in missing)
    causes = [render_diagnostic(d) for d in report.diagnostics if d.severity >= Severity.WARNING]
    return "\n\n".join([f"no gradient reaches {names}", *causes])


def _name(step: Callable[..., Any]) -> str:
    return getattr(step, "__name__", type(step).__name__)
