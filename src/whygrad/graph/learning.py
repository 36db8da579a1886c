"""What a training compares: predictions with targets, by a loss; and the layers that made the predictions."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

from whygrad.graph.objects import CompiledMetric
from whygrad.source import SourceSpan


class Activation(StrEnum):
    """What a layer does to its numbers last."""

    LINEAR = "linear"
    SIGMOID = "sigmoid"
    SOFTMAX = "softmax"
    TANH = "tanh"
    RELU = "relu"
    RELU6 = "relu6"
    ELU = "elu"
    SELU = "selu"
    GELU = "gelu"
    SILU = "silu"
    SOFTPLUS = "softplus"
    SOFTSIGN = "softsign"
    HARD_SIGMOID = "hard_sigmoid"
    EXPONENTIAL = "exp"
    SQUARE = "square"
    ABSOLUTE = "abs"
    COSINE = "cosine"  # of two vectors, or the parts of one of length one
    OTHER = "other"


class LayerKind(StrEnum):
    """What a layer is for."""

    DENSE = "dense"
    CONVOLUTION = "convolution"
    RECURRENT = "recurrent"
    EMBEDDING = "embedding"
    DROPOUT = "dropout"
    NORMALISATION = "normalisation"  # of a batch, of a layer, of the data
    SCALING = "scaling"  # by constants
    ARRANGING = "arranging"  # the same numbers in another shape
    POOLING = "pooling"  # the largest numbers of several, or their mean
    ACTIVATION = "activation"
    OTHER = "other"


PASSING = (LayerKind.DROPOUT, LayerKind.ARRANGING, LayerKind.POOLING)  # what goes in bounds what comes out


class LossKind(StrEnum):
    """What a loss takes its targets for."""

    BINARY = "binary"  # cross-entropy: each number is the probability of a yes
    CATEGORICAL = "categorical"  # cross-entropy: each row is a distribution over classes
    SPARSE = "sparse"  # cross-entropy: the number of the class
    DIVERGENCE = "divergence"  # of two distributions
    REGRESSION = "regression"  # a distance
    HINGE = "hinge"  # -1 or 1; zeros count as -1
    MARGIN = "margin"  # -1 or 1 as they are, of a hinge that is written by hand
    OTHER = "other"


CROSS_ENTROPIES = (LossKind.BINARY, LossKind.CATEGORICAL, LossKind.SPARSE)


@dataclass(frozen=True, slots=True, kw_only=True)
class Values:
    """What a sample of the rows of an array holds. Its numbers are those that are finite."""

    shape: tuple[int | None, ...] = ()  # of the whole
    dtype: str = ""
    rows: int = 0  # that were looked at; 0: only shape and dtype are known
    minimum: float = 0.0
    maximum: float = 0.0
    mean: float = 0.0
    deviation: float = 0.0
    levels: tuple[
        float, ...
    ] = ()  # of targets: the means of the parts, all of one size, that its numbers make in order
    whole: bool = False  # every number is a whole one
    distinct: int = 0  # different numbers, as far as they were counted
    nonfinite: int = 0
    sums: tuple[float, float] = (0.0, 0.0)  # of the elements of a row: the smallest and the largest
    ones: tuple[int, int] | None = None  # in a row of zeros and ones: the fewest and the most; None: other numbers too
    alike: bool = False  # every row is the same
    constant: int = 0  # features that are the same in every row
    spread: float = 0.0  # the largest difference between two rows in one feature
    scales: tuple[float, float] = (0.0, 0.0)  # the size of a feature that is not constant: the smallest, the largest

    @property
    def units(self) -> int | None:
        """The elements of the last axis; None: not known."""
        return self.shape[-1] if self.shape else None

    @property
    def is_known(self) -> bool:
        return self.rows > 0

    @property
    def is_one_hot(self) -> bool:
        """Each row has a single one among zeros, and there is more than one column."""
        return self.ones == (1, 1) and len(self.shape) > 1 and (self.units or 0) > 1

    @property
    def is_binary(self) -> bool:
        return self.is_known and self.whole and self.minimum >= 0 and self.maximum <= 1


@dataclass(frozen=True, slots=True, kw_only=True)
class LayerFacts:
    """A layer on the way to the predictions."""

    name: str
    kind: LayerKind
    type_name: str = ""
    activation: Activation = Activation.LINEAR
    units: int | None = None  # the elements of the last axis of its result
    made: SourceSpan | None = None
    activated: SourceSpan | None = None  # where an activation is applied that is not the layer's own
    bent: bool = False  # after an activation of its own, other ops bend its result before the next layer or the loss
    into: int | None = None  # the position of the layer that it feeds; None: the loss
    rate: float = 0.0  # of what is dropped
    shared: bool = False  # it feeds others too
    positions: bool = False  # it is given whole numbers that do not come with the batch
    unsettled: float = 0.0  # of moving averages: the share of their first value that is still in them
    off: float = 0.0  # how far these averages are from those of the batches, in deviations
    unadapted: bool = False  # a normalisation of the data that was given none to learn from: it passes them on


class Missed(StrEnum):
    """How data disagree with what they were handed in for."""

    TARGETS_AS_INPUTS = "targets-as-inputs"  # both are taken from one table, and the inputs hold the targets
    TARGETS_AMONG_INPUTS = "targets-among-inputs"  # a column of the inputs is the targets, wherever it comes from
    VALIDATION_IN_TRAINING = "validation-in-training"  # the same rows
    VALIDATION_TRAINED_BEFORE = "validation-trained-before"  # in an earlier training, whose weights are still there
    SPLIT_ANEW = "split-anew"  # data are shuffled each time before a part of them is cut off for validation
    SHUFFLED_APART = "shuffled-apart"  # inputs and targets, before they were put together


@dataclass(frozen=True, slots=True, kw_only=True)
class Objective:
    """One loss of a training, with what it compares; calls at the same place are one."""

    loss: LossKind
    name: str  # of the loss
    from_logits: bool = False
    logits_kept: bool = False  # the loss looks behind the activation, and takes the logits from there
    ignores: bool = False  # some label stands for no class
    where: SourceSpan | None = None  # where the loss is given, or called
    made: SourceSpan | None = None  # where the loss object was made
    compiled: bool = False  # it was given to `compile`, not called by user code
    model: str = ""
    trained: SourceSpan | None = None  # where the training was started
    layers: tuple[LayerFacts, ...] = ()  # from the predictions backwards; a layer comes after the one it feeds
    activation: Activation = Activation.OTHER  # of the predictions
    mixed: bool = False  # something is added to what came out of the activation, or stands beside it
    targets: Values = Values()
    predictions: tuple[Values, ...] = ()  # at a few steps, the first and the latest among them
    inputs: tuple[Values, ...] = ()
    missed: tuple[Missed, ...] = ()
    metrics: tuple[CompiledMetric, ...] = ()
    weighted: bool = False  # examples or classes have weights
    whole: bool = False  # the targets are known as a whole, not by some batches
    evaluated: bool = False  # the model was used outside of training
    steps: int = 0

    @property
    def output(self) -> LayerFacts | None:
        """The layer that gives the predictions their last activation, or their last map."""
        return next((each for each in self.layers if each.kind not in PASSING), None)

    @property
    def predicted(self) -> Values:
        """The predictions of the first step that was looked at."""
        return self.predictions[0] if self.predictions else Values()
