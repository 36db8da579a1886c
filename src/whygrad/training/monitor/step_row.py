"""One row of numbers for each training step, computed by the step itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor
from whygrad.backends.tensorflow.measure.statistics import (
    EXTREMES,
    basic,
    extremes,
    grouped,
    is_troubled,
    rescued,
    settled,
)
from whygrad.backends.tensorflow.measure.step_means import Means, is_big
from whygrad.graph.series import CHANNELS
from whygrad.training.monitor.step_origin import changes_of, gradients_and_loss, is_here, total_of
from whygrad.training.monitor.step_probe import Application, AskedGradient

SCALARS: Final = ("loss", "learning_rate", "loss_scale")


def row_width(application: Application) -> int:
    return len(SCALARS) + len(CHANNELS) * len(_present(application))


def application_row(
    application: Application, asked: Sequence[AskedGradient], means: Means, clipped: Any, table: Any = None
) -> Tensor:
    """[3 + 9 n]: the scalars of one application, and the channels of each variable that has a gradient.

    `table`: the first six channels, where they were taken in a branch.
    """
    present = _present(application)
    raw, loss = gradients_and_loss(application, asked)
    gradients = [raw[i] for i in present]
    changes = changes_of(application, present, means.compiled)
    if application.weight_norms is None:
        application.weight_norms = weight_norms(present_of(application, application.before), means)
    deltas = [change.delta for change in changes]
    if table is None:
        parts = [means.part(gradient) for gradient in gradients]
        application.measured = parts, changes
        columns, updates = _measured(parts, deltas, means)
    else:
        columns, updates = tf.unstack(table, num=len(CHANNELS) - 3), weight_norms(deltas, means)
    scale = None if application.scale is None else tf.cast(application.scale, means.dtype)
    if scale is not None and application.given_scaled:
        columns[:4] = [column / scale for column in columns[:4]]
    applied = _applied(application, gradients, columns[1], scale, means, clipped)
    weights = tf.cast(application.weight_norms, means.dtype)
    return tf.concat([_scalars(application, loss, scale, means), *columns, weights, updates, applied], 0)


def weight_norms(values: Sequence[Any], means: Means) -> Tensor:
    """[n]: of values, or of variables as they are now; of big ones only where the step is looked at.

    Big variables are not even read elsewhere: one that is still held when it is updated has to be copied.
    """
    small, big, places = _parted(values)
    if not big or means.closely is True:
        return means.norms(values)
    rest = tf.cond(means.closely, lambda: means.norms([values[i] for i in big]), lambda: means.unknown(len(big)))
    return tf.gather(tf.concat([means.norms([values[i] for i in small]), rest], 0), places)


def _parted(things: Sequence[Any]) -> tuple[list[int], list[int], list[int]]:
    """The positions of small ones and of big ones, and where each is found when the big ones come last."""
    small, big = ([i for i, each in enumerate(things) if is_big(each) == wanted] for wanted in (False, True))
    order = [*small, *big]
    return small, big, sorted(range(len(order)), key=order.__getitem__)


def gradient_table(gradients: Sequence[Any], means: Means) -> Tensor:
    """[6, n]: what is known of gradients alone."""
    return tf.stack(_measured([means.part(gradient) for gradient in gradients], [], means)[0])


def mean_outputs(outputs: Sequence[Any]) -> dict[str, Tensor]:
    """The numbers that a training step returns by name, on average over the replicas of this process."""
    if not outputs or not all(isinstance(each, Mapping) for each in outputs):
        return {}
    return {
        str(name): value if len(outputs) == 1 else tf.add_n([each[name] for each in outputs]) / len(outputs)
        for name, value in outputs[0].items()
        if tf.is_tensor(value) and value.shape.rank == 0 and value.dtype.is_floating and is_here(value)
    }


def present_of(application: Application, things: Sequence[Any]) -> list[Any]:
    """Of one thing for each variable, those of the variables that have a gradient."""
    return [things[i] for i in _present(application)]


def _present(application: Application) -> list[int]:
    return [i for i, gradient in enumerate(application.gradients) if gradient is not None]


def _measured(parts: Sequence[Part], changes: Sequence[Any], means: Means) -> tuple[list[Tensor], Tensor]:
    """[n] each: sum, norm, minimum, maximum, zeros and non-finite elements of gradients; and norms of changes."""
    groups = grouped(parts)
    total, half = basic(groups, means.reducer, means.dtype)
    minimum, maximum, nonzero, updates = _sampled(parts, changes, means)
    norm, nonfinite = tf.cond(
        is_troubled(groups, tf.where(nonzero > 0, nonzero, total), half),  # at most steps that of big ones is not known
        lambda: rescued(groups, means.dtype),
        lambda: [tf.sqrt(2 * half), tf.zeros_like(half)],
    )
    return settled(parts, [total, norm, minimum, maximum, nonzero, nonfinite], means.dtype), updates


def _sampled(parts: Sequence[Part], changes: Sequence[Any], means: Means) -> list[Tensor]:
    """Extremes of gradients, [n] each, and norms of changes; of big ones they are unknown at most steps."""
    one, two, deep = _parted(parts), _parted(changes), len(EXTREMES)

    def seen(of: Sequence[int], by: Sequence[int]) -> list[Tensor]:
        groups = grouped([parts[i] for i in of])
        found = extremes(groups, means.reducer, means.dtype) if groups else [tf.zeros([0], means.dtype)] * deep
        return [*found, means.norms([changes[i] for i in by])]

    if means.closely is True or not (one[1] or two[1]):
        return seen(range(len(parts)), range(len(changes)))
    rest = tf.cond(
        means.closely,
        lambda: tf.concat(seen(one[1], two[1]), 0),
        lambda: means.unknown(deep * len(one[1]) + len(two[1])),
    )
    places = [each for few, more in zip(one[:2], two[:2], strict=True) for each in (*[few] * deep, more)]
    order = [(column % (deep + 1), i) for column, some in enumerate(places) for i in some]
    flat = tf.concat([*(column for column in seen(one[0], two[0]) if column.shape[0]), rest], 0)
    flat = tf.gather(flat, sorted(range(len(order)), key=order.__getitem__))
    return list(tf.split(flat, [len(parts)] * deep + [len(changes)]))


def _applied(
    application: Application, gradients: Sequence[Any], norm: Tensor, scale: Any, means: Means, clipped: Any
) -> Tensor:
    """[n]: the norms of the gradients as the optimizer used them."""
    if clipped is not None:
        return tf.cast(clipped, means.dtype)
    if application.clipped is not None and len(application.clipped) == len(gradients):
        return means.norms(application.clipped)
    if application.reduced is not None:
        return norm
    given = [application.gradients[i] for i in _present(application)]
    if all(mine is theirs for mine, theirs in zip(gradients, given, strict=True)):
        return norm
    norms = means.norms(given)
    return norms / scale if scale is not None and application.given_scaled else norms


def _scalars(application: Application, loss: Any, scale: Any, means: Means) -> Tensor:
    unknown = tf.cast(float("nan"), means.dtype)
    value = unknown if loss is None else total_of(loss, means.dtype)
    if application.replica is not None:  # of those elsewhere nothing is seen
        value *= application.replica.count / application.replica.here
    rate = unknown if application.rate is None else tf.cast(application.rate, means.dtype)
    return tf.stack([value if scale is None else value / scale, rate, unknown if scale is None else scale])
