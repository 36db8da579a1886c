"""What the classes and settings of Keras layers say, in words that every framework shares."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.inspection import all_layers, path_of
from whygrad.graph import OpKind
from whygrad.graph.learning import Activation, LayerFacts, LayerKind
from whygrad.observe.fact import Maker, OpFact
from whygrad.source import SourceSpan

_BY_NAME: Final = {each.value: each for each in Activation} | {
    "swish": Activation.SILU,
    "exponential": Activation.EXPONENTIAL,
}
_KINDS: Final[dict[LayerKind, str]] = {
    LayerKind.DENSE: "Dense EinsumDense",
    LayerKind.RECURRENT: "LSTM GRU SimpleRNN RNN Bidirectional ConvLSTM1D ConvLSTM2D ConvLSTM3D",
    LayerKind.EMBEDDING: "Embedding",
    LayerKind.DROPOUT: "Dropout SpatialDropout1D SpatialDropout2D SpatialDropout3D AlphaDropout GaussianDropout",
    LayerKind.NORMALISATION: "BatchNormalization SyncBatchNormalization LayerNormalization GroupNormalization "
    "UnitNormalization RMSNormalization Normalization SpectralNormalization",
    LayerKind.SCALING: "Rescaling",
    LayerKind.ARRANGING: "Reshape Flatten Permute RepeatVector Cropping1D Cropping2D Cropping3D UpSampling1D "
    "UpSampling2D UpSampling3D Identity",
    LayerKind.POOLING: "MaxPooling1D "
    "MaxPooling2D MaxPooling3D AveragePooling1D AveragePooling2D AveragePooling3D GlobalMaxPooling1D "
    "GlobalMaxPooling2D GlobalMaxPooling3D GlobalAveragePooling1D GlobalAveragePooling2D GlobalAveragePooling3D",
    LayerKind.ACTIVATION: "Activation Softmax ReLU LeakyReLU PReLU ELU ThresholdedReLU",
}
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()}
_SETTLED: Final = 0.05  # the share of its first value that may be left in an average
_BY_CLASS: Final = {"Softmax": Activation.SOFTMAX, "ReLU": Activation.RELU}
_NAMED_OPS: Final = "Softmax Sigmoid Tanh Relu Relu6 Elu Selu Softplus Softsign Exp Square Abs"
_OPS: Final = {name: Activation(name.lower()) for name in _NAMED_OPS.split()}
_STRAIGHT_OPS: Final = (
    "Reshape Identity Squeeze ExpandDims Cast StopGradient Transpose AddV2 Add BiasAdd ConcatV2 Pack "
    "StridedSlice Mean Sum Shape GatherV2 EnsureShape"
)
_STRAIGHT: Final = frozenset(_STRAIGHT_OPS.split(" "))
_ADDING: Final = ("AddV2", "Add", "BiasAdd", "Sum")
_BESIDE: Final = ("ConcatV2", "Pack")


def activation_of(op: OpFact) -> Activation:
    """The activation that an op is; a product with weights has none."""
    if op.kind is OpKind.CONTRACT:
        return Activation.LINEAR
    return _OPS.get(getattr(op, "type", ""), Activation.OTHER)


def bends(op: OpFact) -> bool:
    """Whether an op does more than arrange its inputs and add them up."""
    return getattr(op, "type", "") not in _STRAIGHT


def last_bend(number: int, maker: Maker) -> OpFact | None:
    """The op that bends last on the way to a tensor, or the first one of all."""
    return next(iter(list(_backwards(number, maker))[::-1]), None)


def is_mixed(number: int, maker: Maker) -> bool:
    """Whether something is added to what came out of the last op that bends, or it is put beside what another gave."""
    for op in _backwards(number, maker):
        ends = [last_bend(each, maker) for each in op.inputs] if getattr(op, "type", "") in _BESIDE else []
        if len({activation_of(end) for end in ends if end is not None and end.inputs}) > 1:
            return True
        if getattr(op, "type", "") in _ADDING:
            return True
    return False


def _backwards(number: int, maker: Maker) -> Iterator[OpFact]:
    """The ops that made a tensor, by their first inputs, up to one that bends."""
    op = maker(number)
    while op is not None:
        yield op
        op = maker(op.inputs[0]) if op.inputs and not bends(op) else None


def units_of(layer: Any, result: Any) -> int | None:
    """The elements of a result along the axis that its layer works on; None: not known."""
    shape = compat.shape_of(result)
    axis = getattr(layer, "axis", -1) if type(layer).__name__ == "Softmax" else -1
    return shape[axis] if shape and isinstance(axis, int) and -len(shape) <= axis < len(shape) else None


def is_single(layer: Any) -> bool:
    """Whether it is a layer that has no other layers inside, whose result is its own."""
    wrapper = type(layer).__name__ in ("TimeDistributed", "Bidirectional")
    return wrapper or len(all_layers(layer)) == 1


def facts_of(layer: Any, units: int | None, made: SourceSpan | None, into: int | None, *, shared: bool) -> LayerFacts:
    """What is known of a layer that was called."""
    inner = getattr(layer, "layer", None) if type(layer).__name__ == "TimeDistributed" else layer
    name = type(inner).__name__
    own = type(inner).__module__.split(".")[0] in ("keras", "tf_keras")
    kind = _KIND_OF.get(name, LayerKind.OTHER) if own else LayerKind.OTHER
    if own and kind is LayerKind.OTHER and "Conv" in name:
        kind = LayerKind.CONVOLUTION
    rate = getattr(inner, "rate", 0.0)
    return LayerFacts(
        name=path_of(layer),
        kind=kind,
        type_name=name,
        activation=_activation(inner, name) if own else Activation.OTHER,
        units=units,
        made=made,
        into=into,
        rate=float(rate) if isinstance(rate, (int, float)) and kind is LayerKind.DROPOUT else 0.0,
        shared=shared,
    )


def settled(layer: Any, facts: LayerFacts, steps: int) -> LayerFacts:
    """The same of a layer with moving averages, with how far these are from what the batches had; or never adapted.

    After n steps an average is `m^n * first + (1 - m^n) * mean`, so that the mean of the batches can be told from it.
    """
    if facts.type_name == "Normalization" and (learned := getattr(layer, "adapt_mean", None)) is not None:
        spread = np.asarray(layer.adapt_variance.numpy())
        return replace(facts, unadapted=not np.any(learned.numpy()) and bool(np.all(spread == 1.0)))
    momentum = getattr(layer, "momentum", None)
    mean, variance = getattr(layer, "moving_mean", None), getattr(layer, "moving_variance", None)
    if not isinstance(momentum, float) or mean is None or variance is None or not steps > 0:
        return facts
    rest = momentum**steps
    if not _SETTLED < rest < 1:
        return facts
    average, square = np.asarray(mean.numpy(), np.float64), np.asarray(variance.numpy(), np.float64)
    true, width = average / (1 - rest), np.sqrt(np.maximum((square - rest) / (1 - rest), 1e-6))
    off = np.maximum(np.abs(true - average) / width, np.abs(np.log(width / np.sqrt(np.maximum(square, 1e-12)))))
    return replace(facts, unsettled=rest, off=float(np.median(off)))


def _activation(layer: Any, name: str) -> Activation:
    given = getattr(layer, "activation", None)
    if name == "ReLU" and (getattr(layer, "negative_slope", None) or getattr(layer, "max_value", None)):
        return Activation.OTHER
    if name == "UnitNormalization" or (name == "Dot" and getattr(layer, "normalize", False)):
        return Activation.COSINE
    if name in _BY_CLASS:
        return _BY_CLASS[name]
    if given is None:
        known = _KIND_OF.get(name) is not LayerKind.ACTIVATION
        return Activation.LINEAR if known else Activation.OTHER
    own = str(getattr(given, "__module__", "")).split(".")[0] in ("keras", "tf_keras", "tensorflow")
    called = getattr(given, "__name__", "") if own else ""
    return _BY_NAME.get(called, Activation.OTHER)
