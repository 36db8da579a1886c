"""What advice names in a framework: rules say `{Word.STOP_GRADIENT}` in their texts, each backend has its own words."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace
from enum import Enum

from whygrad.diagnostics.diagnostic import Diagnostic, Label


class Word(Enum):
    """A thing of a framework; the value is said where no backend has a word for it."""

    FRAMEWORK = "the framework"
    TAPE = "the tape"
    GRADIENT = "gradient"  # what asks for one
    WATCH = "watch"
    STOP_GRADIENT = "stop_gradient"
    CUSTOM_GRADIENT = "custom_gradient"
    COMPILED_FUNCTION = "the compiled function"
    VARIABLE = "a variable"
    ASSIGN = "assign"
    ASSIGN_ADD = "assign_add"
    ASSIGN_SUB = "assign_sub"
    TO_NUMPY = ".numpy()"
    TO_DENSE = "to_dense"
    SPARSE_GRADIENT = "a sparse gradient"
    FLOAT32 = "float32"
    COND = "cond"
    RANDOM_UNIFORM = "random_uniform"
    RANDOM_NORMAL = "random_normal"
    SEGMENT_SUM = "segment_sum"
    CLOCK = "clock"
    IS_FINITE = "is_finite"
    ROUND = "round"
    SIGMOID = "sigmoid"
    SOFTPLUS = "softplus"
    TANH = "tanh"
    SQUEEZE = "squeeze"
    ADD_ALL = "add_all"
    ADAPT = "adapt"
    NORMALIZE = "normalize"
    MODULE = "module"
    NETWORK = "network"  # the class of networks that keep track of their layers
    NETWORK_LIBRARY = "library"
    NETWORK_VARIABLE = "variable"
    ADD_VARIABLE = "add_variable"  # the method of a layer
    SCATTER_UPDATE = "scatter_update"
    SCATTER_ADD = "scatter_add"
    SCATTER_SUB = "scatter_sub"
    CHECKPOINT = "checkpoint"
    SEVERAL_DEVICES = "strategy"
    WHERE = "where"
    MAXIMUM = "maximum"
    MINIMUM = "minimum"
    SQUARE = "square"
    SQRT = "sqrt"
    EXP = "exp"
    LOG = "log"
    ARC_COSINE = "acos"
    ANGLE = "atan2"
    CLIP = "clip"
    CAST = "cast"
    DIVIDE_NO_NAN = "divide_no_nan"
    SUM = "sum"
    ALL = "all"
    VARIANCE = "variance"
    LOG_SUM_EXP = "logsumexp"
    SOFTMAX = "softmax"
    LOG_SOFTMAX = "log_softmax"
    CROSS_ENTROPY = "cross_entropy"
    GLOBAL_NORM = "global_norm"
    LOSS_SCALER = "a loss scaler"
    MEAN = "mean"
    PRODUCT = "prod"
    LARGEST = "max"
    SMALLEST = "min"
    DEVIATION = "std"
    ANY = "any"
    ABSOLUTE = "abs"
    SIGN = "sign"
    LOG1P = "log1p"
    EXPM1 = "expm1"
    SINE = "sin"
    COSINE = "cos"
    TAN = "tan"
    POWER = "power"
    FLOOR = "floor"
    CEIL = "ceil"
    JOIN = "concatenate"
    STACK = "stack"
    RESHAPE = "reshape"
    TRANSPOSE = "transpose"
    EXPAND = "expand_dims"
    MATRIX_PRODUCT = "matmul"
    TENSOR_PRODUCT = "tensordot"
    CUMULATIVE_SUM = "cumsum"
    REPEAT = "repeat"
    TILE = "tile"
    SORT = "sort"
    ROLL = "roll"
    NORM = "norm"
    EINSUM = "einsum"
    TRACE = "trace"
    DIAGONAL = "diag"
    ONES_LIKE = "ones_like"
    ZEROS_LIKE = "zeros_like"
    RANGE = "range"
    SHAPE = "shape"
    FLOAT64 = "float64"
    SIZE = "size"
    LAYER = "layer"
    BINARY_CROSS_ENTROPY = "binary cross-entropy"
    CATEGORICAL_CROSS_ENTROPY = "cross-entropy of rows"
    SPARSE_CROSS_ENTROPY = "cross-entropy of class numbers"
    SQUARED_ERROR = "squared error"
    FROM_LOGITS = "from logits"  # the argument of a loss
    CLONE = "clone"

    def __format__(self, spec: str) -> str:
        """A mark in the text, which `worded` replaces: what the user wrote, braces and all, stays as it is."""
        return f"\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}{self.name}\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}"


Words = Mapping[Word, str]

_MARK = re.compile("\N{MATHEMATICAL LEFT WHITE SQUARE BRACKET}([A-Z_0-9]+)\N{MATHEMATICAL RIGHT WHITE SQUARE BRACKET}")


def in_words(diagnostic: Diagnostic, words: Words) -> Diagnostic:
    """A diagnostic all of whose texts are in the words of a framework; fixes are spelled file by file, elsewhere."""

    def label(each: Label) -> Label:
        return replace(each, text=worded(each.text, words))

    return replace(
        diagnostic,
        message=worded(diagnostic.message, words),
        primary=None if diagnostic.primary is None else label(diagnostic.primary),
        related=tuple(map(label, diagnostic.related)),
        notes=tuple(worded(note, words) for note in diagnostic.notes),
        help=None if diagnostic.help is None else worded(diagnostic.help, words),
    )


def worded(text: str, words: Words) -> str:
    """A rule's text in the words of a framework."""

    def said(mark: re.Match[str]) -> str:
        word = Word.__members__.get(mark[1])
        return mark[0] if word is None else words.get(word, word.value)

    return _MARK.sub(said, text)
