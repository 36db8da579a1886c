"""What NumPy's functions and methods are called in a framework: the table of translations."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Final

from whygrad.diagnostics import Word


@dataclass(frozen=True, slots=True)
class Same:
    """The framework's function of the same meaning; `add` is an argument that it needs besides."""

    word: Word
    add: str = ""
    unless: tuple[int, str] | None = None  # position and name of the argument that makes `add` needless


FUNCTIONS: Final[dict[str, Same]] = {
    "exp": Same(Word.EXP),
    "log": Same(Word.LOG),
    "log1p": Same(Word.LOG1P),
    "expm1": Same(Word.EXPM1),
    "sqrt": Same(Word.SQRT),
    "square": Same(Word.SQUARE),
    "abs": Same(Word.ABSOLUTE),
    "absolute": Same(Word.ABSOLUTE),
    "sign": Same(Word.SIGN),
    "tanh": Same(Word.TANH),
    "sin": Same(Word.SINE),
    "cos": Same(Word.COSINE),
    "tan": Same(Word.TAN),
    "arccos": Same(Word.ARC_COSINE),
    "arctan2": Same(Word.ANGLE),
    "power": Same(Word.POWER),
    "maximum": Same(Word.MAXIMUM),
    "minimum": Same(Word.MINIMUM),
    "clip": Same(Word.CLIP),
    "where": Same(Word.WHERE),
    "sum": Same(Word.SUM),
    "mean": Same(Word.MEAN),
    "average": Same(Word.MEAN),
    "prod": Same(Word.PRODUCT),
    "max": Same(Word.LARGEST),
    "amax": Same(Word.LARGEST),
    "min": Same(Word.SMALLEST),
    "amin": Same(Word.SMALLEST),
    "std": Same(Word.DEVIATION),
    "var": Same(Word.VARIANCE),
    "all": Same(Word.ALL),
    "any": Same(Word.ANY),
    "cumsum": Same(Word.CUMULATIVE_SUM),
    "concatenate": Same(Word.JOIN, add="axis=0", unless=(1, "axis")),
    "stack": Same(Word.STACK),
    "array": Same(Word.TO_DENSE),
    "asarray": Same(Word.TO_DENSE),
    "reshape": Same(Word.RESHAPE),
    "transpose": Same(Word.TRANSPOSE),
    "expand_dims": Same(Word.EXPAND),
    "squeeze": Same(Word.SQUEEZE),
    "matmul": Same(Word.MATRIX_PRODUCT),
    "dot": Same(Word.TENSOR_PRODUCT, add="axes=1"),
    "tensordot": Same(Word.TENSOR_PRODUCT),
    "einsum": Same(Word.EINSUM),
    "repeat": Same(Word.REPEAT),
    "tile": Same(Word.TILE),
    "sort": Same(Word.SORT),
    "roll": Same(Word.ROLL),
    "trace": Same(Word.TRACE),
    "diag": Same(Word.DIAGONAL),
    "ones_like": Same(Word.ONES_LIKE),
    "zeros_like": Same(Word.ZEROS_LIKE),
    "linalg.norm": Same(Word.NORM),
    "round": Same(Word.ROUND),
    "floor": Same(Word.FLOOR),
    "ceil": Same(Word.CEIL),
}
METHODS: Final = frozenset(
    ["sum", "mean", "std", "var", "max", "min", "prod", "all", "any", "reshape", "transpose", "dot", "cumsum"]
)
LEAVING: Final = ("numpy", "item", "tolist", "copy")  # methods that give the same values to Python
DTYPES: Final = {"float32": Word.FLOAT32, "float64": Word.FLOAT64}
RETURNING: Final = ("constant", "convert_to_tensor")  # make a constant of what they are given
