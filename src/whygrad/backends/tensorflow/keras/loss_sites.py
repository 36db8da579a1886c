"""The losses of a program: what each is, by the framework's names, and what was seen of it."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, Final

import numpy as np

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.keras.data_facts import holds
from whygrad.backends.tensorflow.measure.array_values import joined, values_of
from whygrad.graph.learning import CROSS_ENTROPIES, Activation, LayerFacts, LossKind, Values
from whygrad.observe.place import Place

_MOST_LOOKS: Final = 24  # that are kept of the predictions of one
_KINDS: Final[dict[LossKind, str]] = {
    LossKind.BINARY: "binary_crossentropy binary_focal_crossentropy sigmoid_cross_entropy_with_logits "
    "weighted_cross_entropy_with_logits",
    LossKind.CATEGORICAL: "categorical_crossentropy categorical_focal_crossentropy softmax_cross_entropy_with_logits",
    LossKind.SPARSE: "sparse_categorical_crossentropy sparse_softmax_cross_entropy_with_logits",
    LossKind.REGRESSION: "mean_squared_error mean_absolute_error mean_absolute_percentage_error huber log_cosh "
    "mean_squared_logarithmic_error",
    LossKind.HINGE: "hinge squared_hinge",
    LossKind.DIVERGENCE: "kl_divergence kullback_leibler_divergence",
}
MARGIN: Final = "1 - y * p"
_KIND_OF: Final = {name: kind for kind, names in _KINDS.items() for name in names.split()} | {MARGIN: LossKind.MARGIN}


@dataclass(frozen=True, slots=True)
class LossFacts:
    """What a loss is, as far as it is known."""

    kind: LossKind
    name: str
    from_logits: bool
    made: Place
    compiled: bool  # it is called by the framework
    ignores: bool = False  # a label that stands for none

    @property
    def looks_behind(self) -> bool:
        """Whether it is one that Keras computes from logits wherever it finds them."""
        return self.kind in CROSS_ENTROPIES and "_with_logits" not in self.name and "focal" not in self.name


@dataclass(slots=True)
class LossSite:
    """One loss, and what was seen of it."""

    loss: LossFacts
    place: Place
    compiled: bool
    model: Any  # weakly
    trained: Place
    layers: tuple[tuple[Any, LayerFacts], ...]  # each with the layer itself, weakly
    activation: Activation
    mixed: bool
    logits_kept: bool  # Keras takes the numbers from in front of the activation
    targets: Values
    shape: Values  # of the predictions, before any was looked at
    predictions: list[Values] = field(default_factory=list)
    inputs: tuple[Values, ...] = ()
    taps: list[tuple[Any, Any, tuple[Any, ...]]] = field(default_factory=list)  # targets, predictions, inputs
    turn: int = 0
    holding: bool | None = None  # the targets were a column of the inputs, whenever that was looked at

    def look(self, targets: Any, prediction: Any, inputs: list[Any]) -> None:
        known, predicted = values_of(targets, levels=True), values_of(prediction)
        if known is not None:
            self.targets = joined(self.targets, known)
        if predicted is not None:
            self.predictions[min(len(self.predictions), _MOST_LOOKS) :] = [predicted]
        arrays = [each for each in (*inputs, targets) if isinstance(each, np.ndarray) and each.size]
        if len(arrays) == len(inputs) + 1 == 2:  # a step that has not run leaves nothing
            self.holding = self.holding is not False and holds(*arrays)
        if not self.inputs:
            self.inputs = tuple(each for array in inputs if (each := values_of(array)) is not None)


def loss_object(loss: Any, made: Place, *, compiled: bool) -> LossFacts:
    """What a loss object is."""
    name, own = _name_of(loss)
    return LossFacts(
        kind=_KIND_OF.get(name, LossKind.OTHER) if own else LossKind.OTHER,
        name=name,
        from_logits=bool(compat.option_of_loss(loss, "from_logits")),
        made=made,
        compiled=compiled,
        ignores=compat.option_of_loss(loss, "ignore_class") is not None,
    )


def loss_function(name: str, *, of_logits: bool) -> LossFacts:
    """What a loss function of the framework's is."""
    short = name.removesuffix("_v2")
    return LossFacts(_KIND_OF.get(short, LossKind.OTHER), short, of_logits, None, compiled=False)


def _name_of(loss: Any) -> tuple[str, bool]:
    """What a loss is called, and whether it is the framework's own."""
    function = getattr(loss, "fn", None)
    home = type(loss) if function is None else function
    own = str(getattr(home, "__module__", "")).split(".")[0] in ("keras", "tf_keras")
    return str(getattr(home, "__name__", type(loss).__name__)), own


def unseen(tensor: Any) -> Values:
    """What is known of a tensor before the step runs."""
    shape: Any = getattr(tensor, "shape", None)
    dtype = getattr(tensor, "dtype", None)
    known = shape is not None and getattr(shape, "rank", 0) is not None
    return Values(shape=tuple(shape) if known else (), dtype=str(getattr(dtype, "name", dtype or "")))
