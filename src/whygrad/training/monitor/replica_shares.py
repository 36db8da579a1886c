"""What each replica of a step contributed to the summed gradient: its loss, its gradients, whether they are finite."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow.measure.gradient_part import Tensor
from whygrad.backends.tensorflow.measure.step_means import Means
from whygrad.graph.series import CHANNELS
from whygrad.training.monitor.step_origin import is_here, total_of
from whygrad.training.monitor.step_probe import Application, AskedGradient
from whygrad.training.monitor.step_row import SCALARS, gradient_table, present_of


@dataclass(frozen=True, slots=True)
class Share:
    """One replica of this process."""

    loss: Any  # None: the gradients came from elsewhere
    gradients: tuple[Any, ...]  # of the variables that have one in the application; None where a tape was not asked


def shares_of(application: Application, asked: Sequence[AskedGradient], replicas: int) -> list[Share]:
    """The share of each replica in what an optimizer was given."""
    variables = present_of(application, application.variables)
    found = []
    for place in range(replicas):
        loss, gradients = None, []
        for variable in variables:
            mine = [each for each in asked if each.replica == place and id(variable) in each.gradients]
            gradient = mine[-1].gradients[id(variable)] if mine else None
            loss = mine[-1].target if mine and loss is None else loss
            gradients.append(gradient if gradient is not None and is_here(gradient) else None)
        found.append(Share(loss, tuple(gradients)))
    return found


def replica_row(share: Share, means: Means) -> Tensor:
    """[3 + 9 n]: the numbers of one replica's own gradients; what belongs to all of them is unknown here."""
    known = [gradient for gradient in share.gradients if gradient is not None]
    if len(known) < len(share.gradients):
        return means.unknown(len(SCALARS) + len(CHANNELS) * len(share.gradients))
    table = tf.reshape(gradient_table(known, means), [-1])
    scalars = tf.concat([_loss(share, means)[tf.newaxis], means.unknown(len(SCALARS) - 1)], 0)
    return tf.concat([scalars, table, means.unknown(3 * len(known))], 0)


def contributions(shares: Sequence[Sequence[Share]], norms: Tensor, means: Means) -> Tensor:
    """[2 n]: the loss of each replica, then how many elements of its gradients are not finite.

    `shares` has those of each application; `norms` are those of the sums: only where one of them or of the losses is
    not finite are the gradients looked at.
    """
    replicas = list(zip(*shares, strict=True))
    losses = tf.stack([_loss(each[0], means) for each in replicas])

    def look() -> Tensor:
        return tf.stack([_bad_elements(each, means) for each in replicas])

    finite = tf.math.is_finite(tf.reduce_sum(losses) + tf.reduce_sum(norms))
    bad = tf.cond(finite, lambda: tf.zeros([len(replicas)], means.dtype), look)
    return tf.concat([losses, bad], 0)


def with_bad_elements(table: Tensor, shares: Sequence[Share], means: Means) -> Tensor:
    """[6, n]: a table from a branch; where that was not taken, at least how many elements are not finite here."""
    unknown = tf.math.is_nan(table[-1])

    def look() -> Tensor:
        return tf.stack(
            [_bad_elements([Share(None, each)], means) for each in zip(*(s.gradients for s in shares), strict=True)]
        )

    counts = tf.cond(tf.reduce_any(unknown), look, lambda: tf.zeros_like(table[-1]))
    return tf.concat([table[:-1], tf.where(unknown, counts, table[-1])[tf.newaxis]], 0)


def _loss(share: Share, means: Means) -> Tensor:
    return tf.cast(float("nan"), means.dtype) if share.loss is None else total_of(share.loss, means.dtype)


def _bad_elements(shares: Sequence[Share], means: Means) -> Tensor:
    known = [getattr(g, "values", g) for share in shares for g in share.gradients if g is not None]
    counts = [tf.reduce_sum(tf.cast(~tf.math.is_finite(values), means.dtype)) for values in known]
    return tf.add_n(counts) if counts else tf.zeros([], means.dtype)
