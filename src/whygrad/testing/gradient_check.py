"""For a test suite: the gradient of a function is what its values say it is."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from whygrad.errors import WrongGradientError


def assert_gradient_correct(f: Callable[..., Any], inputs: Any, **options: Any) -> None:
    """Raise WrongGradientError unless TensorFlow's gradient of `f` agrees with differences of its values.

    Takes what `whygrad.check_gradient` takes. Kinks are no error.
    """
    from whygrad.training.gradient_check.check import check_gradient

    check = check_gradient(f, inputs, **options)
    if not check:
        worst = check.worst
        raise WrongGradientError(
            f"the gradient is wrong, worst at {worst}\n{check}",
            help="look at the custom gradients on the way, and at values that were taken for constants",
        )
