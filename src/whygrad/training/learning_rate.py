"""`wg.suggest_learning_rate`: a range of rates that lower the loss, by trying them out; all is put back afterwards."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, Final

import numpy as np

from whygrad.arguments import check_callable, check_number, check_whole, given
from whygrad.backends.tensorflow import compat
from whygrad.errors import UsageError
from whygrad.training.variables import variable_list
from whygrad.training.wrapping.delegating import check_optimizer

_SMOOTH: Final = 0.7  # of the loss so far, in a moving average: single batches differ
_BEGUN: Final = 0.1  # of the whole fall: from here on a rate is felt
_SAFE: Final = 3.0  # the rate with the least loss is that many times too large to train with
_GROWN: Final = 4.0  # times the least loss: the sweep has seen enough
_FELT: Final = 0.01  # of the first loss: less than this is no fall


@dataclass(frozen=True, slots=True)
class RateRange:
    """Rates that lower the loss. True where some were found; `print` it for what was tried."""

    lowest: float
    highest: float
    rates: tuple[float, ...]  # that were tried, rising
    losses: tuple[float, ...]

    def __bool__(self) -> bool:
        return self.lowest > 0

    @property
    def suggested(self) -> float:
        """In the middle of the range, as people write it; 0 where there is none."""
        return float(f"{math.sqrt(self.lowest * self.highest):.0e}") if self else 0.0

    def __str__(self) -> str:
        tried = f"{len(self.rates)} rates from {self.rates[0]:.1g} to {self.rates[-1]:.1g}"
        if not self:
            return f"no learning rate lowers the loss: {tried} were tried, the loss stayed at {self.losses[0]:.4g}"
        stretch = f"{self.lowest:.1g} to {self.highest:.1g}"
        return f"a learning rate of {stretch} lowers the loss; {self.suggested:g} to begin with"


def suggest_learning_rate(
    step: Any,
    *data: Any,
    optimizer: Any = None,
    variables: Sequence[Any] | None = None,
    lowest: float = 1e-6,
    highest: float = 10.0,
    tries: int = 60,
    batch_size: int = 32,
) -> RateRange:
    """Train for `tries` steps with a learning rate that rises from `lowest` to `highest`, and put everything back.

    `step` is a compiled Keras model, and `data` its inputs and targets, of which a step takes `batch_size` rows; or a
    function that trains for one step on `data` and returns the loss, with the `optimizer` that it uses and the
    `variables` that it changes. Their values, the slots and the rate of the optimizer are afterwards what they were,
    also where a step raises.

        print(wg.suggest_learning_rate(model, x, y))
    """
    for name, rate in {"lowest": lowest, "highest": highest}.items():
        check_number(name, rate, "a learning rate above 0", lambda number: 0 < number < math.inf)
    if lowest >= highest:
        raise UsageError(f"`lowest={lowest:g}` is not below `highest={highest:g}`", help="rates must rise")
    check_whole("tries", tries, least=8, help="one try is one step of training")
    check_whole("batch_size", batch_size)
    is_model = hasattr(step, "train_on_batch") and not isinstance(step, type)
    if not is_model and step is not None:
        check_callable("step", step, help="pass a compiled model, or a function that trains for one step")
    if optimizer is not None:
        check_optimizer(optimizer)
    used = getattr(step, "optimizer", None) if optimizer is None else optimizer
    named = variable_list(() if variables is None else variables)
    held = list(step.variables) if is_model else named
    if used is None or not held:
        raise UsageError(
            "`suggest_learning_rate` needs an optimizer and the variables it trains",
            help="compile the model and call it once, or pass `optimizer=` and `variables=`",
        )
    if not hasattr(compat.native(used.learning_rate), "assign"):
        raise UsageError(
            "the learning rate of this optimizer is a schedule, which cannot be set",
            help="try rates out with an optimizer that has a plain one",
        )
    one_step = _batches(step, data, batch_size) if is_model else lambda number: step(*data)
    trained = [each for each in held if getattr(each, "trainable", True)]
    compat.build(used, trained)
    rates = np.geomspace(lowest, highest, tries)
    with _put_back([*held, *compat.state_of_optimizer(used), used.learning_rate, *_counters(step)]):
        losses = list(_sweep(one_step, used, rates))
    return _range(rates[: len(losses)], np.asarray(losses))


def _batches(model: Any, data: tuple[Any, ...], size: int) -> Callable[[int], Any]:
    advice = "write `suggest_learning_rate(model, x, y)`"
    arrays = [np.asarray(each) for each in data]
    for each, array in zip(data, arrays, strict=True):
        if not array.ndim or not array.size or array.dtype.kind not in "biuf":
            raise UsageError(f"the data must be arrays of examples, got {given(each)}", help=advice)
    if len({len(array) for array in arrays}) != 1:
        sizes = ", ".join(str(len(array)) for array in arrays) or "none"
        raise UsageError(f"the data must be arrays with as many examples each, got {sizes}", help=advice)
    count = max(1, len(arrays[0]) // size)

    def train(number: int) -> Any:
        model.reset_metrics()  # the loss that comes back is a mean over the batches since
        start = number % count * size
        try:
            return model.train_on_batch(*(each[start : start + size] for each in arrays), return_dict=True)["loss"]
        except ValueError as error:
            raise UsageError(
                f"the model cannot train on this data: {str(error).strip().splitlines()[0]}",
                help="`model.train_on_batch(x, y)` must work with it",
            ) from error

    return train


def _counters(model: Any) -> list[Any]:
    return [variable for metric in getattr(model, "metrics", ()) for variable in metric.variables]


def _sweep(step: Callable[[int], Any], optimizer: Any, rates: Any) -> Iterator[float]:
    least = math.inf
    for number, rate in enumerate(rates):
        optimizer.learning_rate = float(rate)
        loss = float(np.mean(step(number)))
        yield loss
        least = min(least, loss)
        if not math.isfinite(loss) or loss > _GROWN * abs(least) + 1e-12:
            return


@contextmanager
def _put_back(variables: Sequence[Any]) -> Iterator[None]:
    kept = [(variable, np.array(compat.native(variable).numpy())) for variable in variables]
    try:
        yield
    finally:
        for variable, value in kept:
            variable.assign(value)


def _range(rates: Any, losses: Any) -> RateRange:
    tried = tuple(map(float, rates)), tuple(map(float, losses))
    smooth = np.array(losses, np.float64)
    for i in range(1, len(smooth)):
        smooth[i] = _SMOOTH * smooth[i - 1] + (1 - _SMOOTH) * smooth[i]
    smooth = smooth[np.isfinite(smooth)]
    if not smooth.size or smooth[0] - smooth.min() < _FELT * abs(smooth[0]):
        return RateRange(0.0, 0.0, *tried)
    least = int(smooth.argmin())
    above = np.flatnonzero(smooth[:least] > smooth[0] - _BEGUN * (smooth[0] - smooth[least]))
    begun = int(above[-1]) + 1
    top = float(rates[least]) / _SAFE
    return RateRange(min(float(rates[begun]), top), top, *tried)
