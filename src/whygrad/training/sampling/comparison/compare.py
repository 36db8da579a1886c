"""Measure estimators on the user's own loss."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np
import tensorflow as tf

from whygrad.arguments import check_callable, check_choice, check_number, check_whole, words_in
from whygrad.training.sampling import noise
from whygrad.training.sampling.arguments import ParameterError, check_axis, check_same_shape, floating, matching
from whygrad.training.sampling.comparison.family import DRAWS, FAMILIES, UNBIASED, Estimator, Family, scored
from whygrad.training.sampling.comparison.gradients import Loss, estimates, exact
from whygrad.training.sampling.comparison.result import Comparison, recommend
from whygrad.training.sampling.comparison.statistics import Reference, estimated_reference, exact_reference, length, row


def compare(
    estimators: Iterable[str] | Mapping[str, str | Estimator] | None,
    loss: Loss,
    parameters: Any,
    *,
    samples: int = 2000,
    distribution: str = "categorical",
    reference: Any = None,
    reference_samples: int | None = None,
    budget: float | None = None,
    seed: noise.Seed = (0, 0),
) -> Comparison:
    """Bias, variance and error of gradient estimators on your own loss; prints as a table with a recommendation.

    Args:
        estimators: names of estimators of the distribution (None: all of them), or a mapping from a name of yours to
            such a name or to a function `(loss, parameters, seed) -> losses`. The function gets a batch of independent
            copies of the parameters, a loss that takes any number of samples in front, and returns a loss per copy:
            `lambda loss, logits, seed: loss(gumbel_softmax(logits, 0.1, seed=seed))`.
        loss: from one sample, of the shape of the parameters, to a scalar.
        parameters: logits for "categorical" (last axis) and "bernoulli", a pair (mean, scale) for "normal".
        samples: how many gradients to draw from each estimator.
        reference: the true gradient, if you know it. Otherwise it is computed by going through every possible sample
            if there are at most 4096, else estimated by a long score-function run of `reference_samples` draws
            (100 times `samples`).
        budget: evaluations of the loss in one training step, at which the errors are compared: an estimator that takes
            fewer for one estimate averages more estimates. None: as many as the most expensive one takes.
    """
    check_choice("distribution", distribution, tuple(FAMILIES), error=ParameterError)
    check_callable("loss", loss, help="it takes one sample and returns one number", error=ParameterError)
    check_whole("samples", samples, least=2, help="a variance needs two samples: `samples=2000`", error=ParameterError)
    if reference_samples is not None:
        check_whole("reference_samples", reference_samples, error=ParameterError)
    if budget is not None:
        check_number("budget", budget, "a positive number", lambda number: number > 0, error=ParameterError)
    family = FAMILIES[distribution]
    wanted = _wanted(estimators, family, distribution)
    values = _values(parameters, distribution)
    event, pair = tuple(tf.nest.flatten(values)[0].shape), _pair(seed)
    truth, name = _reference(family, loss, values, event, reference, reference_samples or 100 * samples, pair)
    functions = {key: family.estimators[each] if isinstance(each, str) else each for key, each in wanted.items()}
    found = {
        key: estimates(function, loss, values, event, samples, tf.random.fold_in(pair, 1))
        for key, function in functions.items()
    }
    spent = budget or max(1.0, *(e.evaluations for e in found.values()))
    unit = length(truth, [e.gradients for e in found.values()])
    rows = tuple(row(key, choice in UNBIASED, found[key], truth, unit or 1.0, spent) for key, choice in wanted.items())
    recommended, reason = recommend(rows, spent)
    return Comparison(
        rows=rows,
        recommended=recommended,
        reason=reason,
        samples=samples,
        budget=spent,
        reference=name,
        relative=unit > 0.0,
    )


def _values(parameters: Any, distribution: str) -> Any:
    if distribution != "normal":
        logits = floating(parameters, "parameters")
        if distribution == "categorical":
            check_axis(logits, -1, "parameters")
        return logits
    if not isinstance(parameters, tuple | list) or len(parameters) != 2:
        raise ParameterError("`parameters` of a normal distribution are two tensors", help="pass (mean, scale)")
    mean = floating(parameters[0], "mean")
    scale = matching(parameters[1], mean, "scale", "mean")
    check_same_shape(mean, scale, "mean", "scale", help="give both one entry per element of the sample")
    return mean, scale


def _pair(seed: noise.Seed) -> Any:
    pair = noise.stateless(seed)
    return tf.random.uniform([2], maxval=2**31 - 1, dtype=tf.int32) if pair is None else tf.cast(pair, tf.int32)


def _wanted(
    estimators: Iterable[str] | Mapping[str, str | Estimator] | None, family: Family, distribution: str
) -> Mapping[str, str | Estimator]:
    if estimators is None:
        estimators = family.estimators.keys()
    known = f"pass some of {', '.join(family.estimators)}, or a function (loss, parameters, seed) -> losses"
    if not isinstance(estimators, Mapping):
        estimators = words_in("estimators", estimators, help=known)
    wanted: Mapping[str, str | Estimator]
    wanted = estimators if isinstance(estimators, Mapping) else {name: name for name in estimators}
    unknown = [name for name in wanted.values() if isinstance(name, str) and name not in family.estimators]
    if unknown or not wanted:
        raise ParameterError(
            f"no estimator {unknown[0]!r} for the {distribution} distribution" if unknown else "no estimators given",
            help=known,
        )
    for each in wanted.values():
        if not isinstance(each, str):
            check_callable("estimators", each, help=known, error=ParameterError)
    return wanted


def _reference(
    family: Family, loss: Loss, values: Any, event: tuple[int, ...], given: Any, samples: int, pair: Any
) -> tuple[Reference, str]:
    if given is not None:
        parts = [floating(part, "reference").numpy().reshape(-1) for part in tf.nest.flatten(given)]
        flat = np.concatenate([np.empty(0), *parts])
        size = sum(int(np.prod(part.shape)) for part in tf.nest.flatten(values))
        if flat.size != size:
            raise ParameterError(
                f"`reference` has {flat.size} numbers, and the parameters {size}",
                help="pass the gradient of the mean loss with respect to the parameters",
            )
        return exact_reference(flat.astype(np.float64)), "the gradient you gave"
    listed = exact(family, loss, values, event, tf.nest.flatten(values)[0].dtype)
    if listed is not None:
        return exact_reference(listed), "the exact gradient by enumeration"
    runs = max(2, math.ceil(samples / DRAWS))
    long = estimates(scored(family.draw, DRAWS), loss, values, event, runs, tf.random.fold_in(pair, 0))
    return estimated_reference(long.gradients), f"a score-function run of {runs * DRAWS} draws"
