"""`wg.check_gradient`: is the gradient of a function what its values say it is?"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from typing import Any, Final

import numpy as np

from whygrad.arguments import check_callable, check_number, check_whole
from whygrad.training.gradient_check.differences import Tolerance, Verdict, central, compare
from whygrad.training.gradient_check.function import Function
from whygrad.training.gradient_check.result import Element, GradientCheck

DIRECTIONS: Final = 4  # through inputs too large to be compared element by element
RELATIVE: Final = {1e-10: 1e-6, 1e-5: 2e-3, 1.0: 5e-2}  # by the rounding error of the dtype, up to


def check_gradient(
    f: Callable[..., Any],
    inputs: Any,
    *,
    rtol: float | None = None,
    atol: float | None = None,
    step: float | None = None,
    elements: int = 128,
    seed: int = 0,
) -> GradientCheck:
    """Compare the gradient TensorFlow computes for `f` with differences of its values; true where it is right.

    `inputs`: what `f` is called with, one tensor, array or variable, or a list of them. A variable is moved and put
    back; `f` may read it without taking it as an argument. `f` may return tensors of any shape, in any structure.

    Each element is compared, up to `elements` of each input: those with the largest gradients and some at random, and
    besides them whole random directions. Where `f` takes complex numbers, the complex step is used, which is exact;
    else central differences, in the dtype of the inputs: float64 sees much smaller errors than float32.

    `rtol` and `atol`: how far the two may differ; by default what the dtype allows. `seed` chooses what is random.

    An element at a kink (`relu` at zero) is not an error if the gradient is one of the slopes on its two sides.

        check = wg.check_gradient(my_loss, [x, w])
        assert check, check
    """
    check_callable("f", f, help="write `wg.check_gradient(f, x)`, not `wg.check_gradient(f(x), x)`")
    for name, number in {"rtol": rtol, "atol": atol, "step": step}.items():
        if number is not None:
            check_number(name, number, "a number of at least 0", lambda value: value >= 0)
    check_whole("elements", elements)
    check_whole("seed", seed, least=0)
    listed = list(inputs) if isinstance(inputs, (list, tuple)) else [inputs]
    function = Function(f, listed, seed)
    function.prepare()
    gradients = function.gradients()
    found: list[Element] = []
    used_complex = False
    for place, gradient in enumerate(gradients):
        name = _name(function, place)
        analytic = np.zeros(function.arrays[place].shape) if gradient is None else gradient
        tolerance = _tolerance(function, analytic, rtol, atol, step)
        for index, direction in _directions(analytic, elements, seed + place):
            along = float(np.sum(analytic * direction) if index is None else analytic[index])
            moves = [direction if i == place else np.zeros(a.shape) for i, a in enumerate(function.arrays)]
            scaled = _scaled(tolerance, function.arrays[place], index)
            line = _line(function, moves)
            exact = _exact(function, moves, line, scaled)
            used_complex |= exact is not None
            result = compare(along, line, scaled, exact)
            found.append(Element(name, index, along, result.numeric, result.verdict))
    return _result(found, gradients, function, used_complex=used_complex)


def _result(found: list[Element], gradients: list[Any], function: Function, *, used_complex: bool) -> GradientCheck:
    bad = [each for each in found if each.verdict in (Verdict.WRONG, Verdict.NOT_FINITE)]
    bad.sort(key=lambda each: math.inf if math.isnan(each.error) else each.error, reverse=True)
    names = [_name(function, place) for place, gradient in enumerate(gradients) if gradient is None]
    wrong_inputs = {each.input for each in bad}
    coarse = function.epsilon > 1e-10 and not used_complex
    return GradientCheck(
        compared=len(found),
        method="complex step" if used_complex else "central differences",
        wrong=tuple(bad),
        kinks=tuple(each for each in found if each.verdict is Verdict.KINK),
        undefined=tuple(each for each in found if each.verdict is Verdict.UNDEFINED),
        missing=tuple(name for name in names if name in wrong_inputs),
        notes=("inputs coarser than float64: small errors cannot be seen",) if coarse else (),
    )


def _name(function: Function, place: int) -> str:
    variable = function.variables[place]
    return f"input {place}" if variable is None else f"`{str(variable.name).split(':')[0]}`"


def _tolerance(
    function: Function, analytic: Any, rtol: float | None, atol: float | None, step: float | None
) -> Tolerance:
    epsilon = function.epsilon
    relative = rtol if rtol is not None else next(value for limit, value in RELATIVE.items() if epsilon < limit)
    finite = analytic[np.isfinite(analytic)]
    typical = float(np.max(np.abs(finite))) if finite.size else 0.0
    return Tolerance(
        relative=relative,
        absolute=atol if atol is not None else relative * 0.01 * typical,
        step=step if step is not None else 2.0 * (3 * epsilon) ** (1 / 3),
        noise=epsilon * function.size,
    )


def _scaled(tolerance: Tolerance, array: Any, index: tuple[int, ...] | None) -> Tolerance:
    """A step that fits the size of what is moved."""
    size = float(np.sqrt(np.mean(array * array))) if index is None else abs(float(array[index]))
    return Tolerance(tolerance.relative, tolerance.absolute, tolerance.step * max(1.0, size), tolerance.noise)


def _directions(analytic: Any, elements: int, seed: int) -> Iterator[tuple[tuple[int, ...] | None, Any]]:
    """Single elements, all or some of them, and directions through all where there are many."""
    random = np.random.default_rng(seed)
    for index in _chosen(analytic, elements, random):
        direction = np.zeros(analytic.shape)
        direction[index] = 1.0
        yield index, direction
    if analytic.size > elements:
        for _ in range(DIRECTIONS):
            drawn = random.normal(size=analytic.shape)
            yield None, drawn / np.sqrt(np.sum(drawn * drawn) / max(1.0, math.sqrt(analytic.size)))


def _chosen(analytic: Any, elements: int, random: Any) -> list[tuple[int, ...]]:
    flat = np.arange(analytic.size)
    if analytic.size > elements:
        worst_first = np.argsort(-np.nan_to_num(np.abs(analytic), nan=np.inf).reshape(-1), kind="stable")
        half = elements // 2
        rest = random.choice(worst_first[half:], elements - half, replace=False)
        flat = np.concatenate([worst_first[:half], rest])
    return [tuple(int(i) for i in np.unravel_index(each, analytic.shape)) for each in flat]


def _line(function: Function, moves: Sequence[Any]) -> Callable[[float], float]:
    known: dict[float, float] = {}

    def value(distance: float) -> float:
        if distance not in known:
            moved = [array + distance * move for array, move in zip(function.arrays, moves, strict=True)]
            known[distance] = function.value(moved)
        return known[distance]

    return value


def _exact(
    function: Function, moves: Sequence[Any], line: Callable[[float], float], tolerance: Tolerance
) -> float | None:
    """The complex step, where it is one: a function that takes `abs` or a conjugate on its way gives nonsense."""
    if function.epsilon > 1e-10:
        return None
    found = function.complex_derivative(moves)
    if found is None or not math.isfinite(found):
        return None
    rough = central(line, tolerance.step)
    return found if math.isfinite(rough) and abs(found - rough) <= 1e-3 * max(abs(found), abs(rough), 1e-6) else None
