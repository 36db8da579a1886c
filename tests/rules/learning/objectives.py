"""Trainings made by hand: a loss, its targets and predictions, and the layers before it."""

from __future__ import annotations

from typing import Any

from rules.diagnosis import at
from whygrad.graph import (
    GradientNumbers,
    Graph,
    Outcome,
    Pairing,
    Recording,
    Request,
    Source,
    Update,
    Variable,
    VariableId,
)
from whygrad.graph.learning import Activation, LayerFacts, LayerKind, LossKind, Objective, Values
from whygrad.graph.node import Tape, TapeId, Tensor, TensorId

W = Variable(id=VariableId(1), name="dense/kernel", dtype="float32", shape=(4, 4))


def values(low: float = 0.0, high: float = 1.0, *, shape: tuple[int, ...] = (64,), **facts: Any) -> Values:
    """Numbers from low to high; whole ones unless it is said otherwise."""
    known: dict[str, Any] = {
        "rows": 64,
        "minimum": low,
        "maximum": high,
        "mean": (low + high) / 2,
        "deviation": (high - low) / 2,
        "whole": True,
        "distinct": int(high - low) + 1,
        "spread": high - low,
    }
    return Values(shape=shape, dtype="float32", **{**known, **facts})


def one_hot(classes: int, **facts: Any) -> Values:
    return values(shape=(64, classes), ones=(1, 1), sums=(1.0, 1.0), **facts)


def dense(
    units: int, activation: Activation = Activation.LINEAR, *, line: int = 5, into: int | None = None, **facts: Any
) -> LayerFacts:
    facts.setdefault("kind", LayerKind.DENSE)
    return LayerFacts(name=f"net/dense_{line}", activation=activation, units=units, made=at(line), into=into, **facts)


def trained(
    loss: LossKind,
    last: LayerFacts,
    targets: Values,
    *others: LayerFacts,
    predictions: tuple[Values, ...] = (),
    losses: tuple[float, ...] = (),
    rate: float | None = None,
    **facts: Any,
) -> Recording:
    """One training with `fit` in line 9, compiled in line 8; its loss over 40 steps."""
    names = {
        LossKind.BINARY: "binary_crossentropy",
        LossKind.CATEGORICAL: "categorical_crossentropy",
        LossKind.SPARSE: "sparse_categorical_crossentropy",
        LossKind.REGRESSION: "mean_squared_error",
        LossKind.HINGE: "hinge",
        LossKind.MARGIN: "1 - y * p",
        LossKind.OTHER: "my_loss",
    }
    predicted = predictions or (values(0.1, 0.9, shape=(64, last.units or 1), whole=False),)
    known: dict[str, Any] = {"where": at(8), "compiled": True, "model": "net", "trained": at(9), "steps": 40}
    objective = Objective(
        loss=loss,
        name=names[loss],
        layers=(last, *others),
        activation=last.activation,
        targets=targets,
        predictions=predicted,
        **{**known, **facts},
    )
    return Recording(
        objectives=(objective,),
        requests=(_request(losses),) if losses else (),
        updates=() if rate is None else (_update(rate),),
        variables={W.id: W} if losses else {},
        tapes={TapeId(1): Tape(id=TapeId(1))} if losses else {},
    )


def _request(losses: tuple[float, ...]) -> Request:
    numbers = GradientNumbers(norms=tuple(1.0 for _ in losses), weight=2.0, moved=True)
    source = Source(variable=W.id, outcome=Outcome.PRESENT, numbers=numbers)
    steps = tuple(40 * n // len(losses) for n in range(len(losses)))
    graph = Graph(tensors={TensorId(5): Tensor(id=TensorId(5), dtype="float32", shape=())})
    return Request(
        tape=TapeId(1),
        targets=(TensorId(5),),
        sources=(source,),
        graph=graph,
        where=at(9),
        steps=steps,
        ran=40,
        losses=losses,
    )


def _update(rate: float) -> Update:
    pair = Pairing(variable=W.id, gradient_of=frozenset({W.id}))
    return Update(optimizer="sgd", optimizer_id=1, pairs=(pair,), where=at(9), made=at(7), rate=rate, seen=40)
