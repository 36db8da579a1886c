"""Ops in a loss that are not finite at values which do occur (the family WL4)."""

from __future__ import annotations

import ast
from collections.abc import Iterator

from whygrad.backends.api import Does, Role
from whygrad.diagnostics import Severity, Word
from whygrad.lint.rules.check import Case, Finding, rules
from whygrad.lint.values.reach import flat, nodes_in
from whygrad.lint.values.value import Literal, Node, Value

_TO_ZERO = (Does.SOFTMAX, Does.SIGMOID, Does.RELU)  # reach zero, in floating point or exactly
_UNSAFE = {Does.LOG: "log", Does.SQRT: "root", Does.RSQRT: "root", Does.DIVIDE: "division", Does.POWER: "power"}


@rules(
    nan_log="WL401",
    nan_sqrt="WL402",
    nan_norm="WL403",
    nan_division="WL405",
    nan_pow="WL406",
    nan_where="WL407",
    nan_acos="WL409",
    nan_exp="WL408",
)
def unsafe(case: Case) -> Iterator[Finding]:
    """Logs, roots and powers on the way from a variable to a loss."""
    seen: set[int] = set()
    for request in case.facts.requests:
        found = case.reach(request)
        for node in sorted(found.nodes.values(), key=lambda each: each.does is not Does.SELECT):
            if id(node.where) not in seen and isinstance(node.where, ast.expr):
                finding = _of_node(case, node)
                if finding is not None:
                    seen.update(id(each) for each in ast.walk(node.where))
                    yield finding


def _of_node(case: Case, node: Node) -> Finding | None:
    match node.does:
        case Does.SELECT if len(node.inputs) >= 3:
            return _select(case, node)
        case Does.LOG if node.inputs:
            if _reaches_zero(_plain(node.inputs[0])):
                return _finding(case, node, "nan-log", "the logarithm of a value that reaches zero", _LOG_HELP)
        case Does.SQRT | Does.NORM if node.inputs:
            value = _plain(node.inputs[0])
            if _is_distance_to_itself(value):
                rule = "nan-norm" if node.does is Does.NORM else "nan-sqrt"
                return _finding(case, node, rule, "the root of a distance that is zero on the diagonal", _ROOT_HELP)
            if node.does is Does.SQRT and isinstance(value, Node) and value.does is Does.RELU:
                return _finding(case, node, "nan-sqrt", "the root of a value that is exactly zero at times", _ROOT_HELP)
        case Does.DIVIDE if len(node.inputs) == 2:
            if _is_clipped_at_zero(_plain(node.inputs[1])):
                what = "a division by a value that is exactly zero at times"
                return _finding(case, node, "nan-division", what, _DIVISION_HELP)
        case Does.POWER if len(node.inputs) == 2 and _is_root(node.inputs[1]):
            if _is_clipped_at_zero(_plain(node.inputs[0])):
                return _finding(case, node, "nan-pow", "a root of a value that is exactly zero at times", _ROOT_HELP)
        case Does.INVERSE_TRIG if node.inputs:
            value = _plain(node.inputs[0])
            if isinstance(value, Node) and value.does in (Does.SUM, Does.SMOOTH, Does.DIVIDE) and _is_cosine(value):
                return _finding(case, node, "nan-acos", "an inverse cosine of a cosine that reaches one", _COS_HELP)
    return None


_LOG_HELP = f"keep the argument away from zero, or use a form that does it for you: `{Word.LOG_SOFTMAX}`"
_ROOT_HELP = f"add a small number under the root, or keep it away from zero with `{Word.MAXIMUM}`"
_DIVISION_HELP = f"add a small number to the divisor, or use `{Word.DIVIDE_NO_NAN}`"
_COS_HELP = f"keep the argument inside of -1 and 1 with `{Word.CLIP}`"


def _finding(case: Case, node: Node, rule: str, what: str, help_: str) -> Finding:
    assert node.where is not None
    return Finding(
        rule=rule,
        message=f"likely not finite: {what}",
        primary=case.label(node.where, "its value or its gradient is not finite there"),
        help=help_,
        certain=False,
        severity=Severity.WARNING,
    )


def _plain(value: Value, without: tuple[Does, ...] = (Does.MOVE, Does.GATHER), most: int = 20) -> Value:
    """A value without what only moves it, or without other steps of one input."""
    for _ in range(most):
        if isinstance(value, Node) and value.does in without and value.inputs:
            value = value.inputs[0]
        else:
            break
    return value


def _reaches_zero(value: Value) -> bool:
    if not isinstance(value, Node):
        return False
    if value.does in _TO_ZERO:
        return True
    if value.does is Does.SUBTRACT and len(value.inputs) == 2 and isinstance(value.inputs[0], Literal):
        inner = _plain(value.inputs[1])
        share = isinstance(inner, Node) and inner.does in (Does.SIGMOID, Does.SOFTMAX)
        return share and value.inputs[0].value in (1, 1.0)
    return False


def _is_distance_to_itself(value: Value) -> bool:
    """A sum of squares of `x[:, None] - x[None]`."""
    node = _plain(value, (Does.SUM, Does.SQUARE, Does.POWER, Does.MOVE), most=6)
    if not isinstance(node, Node) or node.does is not Does.SUBTRACT or len(node.inputs) != 2:
        return False
    one, other = map(_plain, node.inputs)
    moved = all(isinstance(each, Node) and each.does in (Does.MOVE, Does.GATHER) for each in node.inputs)
    return moved and one is other and isinstance(one, Node)


def _is_root(value: Value) -> bool:
    return isinstance(value, Literal) and isinstance(value.value, float) and 0 < value.value < 1


def _is_clipped_at_zero(value: Value) -> bool:
    if not isinstance(value, Node):
        return False
    bounds = value.inputs[1:2] if value.does is Does.CLIP else value.inputs if value.does is Does.MAXIMUM else ()
    return value.does is Does.RELU or any(isinstance(each, Literal) and each.value in (0, 0.0) for each in bounds)


def _is_cosine(value: Node) -> bool:
    """A product of vectors that were normalised."""
    waiting, steps = [value], 0
    while waiting and steps < 30:
        steps += 1
        node = waiting.pop()
        if node.does in (Does.CLIP, Does.MAXIMUM, Does.MINIMUM):
            return False
        where = node.where
        if isinstance(where, ast.Call) and ast.unparse(where.func).endswith(("l2_normalize", ".normalize")):
            return True
        if node.does is Does.DIVIDE and len(node.inputs) == 2:
            bottom = _plain(node.inputs[1])
            parts = (bottom, *bottom.inputs) if isinstance(bottom, Node) else ()
            if any(isinstance(each, Node) and each.does is Does.NORM for each in parts):
                return True
        waiting += nodes_in(node.inputs)
    return False


def _select(case: Case, node: Node) -> Finding | None:
    """`where(x > 0, log(x), 0)`: the branch that is not taken is computed all the same."""
    tested = _compared(node.inputs[0])
    assert node.where is not None
    for branch in node.inputs[1:3]:
        bad = _unsafe_of(branch, tested)
        if bad is not None and bad.does is not None:
            what = _UNSAFE.get(bad.does, "exponential")
            return Finding(
                rule="nan-where",
                message=f"likely a NaN gradient: the {what} in a branch is computed where it is not taken, too",
                primary=case.label(node.where, "zero times infinity is NaN, also where the other branch wins"),
                help=f"make the argument safe first: `{Word.WHERE}(test, x, 1.0)`, and compute the branch from that",
                inner=case.span(bad.where) if isinstance(bad.where, ast.expr) else None,
                certain=False,
                severity=Severity.NOTE if bad.does is Does.SQRT else Severity.WARNING,
            )
    return None


def _compared(test: Value) -> list[Value]:
    """What a condition compares."""
    if not isinstance(test, Node) or test.does is not Does.COMPARE:
        return []
    found = []
    for each in test.inputs:
        plain = _plain(each)
        if isinstance(plain, Node) and plain.does is Does.COMPARE:
            found += _compared(plain)
        elif isinstance(plain, Node):
            found.append(plain)
            if plain.does in (Does.ABS, Does.SQUARE) and plain.inputs:
                found.append(_plain(plain.inputs[0]))
    return found


def _unsafe_of(branch: Value, tested: list[Value]) -> Node | None:
    """An op in a branch that is not finite just where the test says so."""
    waiting, steps = [branch], 0
    while waiting and steps < 60:
        steps += 1
        value = waiting.pop()
        if not isinstance(value, Node) or value.does in (Does.SELECT, Does.MAXIMUM, Does.CLIP, Does.STOP):
            continue
        argument = _argument(value)
        if argument is not None and any(_plain(argument) is each for each in tested):
            return value
        waiting += [each for one in value.inputs for each in flat(one)]
    return None


def _argument(node: Node) -> Value | None:
    match node.does:
        case Does.LOG | Does.SQRT | Does.RSQRT | Does.EXP if node.inputs:
            return node.inputs[0]
        case Does.DIVIDE if len(node.inputs) == 2:
            return node.inputs[1]
        case Does.POWER if len(node.inputs) == 2:
            power = node.inputs[1].value if isinstance(node.inputs[1], Literal) else None
            return node.inputs[0] if isinstance(power, (int, float)) and power < 1 else None
    return None


@rules(nan_optimizer="WL413")
def optimizer_without_epsilon(case: Case) -> Iterator[Finding]:
    """An optimizer that divides by a root of zero."""
    for made in case.facts.objects:
        epsilon = made.words.get("epsilon") if made.role is Role.OPTIMIZER and made.klass is None else None
        if isinstance(epsilon, Literal) and epsilon.value in (0, 0.0) and epsilon.value is not False:
            yield Finding(
                rule="nan-optimizer",
                message="likely NaN weights: this optimizer divides by zero where a gradient is zero",
                primary=case.label(made.where, "`epsilon` is zero"),
                help="leave `epsilon` as it is by default",
                certain=False,
                severity=Severity.WARNING,
            )
