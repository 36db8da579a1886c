"""Values kept away from where a function or its slope is not finite."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Fix, Word
from whygrad.fixes.rewriting import call_at, on_node, replaced, short_text, text_at
from whygrad.source import SourceSpan
from whygrad.source.module import Module, last_name, located

_EXPONENTS: Final = "20.0"  # the largest exponent that is left: e**20 is 5e8, and its square still fits
_FAR_BELOW: Final = "-1e9"
_MINUS_INFINITY: Final = ("float('-inf')", "-float('inf')", "-np.inf", "-math.inf", "-numpy.inf")


def logarithm(at: SourceSpan | None, small: str) -> Iterator[Fix]:
    """`log(x)` becomes `log(maximum(x, small))`; `log(1 + exp(x))` is softplus."""
    for module, call in _calls(at, "log"):
        inner = call.args[0]
        match inner:
            case ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=ast.Call(func=function, args=[value])) if (
                last_name(function) == "exp"
            ):
                text = f"{Word.SOFTPLUS}({text_at(module, value)})"
                yield Fix(title="use softplus, which does not overflow", edits=(replaced(module, call, text),))
        yield _kept(module, inner, f"{Word.MAXIMUM}({text_at(module, inner)}, {small})", "zero")


def root(at: SourceSpan | None, small: str, *, negative: bool) -> Iterator[Fix]:
    """`sqrt(x)` becomes `sqrt(x + small)`, or `sqrt(maximum(x, small))` where x is negative."""
    for module, inner in _root_arguments(at):
        floor = f"{Word.MAXIMUM}({text_at(module, inner)}, {small})"
        yield _kept(module, inner, floor if negative else f"{operand_or_sum(module, inner)} + {small}", "zero")


def _root_arguments(at: SourceSpan | None) -> Iterator[tuple[Module, ast.expr]]:
    for module, call in _calls(at, "sqrt", "rsqrt"):
        yield module, call.args[0]
    match located(at):
        case (module, ast.BinOp(left=base, op=ast.Pow(), right=ast.Constant(value=0.5))):
            yield module, base


def operand_or_sum(module: Module, node: ast.expr) -> str:
    """The text of an expression as it may stand beside `+`."""
    text = text_at(module, node)
    loose = isinstance(node, (ast.Compare, ast.BoolOp, ast.IfExp, ast.Lambda))
    return f"({text})" if loose or "\n" in text else text


def _kept(module: Module, node: ast.expr, text: str, what: str) -> Fix:
    return Fix(title=f"keep `{short_text(module, node)}` away from {what}", edits=(replaced(module, node, text),))


def _calls(at: SourceSpan | None, *names: str) -> Iterator[tuple[Module, ast.Call]]:
    """The call of a function at a span, or the only one below it."""
    found = located(at)
    if found is None:
        return
    module, node = found
    calls = [n for n in ast.walk(node) if isinstance(n, ast.Call) and last_name(n.func) in names and n.args]
    if isinstance(node, ast.Call) and node in calls:
        yield module, node
    elif len(calls) == 1:
        yield module, calls[0]


@on_node
def quotient(module: Module, at: ast.AST, small: str = "1e-8") -> Iterator[Fix]:
    """`a / b` is zero where b is zero; or b is kept away from zero."""
    match at:
        case ast.BinOp(left=above, op=ast.Div(), right=below) as node:
            pass
        case ast.Call(func=function, args=[above, below]) as node if last_name(function) in ("divide", "truediv"):
            pass
        case _:
            return
    text = f"{Word.DIVIDE_NO_NAN}({text_at(module, above)}, {text_at(module, below)})"
    yield Fix(title="return zero where the divisor is zero", edits=(replaced(module, node, text),))
    yield _kept(module, below, f"{Word.MAXIMUM}({text_at(module, below)}, {small})", "zero")


def exponential(at: SourceSpan | None) -> Iterator[Fix]:
    """`exp(x)` becomes `exp(minimum(x, 20.0))`; `log(1 + exp(x))` is softplus."""
    for module, call in _calls(at, "exp"):
        inner = call.args[0]
        around = module.parents.get(call)
        outer = None if around is None else module.parents.get(around)
        match around, outer:
            case (
                ast.BinOp(left=ast.Constant(value=1), op=ast.Add(), right=right),
                ast.Call(func=function) as log,
            ) if right is call and last_name(function) == "log":
                text = f"{Word.SOFTPLUS}({text_at(module, inner)})"
                yield Fix(title="use softplus, which does not overflow", edits=(replaced(module, log, text),))
            case (ast.Call(func=function, args=[only]) as log, _) if only is call and last_name(function) == "log":
                yield Fix(title="leave out `log` and `exp`", edits=(replaced(module, log, text_at(module, inner)),))
        options = _divided_by_its_sum(module, call)
        if options is not None:
            text = f"{operand_or_sum(module, inner)} - {Word.LARGEST}({text_at(module, inner)}{options})"
            yield Fix(
                title="subtract the largest exponent, which leaves the quotient", edits=(replaced(module, inner, text),)
            )
            return
        text = f"{Word.MINIMUM}({text_at(module, inner)}, {_EXPONENTS})"
        yield Fix(title=f"bound the exponent `{short_text(module, inner)}`", edits=(replaced(module, inner, text),))


def _divided_by_its_sum(module: Module, call: ast.Call) -> str | None:
    """The options of the sum in `w / reduce_sum(w, axis=a)`, where `w` is what a call gives; None: there is none."""
    bound = module.parents.get(call)
    name = ast.unparse(bound.targets[0]) if isinstance(bound, ast.Assign) else ast.unparse(call)
    for node in ast.walk(module.scope(call)):
        match node:
            case ast.BinOp(left=above, op=ast.Div(), right=ast.Call(func=function, args=[summed], keywords=options)):
                both = ast.unparse(above) == name == ast.unparse(summed)
                if both and last_name(function) in ("reduce_sum", "sum"):
                    return "".join(f", {k.arg}={text_at(module, k.value)}" for k in options)
    return None


@on_node
def finite_mask(module: Module, _: ast.AST) -> Iterator[Fix]:
    """Minus infinity in the file of a span becomes a large negative number."""
    edits = [
        replaced(module, each, _FAR_BELOW)
        for each in ast.walk(module.tree)
        if isinstance(each, (ast.UnaryOp, ast.Call)) and ast.unparse(each) in _MINUS_INFINITY
    ]
    if edits:
        yield Fix(title=f"mask with `{_FAR_BELOW}` instead of minus infinity", edits=tuple(edits))


@on_node
def power(module: Module, at: ast.AST) -> Iterator[Fix]:
    """`x ** p` becomes `maximum(x, 1e-6) ** p`."""
    match at:
        case ast.BinOp(left=base, op=ast.Pow()):
            pass
        case ast.Call(func=function, args=[base, _]) if last_name(function) in ("pow", "power"):
            pass
        case _:
            return
    yield _kept(module, base, f"{Word.MAXIMUM}({text_at(module, base)}, 1e-6)", "zero")


def norm(at: SourceSpan | None) -> Iterator[Fix]:
    """`norm(x, axis=a)` becomes `sqrt(reduce_sum(square(x), axis=a) + 1e-12)`."""
    for module, call in _calls(at, "norm", "reduce_euclidean_norm"):
        options = [f"{k.arg}={text_at(module, k.value)}" for k in call.keywords if k.arg in ("axis", "keepdims")]
        if len(options) == len(call.keywords) and len(call.args) == 1:
            inside = ", ".join([f"{Word.SQUARE}({text_at(module, call.args[0])})", *options])
            text = f"{Word.SQRT}({Word.SUM}({inside}) + 1e-12)"
            yield Fix(title="keep the norm away from zero", edits=(replaced(module, call, text),))
    yield from root(at, "1e-12", negative=False)


def deviation(at: SourceSpan | None) -> Iterator[Fix]:
    """`reduce_std(x)` becomes `sqrt(reduce_variance(x) + 1e-6)`."""
    for module, call in _calls(at, "reduce_std", "std"):
        arguments = [text_at(module, each) for each in call.args]
        arguments += [f"{k.arg}={text_at(module, k.value)}" for k in call.keywords]
        text = f"{Word.SQRT}({Word.VARIANCE}({', '.join(arguments)}) + 1e-6)"
        yield Fix(title="keep the deviation away from zero", edits=(replaced(module, call, text),))
    yield from root(at, "1e-6", negative=False)


def inside_range(at: SourceSpan | None) -> Iterator[Fix]:
    """`acos(x)` becomes `acos(clip(x, -1 + 1e-6, 1 - 1e-6))`."""
    for module, call in _calls(at, "acos", "asin", "arccos", "arcsin", "atanh", "arctanh"):
        inner = call.args[0]
        text = f"{Word.CLIP}({text_at(module, inner)}, -1.0 + 1e-6, 1.0 - 1e-6)"
        yield Fix(title=f"keep `{short_text(module, inner)}` inside the range", edits=(replaced(module, inner, text),))


def empty_mean(at: SourceSpan | None) -> Iterator[Fix]:
    """`reduce_mean(x)` of nothing is zero."""
    for module, call in _calls(at, "reduce_mean", "mean"):
        if len(call.args) == 1 and not call.keywords:
            value = text_at(module, call.args[0])
            count = f"{Word.CAST}({Word.SIZE}({value}), {Word.FLOAT32})"
            text = f"{Word.DIVIDE_NO_NAN}({Word.SUM}({value}), {count})"
            yield Fix(title="return zero for the mean of nothing", edits=(replaced(module, call, text),))


@on_node
def safe_where(module: Module, at: ast.AST, masked_by: SourceSpan | None) -> Iterator[Fix]:
    """The input of a function is replaced where its result is not taken."""
    select, inner = call_at(masked_by), _risky(at)
    if select is None or select[0] is not module or len(select[1].args) != 3 or inner is None:
        return
    condition, taken, other = select[1].args
    holds = _side(module, at, taken, other)
    if holds is None:
        return
    kept = f"{text_at(module, inner)}, {Word.ONES_LIKE}({text_at(module, inner)})"
    if not holds:
        kept = f"{Word.ONES_LIKE}({text_at(module, inner)}), {text_at(module, inner)}"
    text = f"{Word.WHERE}({text_at(module, condition)}, {kept})"
    yield Fix(
        title=f"give `{short_text(module, inner)}` a harmless value where the result is not taken",
        edits=(replaced(module, inner, text),),
    )


def _risky(node: ast.AST) -> ast.expr | None:
    """The operand that must not be zero or negative."""
    match node:
        case ast.BinOp(op=ast.Div(), right=below):
            return below
        case ast.BinOp(op=ast.Pow(), left=base):
            return base
        case ast.Call(func=function, args=[_, below]) if last_name(function) in ("divide", "truediv"):
            return below
        case ast.Call(args=[only, *_]) if not isinstance(only, ast.Starred):
            return only
    return None


def _side(module: Module, node: ast.AST, taken: ast.expr, other: ast.expr) -> bool | None:
    """Whether a value is in the branch that is taken where the condition holds; None: in neither."""
    statement = module.statement(node)
    names = {ast.unparse(t) for t in getattr(statement, "targets", [])}
    for branch, holds in ((taken, True), (other, False)):
        below = list(ast.walk(branch))
        if node in below or any(isinstance(n, ast.Name) and n.id in names for n in below):
            return holds
    return None
