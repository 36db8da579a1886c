"""`wg.accumulate`: gradient accumulation for `compile` and `fit`."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from whygrad.errors import AccumulationError
from whygrad.training.accumulation.arguments import Settings, Weigh
from whygrad.training.accumulation.optimizer import AccumulatingOptimizer
from whygrad.training.replicas import refuse_coordinated
from whygrad.training.wrapping.by_keras import register_wrappers, wrapper_class
from whygrad.training.wrapping.delegating import check_optimizer


def accumulate(
    optimizer: Any,
    steps: int,
    *,
    partial: str = "apply",
    weight: str | Weigh = "auto",
    reduction: str = "auto",
    nonfinite: str = "window",
    buffer_dtype: str | None = None,
    name: str | None = None,
) -> Any:
    """An optimizer that updates once per `steps` micro-batches, with the gradient that the big batch would have.

    Hand it to `compile`; nothing else is needed in `fit`. It wraps any optimizer of Keras 3 or tf_keras, also a
    `LossScaleOptimizer`. Learning-rate schedule, `iterations`, weight decay, clipping and EMA belong to that
    optimizer and act once per update.

    `partial`: a window left unfinished at the end of an epoch is applied with its right weight (`"apply"`), continued
    in the next epoch (`"carry"`), or forgotten (`"drop"`). `optimizer.flush()` applies one by hand.

    `weight`: what a micro-batch counts for in the mean. `"auto"` is what Keras divided its loss by: examples, unmasked
    time steps where the predictions carry a mask, or sample weights for `reduction="mean_with_sample_weight"`. In a
    `train_step` or `compute_loss` of your own it is the number of examples in `data`. `"examples"` and `"equal"` say it
    outright, and a function of `(x, y, sample_weight)` returns it. In a loop of your own, pass
    `apply_gradients(pairs, weight=n)`.

    `reduction`: whether the loss is a `"mean"` or a `"sum"` over the batch; `"auto"` asks the compiled losses.

    `nonfinite`: with loss scaling, a NaN or infinity in one micro-batch leaves out its whole `"window"`, as it would
    the big batch, or only that `"microbatch"`. Either is counted in `optimizer.dropped`, and reported when the
    epoch ends. Under the policy `mixed_float16`, `compile` puts a `LossScaleOptimizer` around this one, which leaves
    micro-batches out without a word; `wg.accumulate(LossScaleOptimizer(...), steps)` reports them.

    Saved with the model, a half-full window included; name `wg.accumulate` before loading, so that Keras knows it.

    `buffer_dtype="float32"`: sum float16 and bfloat16 gradients in float32.
    """
    settings = Settings(
        steps=steps, partial=partial, weight=weight, reduction=reduction, nonfinite=nonfinite, buffer_dtype=buffer_dtype
    )
    _check_optimizer(optimizer, name)
    refuse_coordinated("accumulation", AccumulationError)
    return wrapper_class(AccumulatingOptimizer, optimizer)(optimizer, name=name, **asdict(settings))


def _check_optimizer(optimizer: Any, name: str | None) -> None:
    check_optimizer(optimizer, name, AccumulationError)
    for candidate in (optimizer, getattr(optimizer, "inner_optimizer", None)):
        already = getattr(candidate, "gradient_accumulation_steps", None)
        if already:
            raise AccumulationError(
                f"the optimizer accumulates by itself already (gradient_accumulation_steps={already})",
                help="leave out gradient_accumulation_steps",
            )
        if hasattr(candidate, "accumulation"):
            raise AccumulationError(
                "the optimizer accumulates already", help="call wg.accumulate once, with the product of the steps"
            )


# Naming `wg.accumulate` must be enough to load a model that was saved with it.
register_wrappers(AccumulatingOptimizer)
