"""TensorFlow's op names in whygrad's words. Data only; whether an op has a gradient is asked of TensorFlow."""

from __future__ import annotations

import functools
from typing import Final

from whygrad.graph import Action as A  # noqa: N817
from whygrad.graph import NotATensor
from whygrad.graph import OpKind as K

_BY_KIND: Final[dict[K, str]] = {
    K.CONSTANT: "Const Placeholder PlaceholderWithDefault Fill Range LinSpace Eye ImmutableConst",
    K.READ: "ReadVariableOp ResourceGather ResourceGatherNd",
    K.SHAPE: "Shape ShapeN Size Rank ZerosLike OnesLike BroadcastGradientArgs BroadcastArgs VariableShape EnsureShape_ "
    "VarIsInitializedOp TensorListLength TensorListElementShape InvertPermutation StopAt NoOp EmptyTensorList "
    "TensorListReserve",
    K.MOVE: "Identity IdentityN Reshape Transpose ExpandDims Squeeze Slice StridedSlice Concat ConcatV2 Pack Unpack "
    "Split SplitV Tile Pad PadV2 MirrorPad Reverse ReverseV2 Gather GatherV2 GatherNd ScatterNd BroadcastTo "
    "EnsureShape Snapshot TensorScatterUpdate TensorScatterAdd DynamicPartition DynamicStitch ParallelDynamicStitch "
    "BatchToSpaceND SpaceToBatchND SpaceToDepth DepthToSpace Roll MatrixDiag MatrixDiagV3 MatrixDiagPartV3 "
    "MatrixBandPart Where_ PreventGradient CheckNumerics CheckNumericsV2 Print PrintV2 TensorListStack "
    "TensorListFromTensor TensorListGetItem TensorListSetItem TensorListPushBack TensorListPopBack "
    "TensorListGather TensorListConcatV2 RaggedTensorToVariant RaggedTensorFromVariant OptionalFromValue "
    "OptionalGetValue",
    K.ELEMENTWISE: "Add AddV2 Sub Mul MulNoNan BiasAdd BiasAddV1 Neg Abs Square SquaredDifference AddN "
    "AccumulateNV2 Conj Real Imag",
    K.SMOOTH: "Tanh Sigmoid Relu Relu6 Elu Selu LeakyRelu Softplus Softsign Erf Erfc Sin Cos Tan Sinh Cosh Asinh Atan "
    "Expm1 Lgamma Digamma FusedBatchNormV3 LRN",
    K.REDUCE: "Sum Mean Max Min Prod L2Loss EuclideanNorm SegmentSum SegmentMean UnsortedSegmentSum All_ Cumsum",
    K.CONTRACT: "MatMul BatchMatMul BatchMatMulV2 BatchMatMulV3 Einsum Conv2D Conv1D Conv3D Conv "
    "DepthwiseConv2dNative Conv2DBackpropInput XlaDotV2 SparseTensorDenseMatMul SparseMatMul _FusedMatMul",
    K.SELECT: "Select SelectV2",
    K.CLIP: "ClipByValue Maximum Minimum",
    K.CAST: "Cast Bitcast QuantizeV2",
    K.STOP: "StopGradient",
    K.ROUND: "Round Rint Floor Ceil FloorDiv Trunc TruncateDiv",
    K.SIGN: "Sign",
    K.COMPARE: "Equal NotEqual Less LessEqual Greater GreaterEqual ApproximateEqual LogicalAnd LogicalOr LogicalNot "
    "IsNan IsFinite IsInf InTopK InTopKV2 All Any",
    K.INDEX: "TopK TopKV2 ArgMax ArgMin Where Unique UniqueV2 UniqueWithCounts Bincount DenseBincount "
    "HistogramFixedWidth HistogramSummary Bucketize LowerBound UpperBound SearchSorted NonMaxSuppression "
    "NonMaxSuppressionV2 NonMaxSuppressionV3 NonMaxSuppressionV4 NonMaxSuppressionV5 ListDiff EditDistance",
    K.ONE_HOT: "OneHot",
    K.NOISE: "RandomUniform RandomStandardNormal TruncatedNormal RandomUniformInt StatelessRandomUniform "
    "StatelessRandomUniformV2 StatelessRandomNormal StatelessRandomNormalV2 StatelessTruncatedNormal "
    "StatelessTruncatedNormalV2 StatelessRandomUniformInt StatelessRandomUniformIntV2 StatefulUniform "
    "StatefulStandardNormal StatefulStandardNormalV2 StatefulTruncatedNormal StatefulUniformInt RandomShuffle "
    "StatelessShuffle StatelessRandomUniformFullInt StatelessRandomUniformFullIntV2 StatefulUniformFullInt "
    "StatelessRandomGetKeyCounter RngReadAndSkip RngSkip StatelessRandomGetAlg",
    K.SAMPLE: "Multinomial StatelessMultinomial RandomPoisson RandomPoissonV2 StatelessRandomPoisson RandomGamma "
    "StatelessRandomGammaV2 StatelessRandomGammaV3 StatefulRandomBinomial StatelessRandomBinomial "
    "ParameterizedTruncatedNormal StatelessParameterizedTruncatedNormal FixedUnigramCandidateSampler "
    "UniformCandidateSampler LogUniformCandidateSampler",
    K.FOREIGN: "PyFunc PyFuncStateless EagerPyFunc",
    K.STATE: "MakeIterator IteratorGetNext IteratorGetNextSync IteratorV2 AnonymousIteratorV3 LookupTableFindV2 "
    "LookupTableInsertV2 LookupTableImportV2 MutableHashTableV2 QueueEnqueueV2 QueueEnqueueManyV2 QueueDequeueV2 "
    "QueueDequeueManyV2 StackPushV2 StackPopV2 TensorSliceDataset TensorDataset BatchDatasetV2 MapDataset "
    "ParallelMapDatasetV2 PrefetchDataset RepeatDataset ShuffleDatasetV3 OptionsDataset FlatMapDataset ZipDataset "
    "ReduceDataset DatasetToSingleElement BarrierInsertMany BarrierTakeMany Stage Unstage WriteFile ReadFile "
    "TensorArrayWriteV3_",
    K.CUSTOM: "CustomGradient",
    K.SOFTMAX: "Softmax LogSoftmax",
    K.CROSS_ENTROPY: "SoftmaxCrossEntropyWithLogits SparseSoftmaxCrossEntropyWithLogits",
    K.LOG: "Log Log1p Xlogy Xlog1py",
    K.EXP: "Exp",
    K.SQRT: "Sqrt Rsqrt",
    K.DIVIDE: "Div RealDiv DivNoNan Xdivy Reciprocal Inv",
    K.POWER: "Pow",
    K.INVERSE_TRIG: "Acos Asin Acosh Atanh",
    K.GRADIENT: "GradientRequest",
    K.WRITE: "ApplyGradients",
}

OP_KINDS: Final[dict[str, K]] = {name: kind for kind, names in _BY_KIND.items() for name in names.split()}

_BY_ACTION: Final[dict[A, str]] = {
    A.ADD: "Add AddV2 AddN AccumulateNV2",
    A.SUBTRACT: "Sub",
    A.SQUARED_DIFFERENCE: "SquaredDifference",
    A.NEGATE: "Neg",
    A.MULTIPLY: "Mul",
    A.DIVIDE: "Div RealDiv",
    A.DIVIDE_NO_NAN: "DivNoNan",
    A.SUM: "Sum",
    A.MEAN: "Mean",
    A.SOFTMAX: "Softmax",
    A.IDENTITY: "Identity",
    A.RESHAPE: "Reshape ExpandDims Squeeze",
    A.CONVERT: "Cast",
    A.REAL_PART: "Real",
    A.UPDATE: "ApplyGradients",
    A.SQUARE: "Square",
    A.RECIPROCAL_ROOT: "Rsqrt",
    A.NORM: "EuclideanNorm",
    A.GROW_EXPONENTIALLY: "Expm1 Sinh Cosh",
    A.MODULO: "FloorMod Mod",
    A.ANGLE: "Atan2",
    A.PASS_ON: "IdentityN EnsureShape CheckNumerics CheckNumericsV2 PreventGradient Snapshot StopGradient",
    A.PERMUTE: "Transpose",
    A.BROADCAST: "BroadcastTo",
    A.JOIN: "Pack ConcatV2",
    A.SPLIT: "Unpack Split SplitV StridedSlice Slice GatherV2",
    A.SCATTER: "UnsortedSegmentSum TensorScatterAdd TensorScatterUpdate ScatterNd ResourceScatterUpdate "
    "ResourceScatterNdUpdate",
    A.ASSIGN: "AssignVariableOp",
    A.INCREMENT: "AssignAddVariableOp AssignSubVariableOp ResourceScatterAdd ResourceScatterSub "
    "ResourceScatterNdAdd ResourceScatterNdSub",
    A.DRAW_CATEGORY: "Multinomial StatelessMultinomial",
    A.DRAW_COUNT: "RandomPoisson RandomPoissonV2 StatelessRandomPoisson StatefulRandomBinomial StatelessRandomBinomial",
}

ACTIONS: Final[dict[str, A]] = {name: action for action, names in _BY_ACTION.items() for name in names.split()}

NOT_TENSORS: Final = {
    "KerasTensor": NotATensor.SYMBOLIC,
    "SymbolicTensor": NotATensor.SYMBOLIC,
    "TensorArray": NotATensor.ARRAY,
}
DRAWING: Final = (K.NOISE, K.SAMPLE)

DEFAULT_NAMES: Final = ("Variable", "variable")  # of variables that were given none

# Ops that write a variable whose handle is their first input; the value is the input after it.
WRITE_PREFIXES: Final = (
    "Assign",
    "ResourceScatter",
    "ResourceApply",
    "ResourceSparseApply",
    "ResourceStridedSliceAssign",
)
SYMMETRIC_LOSSES: Final = frozenset(
    {
        *("MeanSquaredError", "mean_squared_error", "mse", "MeanAbsoluteError", "mean_absolute_error", "mae"),
        *("CosineSimilarity", "cosine_similarity", "Huber", "huber", "LogCosh", "log_cosh", "Dice", "dice"),
        *("KLDivergence", "kl_divergence"),  # meant either way round
        "function",  # a user's own: unknown
    }
)
_FLOATING = ("float", "bfloat", "complex", "half", "double", "variant", "resource")


FLAT_AT_ZERO = frozenset({"Relu", "Relu6", "Maximum", "Minimum"})  # where they give zero, they may be flat


@functools.lru_cache(maxsize=4096)
def writes(op_type: str | bytes) -> bool:
    """Whether an op writes to a variable."""
    return (op_type.decode() if isinstance(op_type, bytes) else op_type).startswith(WRITE_PREFIXES)


@functools.lru_cache(maxsize=4096)
def kind_of(op_type: str) -> K:
    """The kind of an op by its TensorFlow name."""
    kind = OP_KINDS.get(op_type)
    if kind is not None:
        return kind
    if writes(op_type):
        return K.WRITE
    if op_type.startswith("LossCall:"):
        return K.OTHER if op_type.removeprefix("LossCall:") in SYMMETRIC_LOSSES else K.CROSS_ENTROPY
    if op_type.endswith(("Dataset", "DatasetV2", "DatasetV3")):
        return K.STATE
    if op_type.startswith("__") or op_type.endswith("PartitionedCall"):
        return K.CALL
    return K.OTHER


@functools.lru_cache(maxsize=4096)
def meaning_of(op_type: str) -> tuple[K, A | None]:
    """Kind and action of an op by its TensorFlow name."""
    return kind_of(op_type), ACTIONS.get(op_type)


def is_trainable(dtype_name: str) -> bool:
    """Whether TensorFlow would carry a gradient through a tensor of this dtype."""
    return dtype_name.startswith(_FLOATING)
