"""Calls of NumPy on tensors, written with the framework's own functions, all of them on the way of a value."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Final

from whygrad.diagnostics import Edit, Fix, FixSafety, Word
from whygrad.fixes.rewriting import argument, operand_text, text_at, with_argument
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located


@dataclass(frozen=True, slots=True)
class Same:
    """The framework's function of the same meaning; `add` is an argument that it needs besides."""

    word: Word
    add: str = ""
    unless: tuple[int, str] | None = None  # position and name of the argument that makes `add` needless
    renamed: tuple[tuple[str, str], ...] = ()


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
    "clip": Same(Word.CLIP, renamed=(("a_min", "clip_value_min"), ("a_max", "clip_value_max"))),
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
    "transpose": Same(Word.TRANSPOSE, renamed=(("axes", "perm"),)),
    "expand_dims": Same(Word.EXPAND),
    "squeeze": Same(Word.SQUEEZE),
    "matmul": Same(Word.MATRIX_PRODUCT),
    "dot": Same(Word.TENSOR_PRODUCT, add="axes=1"),
    "tensordot": Same(Word.TENSOR_PRODUCT),
    "einsum": Same(Word.EINSUM),
    "repeat": Same(Word.REPEAT),
    "tile": Same(Word.TILE),
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
METHODS: Final = ("sum", "mean", "std", "var", "max", "min", "prod", "all", "any", "reshape", "transpose", "dot", "cumsum")
LEAVING: Final = ("numpy", "item", "tolist", "copy")  # methods that give the same values to Python
DTYPES: Final = {"float32": Word.FLOAT32, "float64": Word.FLOAT64}
RETURNING: Final = ("constant", "convert_to_tensor", "Variable")  # make a constant of what they are given


def without_arrays(left: SourceSpan | None) -> Iterator[Fix]:
    """The value that leaves at a span stays a tensor, and so does all that is computed from it in its function."""
    found = located(left)
    if found is None or not isinstance(found[1], ast.expr):
        return
    translation = _Translation(found[0], found[1])
    edits = translation.edits()
    if edits:
        text = " ".join(text_at(found[0], found[1]).split())
        yield Fix(title=f"compute `{text}` with {Word.FRAMEWORK} ops", edits=tuple(edits), safety=FixSafety.SAFE)


class _Unknown(Exception):
    """A call for which there is no other word."""


class _Translation:
    """The statements of one function that a value goes through after it has left."""

    def __init__(self, module: Module, node: ast.expr) -> None:
        self._module = module
        self._node = node
        self._scope = module.scope(node)
        self._names: set[str] = set()
        self._seen: dict[ast.AST, Edit] = {}

    def edits(self) -> list[Edit]:
        first = self._module.statement(self._node)
        if first is None:
            return []
        self._start(first)
        try:
            for statement in self._statements(first):
                if statement is first or self._holds(statement):
                    for node in self._heads(statement):
                        self._translate(node)
                    self._names |= _targets(statement)
        except _Unknown:
            return []
        return list(self._seen.values())

    def _start(self, first: ast.stmt) -> None:
        if isinstance(first, ast.For):  # the values of an array, one after another
            self._names |= {n.id for n in ast.walk(first.target) if isinstance(n, ast.Name)}

    def _statements(self, first: ast.stmt) -> list[ast.stmt]:
        """Those of the function, from the first on."""
        own = [
            node
            for node in ast.walk(self._scope)
            if isinstance(node, ast.stmt) and node is not self._scope and self._module.scope(node) is self._scope
        ]
        return sorted((each for each in own if each.lineno >= first.lineno), key=lambda each: each.lineno)

    def _heads(self, statement: ast.stmt) -> Iterator[ast.expr]:
        """The expressions of a statement, without the statements in it."""
        for child in ast.iter_child_nodes(statement):
            if isinstance(child, ast.expr):
                yield child

    def _holds(self, node: ast.AST) -> bool:
        """Whether a value that stays a tensor now enters here."""
        if isinstance(node, (ast.FunctionDef, ast.ClassDef, ast.If, ast.While, ast.With, ast.Try)):
            return False
        parts = self._heads(node) if isinstance(node, ast.stmt) else [node]
        return any(self._is_held(each) for part in parts for each in ast.walk(part))

    def _is_held(self, node: ast.AST) -> bool:
        if node is self._node:
            return True
        return isinstance(node, ast.Name) and isinstance(node.ctx, ast.Load) and node.id in self._names

    def _translate(self, node: ast.expr) -> bool:
        """Translate what is below, then the node itself; whether its value is one that stays a tensor."""
        if isinstance(node, ast.Call) and self._module.is_reporting(node):
            return False
        held = self._is_held(node)
        for child in ast.iter_child_nodes(node):
            inner = child.value if isinstance(child, ast.keyword) else child
            if isinstance(inner, ast.comprehension):
                held |= self._translate(inner.iter)
                if held:
                    self._names |= {n.id for n in ast.walk(inner.target) if isinstance(n, ast.Name)}
            elif isinstance(inner, ast.expr):
                held |= self._translate(inner)
        if isinstance(node, ast.Attribute) and node.attr in ("shape", "ndim", "size", "dtype"):
            return False
        if held and isinstance(node, ast.Call):
            self._call(node)
        return held

    def _call(self, call: ast.Call) -> None:
        function = call.func
        path = self._array_path(function)
        if path is not None:
            self._array_call(call, path)
        elif isinstance(function, ast.Name) and function.id == "float" and len(call.args) == 1:
            self._only(call, call.args[0])
        elif isinstance(function, ast.Attribute) and function.attr in LEAVING and not call.args:
            self._only(call, function.value)
        elif isinstance(function, ast.Attribute) and function.attr == "astype" and call.args:
            self._cast(call, function.value, call.args[0])
        elif isinstance(function, ast.Attribute) and function.attr in ("predict", "predict_on_batch"):
            self._edit(function, operand_text(self._module, function.value))
            for keyword in call.keywords:
                raise _Unknown(keyword.arg)
        elif last_name(function) in RETURNING and len(call.args) == 1 and self._holds(call.args[0]):
            self._only(call, call.args[0])
        elif isinstance(function, ast.Attribute) and function.attr in METHODS and self._holds(function.value):
            self._method(call, function)

    def _array_path(self, function: ast.expr) -> str | None:
        """`linalg.norm` for `np.linalg.norm`; the name itself where it was imported by name."""
        text = ast.unparse(function)
        head, _, rest = text.partition(".")
        if head not in self._module.arrays:
            return None
        return rest or head

    def _array_call(self, call: ast.Call, path: str) -> None:
        if path in DTYPES and len(call.args) == 1:
            self._cast(call, call.args[0], ast.Constant(path))
            return
        same = FUNCTIONS.get(path)
        if same is None or any(keyword.arg in ("dtype", "ddof", "out", "ord", "weights") for keyword in call.keywords):
            raise _Unknown(path)
        self._edit(call.func, f"{same.word}")
        for keyword in call.keywords:
            for old, new in same.renamed:
                if keyword.arg == old:
                    raise _Unknown(new)
        if same.add and (same.unless is None or argument(call, *same.unless) is None):
            self._seen[ast.keyword()] = with_argument(self._module, call, same.add)

    def _method(self, call: ast.Call, function: ast.Attribute) -> None:
        """`x.sum(axis=0)` is `reduce_sum(x, axis=0)`."""
        same = FUNCTIONS[function.attr]
        if same.add or (function.attr == "reshape" and len(call.args) != 1):
            raise _Unknown(function.attr)
        start = self._module.span(call)
        value = self._module.span(function.value)
        self._seen[ast.keyword()] = Edit(
            SourceSpan(start.file, start.line, start.column, start.line, start.column), f"{same.word}("
        )
        first = min([*call.args, *(k.value for k in call.keywords)], key=lambda n: (n.lineno, n.col_offset), default=None)
        opened = self._module.span(function)
        end = (opened.end_line or 0, (opened.end_column or 0) + 1)
        text = ", " if first is not None else ""
        self._seen[ast.keyword()] = Edit(SourceSpan(start.file, value.end_line or 0, value.end_column, *end), text)

    def _cast(self, call: ast.Call, value: ast.expr, dtype: ast.expr) -> None:
        name = dtype.value if isinstance(dtype, ast.Constant) else last_name(dtype)
        word = DTYPES.get(str(name))
        if word is None:
            raise _Unknown(name)
        self._around(call, value, f"{Word.CAST}(", f", {word})")

    def _only(self, call: ast.Call, value: ast.expr) -> None:
        """The value itself, in place of a call that took it."""
        self._around(call, value, "", "")

    def _around(self, call: ast.Call, value: ast.expr, before: str, after: str) -> None:
        whole, inner = self._module.span(call), self._module.span(value)
        plain = isinstance(value, (ast.Name, ast.Attribute, ast.Call, ast.Subscript, ast.Constant)) or before
        parent = self._module.parents.get(call)
        alone = isinstance(parent, (ast.Assign, ast.Return, ast.keyword)) or (
            isinstance(parent, ast.Call) and call in parent.args
        )
        left, right = ("", "") if plain or alone else ("(", ")")
        self._seen[ast.keyword()] = Edit(
            SourceSpan(whole.file, whole.line, whole.column, inner.line, inner.column), before + left
        )
        self._seen[ast.keyword()] = Edit(
            SourceSpan(whole.file, inner.end_line or 0, inner.end_column, whole.end_line, whole.end_column), right + after
        )

    def _edit(self, node: ast.expr, text: str) -> None:
        self._seen[node] = Edit(self._module.span(node), text)


def _targets(statement: ast.stmt) -> set[str]:
    """The plain names that a statement gives its value to."""
    match statement:
        case ast.Assign(targets=targets):
            found: list[ast.expr] = targets
        case ast.AugAssign(target=target) | ast.AnnAssign(target=target):
            found = [target]
        case ast.Expr(value=ast.Call(func=ast.Attribute(value=ast.Name() as name, attr="append" | "extend"))):
            return {name.id}
        case _:
            return set()
    return {node.id for target in found for node in ast.walk(target) if isinstance(node, ast.Name)}
