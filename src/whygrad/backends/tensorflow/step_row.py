"""One row of numbers for each training step, computed by the step itself."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Final

import tensorflow as tf

from whygrad.backends.tensorflow.gradient_part import Tensor
from whygrad.backends.tensorflow.statistics import basic, extremes, grouped, is_troubled, rescued, settled
from whygrad.backends.tensorflow.step_means import Means, is_big
from whygrad.backends.tensorflow.step_origin import changes_of, is_here, origin_of, total_of
from whygrad.backends.tensorflow.step_probe import Application, Request
from whygrad.graph.series import CHANNELS

SCALARS: Final = ("loss", "learning_rate", "loss_scale")


def row_width(application: Application) -> int:
    return len(SCALARS) + len(CHANNELS) * len(_present(application))


def application_row(application: Application, requests: Sequence[Request], means: Means, clipped: Any) -> Tensor:
    """[3 + 9 n]: the scalars of one application, and the channels of each variable that has a gradient."""
    present = _present(application)
    raw, loss = origin_of(application, requests)
    gradients = [raw[i] for i in present]
    changes = changes_of(application, present, means.compiled)
    if application.weight_norms is None:
        application.weight_norms = weight_norms(application, means)
    table, updates = _measured(gradients, changes, means)
    scale = None if application.scale is None else tf.cast(application.scale, means.dtype)
    if scale is not None and application.given_scaled:
        table = tf.concat([table[:4] / scale, table[4:]], 0)
    applied = _applied(application, gradients, table[1], scale, means, clipped)
    extra = tf.stack([tf.cast(application.weight_norms, means.dtype), updates, applied])
    return tf.concat([_scalars(application, loss, scale, means), tf.reshape(tf.concat([table, extra], 0), [-1])], 0)


def weight_norms(application: Application, means: Means) -> Tensor:
    """[n]: of the variables that have a gradient, before the update; of big ones only where the step is looked at."""
    values = [application.before[i] for i in _present(application)]
    return _sampled(values, means.norms, 0, means)


def clipped_norms(application: Application, means: Means) -> Tensor:
    """[n]: the norms of clipped gradients, in the graph where they were clipped."""
    assert application.clipped is not None
    return means.norms(application.clipped)


def scalar_outputs(outputs: Any) -> dict[str, Tensor]:
    """The numbers that a training step returns by name."""
    if not isinstance(outputs, Mapping):
        return {}
    return {
        str(name): value
        for name, value in outputs.items()
        if tf.is_tensor(value) and value.shape.rank == 0 and value.dtype.is_floating and is_here(value)
    }


def _present(application: Application) -> list[int]:
    return [i for i, gradient in enumerate(application.gradients) if gradient is not None]


def _measured(gradients: Sequence[Any], changes: Sequence[Any], means: Means) -> tuple[Tensor, Tensor]:
    """[6, n]: sum, norm, minimum, maximum, zeros and non-finite elements of gradients; [n]: norms of changes."""
    parts = [means.part(gradient) for gradient in gradients]
    groups = grouped(parts)
    sums = basic(groups, means.reducer, means.dtype)

    def spread(values: Sequence[Any]) -> Tensor:
        return extremes(grouped(values), means.reducer, means.dtype)

    extreme = _sampled(parts, spread, 1, means)
    updates = _sampled(changes, means.norms, 0, means)
    quiet = tf.stack([tf.sqrt(sums[1]), tf.zeros_like(sums[1])])
    norm, nonfinite = tf.unstack(
        tf.cond(is_troubled(groups, sums), lambda: rescued(groups, means.dtype), lambda: quiet), num=2
    )
    table = tf.concat([sums[:1], norm[tf.newaxis], extreme, nonfinite[tf.newaxis]], 0)
    return settled(parts, table, means.dtype), updates


def _sampled(items: Sequence[Any], measure: Any, axis: int, means: Means) -> Tensor:
    """What `measure` gives for each item, along an axis; of big ones it is unknown at most steps."""
    big = [i for i, item in enumerate(items) if is_big(item)]
    if not big or means.closely is True:
        return measure(items)
    small = [i for i in range(len(items)) if i not in big]

    def closely() -> Tensor:
        return measure([items[i] for i in big])

    depth = () if axis == 0 else (3,)
    blocks = [measure([items[i] for i in small])] if small else []
    blocks.append(tf.cond(means.closely, closely, lambda: means.unknown(*depth, len(big))))
    order = [*small, *big]
    return tf.gather(tf.concat(blocks, axis), sorted(range(len(order)), key=order.__getitem__), axis=axis)


def _applied(
    application: Application, gradients: Sequence[Any], norm: Tensor, scale: Any, means: Means, clipped: Any
) -> Tensor:
    """[n]: the norms of the gradients as the optimizer used them."""
    if clipped is not None:
        return tf.cast(clipped, means.dtype)
    if application.clipped is not None and len(application.clipped) == len(gradients):
        return means.norms(application.clipped)
    given = [application.gradients[i] for i in _present(application)]
    if all(mine is theirs for mine, theirs in zip(gradients, given, strict=True)):
        return norm
    norms = means.norms(given)
    return norms / scale if scale is not None and application.given_scaled else norms


def _scalars(application: Application, loss: Any, scale: Any, means: Means) -> Tensor:
    unknown = tf.cast(float("nan"), means.dtype)
    value = unknown if loss is None else total_of(loss, means.dtype)
    rate = unknown if application.rate is None else tf.cast(application.rate, means.dtype)
    return tf.stack([value if scale is None else value / scale, rate, unknown if scale is None else scale])
