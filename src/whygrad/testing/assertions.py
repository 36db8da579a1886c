"""`assert_all_gradients`, `assert_diagnoses`, `assert_gradient_correct`: one is enough to fail a test."""

from __future__ import annotations

import contextlib
import fnmatch
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from whygrad.arguments import check_callable, check_text, words_in
from whygrad.diagnostics import Severity
from whygrad.errors import MissingGradientError, UsageError, WrongGradientError
from whygrad.report import Report, render_diagnostic
from whygrad.rules import find_rule
from whygrad.watch import Run, watch


def assert_all_gradients(
    step: Callable[..., Any], *args: Any, variables: Any = None, allow: Iterable[str] = (), **kwargs: Any
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
    __tracebackhide__ = True
    check_callable("step", step, help="pass the function: `assert_all_gradients(step, x)`, not `...(step(x))`")
    patterns = words_in("allow", allow, help='`allow="teacher/*"`')
    if variables is not None:
        from whygrad.training.gradient_check.function import gradient_step

        step = gradient_step(step, variables)
    with watch() as run, _noted(run) as errors:
        step(*args, **kwargs)
    report = run.report()
    names = dict.fromkeys(name for reach in report.gradients for name in reach.missing)
    missing = [name for name in names if not any(fnmatch.fnmatchcase(name, pattern) for pattern in patterns)]
    if missing:
        causes = [render_diagnostic(d) for d in report.diagnostics if d.severity >= Severity.WARNING]
        listed = ", ".join(f"`{name}`" for name in missing)
        text = "\n\n".join([f"no gradient reaches {listed}", *causes])
        raise MissingGradientError(text) from (errors[0] if errors else None)
    if errors:
        raise errors[0]
    if not any(reach.reached or reach.missing for reach in report.gradients):
        raise MissingGradientError(
            f"`{getattr(step, '__name__', type(step).__name__)}` asked for no gradient of a variable,"
            " so there is nothing to assert",
            help="call what trains, or pass the loss function and `variables=`",
        )
    return report


@contextlib.contextmanager
def assert_diagnoses(rule: str) -> Iterator[Run]:
    """Watch the block; the rule, given by name or code, must find something in it.

    An exception of the block is let through where the rule has spoken: often it is the symptom.
    """
    __tracebackhide__ = True
    check_text("rule", rule, help='`assert_diagnoses("stop-gradient")`')
    wanted = find_rule(rule)
    if wanted is None:
        raise UsageError(f"unknown rule `{rule}`", help="`whygrad rules` lists the codes and names")
    with watch() as run, _noted(run) as errors:
        yield run
    report, error = run.report(), errors[0] if errors else None
    if all(diagnostic.code != wanted.code for diagnostic in report.diagnostics):
        raise AssertionError(f"{wanted.code} {wanted.name} was not diagnosed; the report says:\n\n{report}") from error
    if error is not None:
        raise error


@contextlib.contextmanager
def _noted(run: Run) -> Iterator[list[Exception]]:
    """The exception of the block, in a list and known to the run, instead of raised."""
    errors: list[Exception] = []
    try:
        yield errors
    except Exception as error:
        run.failed(error)
        errors.append(error)


def assert_gradient_correct(f: Callable[..., Any], inputs: Any, **options: Any) -> None:
    """Raise WrongGradientError unless TensorFlow's gradient of `f` agrees with differences of its values.

    Takes what `whygrad.check_gradient` takes. Kinks are no error.
    """
    from whygrad.training.gradient_check.check import check_gradient

    __tracebackhide__ = True
    check = check_gradient(f, inputs, **options)
    if not check:
        raise WrongGradientError(
            f"the gradient is wrong, worst at {check.worst}\n{check}",
            help="look at the custom gradients on the way, and at values that were taken for constants",
        )
