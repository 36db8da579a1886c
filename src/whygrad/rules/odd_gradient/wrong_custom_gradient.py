"""WG310 wrong-custom-gradient."""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterator, Sequence
from typing import Final

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording
from whygrad.graph.event import CustomGradient, Probe
from whygrad.graph.questions.query import index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import names_of

_WRONG: Final = 0.1  # a share. Differences in float32 and formulas that are meant to be approximate stay below
_FLAT: Final = 1e-3  # a share. One of the two is zero on purpose: a step with a made-up slope, or a masked element
_MOST_FACTORS: Final = 6


@rule("WG310", "wrong-custom-gradient", severity=Severity.ERROR, since="0.1.0")
def wrong_custom_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects custom gradients whose formula is not the derivative of the function.

    ## Why it matters
    Nobody checks the formula under `tf.custom_gradient`. A factor that is missing, a sign, a derivative taken at the
    wrong place: training goes on with a gradient that points elsewhere, and looks like training that is slow.

    ## Example
    ```python
    import tensorflow as tf

    w = tf.Variable([0.5, 1.5, 2.0], name="w")

    @tf.custom_gradient
    def cube(x):
        def grad(upstream):
            return upstream * 3.0 * x
        return x * x * x, grad

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(cube(w * 1.0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    w = tf.Variable([0.5, 1.5, 2.0], name="w")

    @tf.custom_gradient
    def cube(x):
        def grad(upstream):
            return upstream * 3.0 * x * x
        return x * x * x, grad

    with tf.GradientTape() as tape:
        loss = tf.reduce_sum(cube(w * 1.0))
    gradients = tape.gradient(loss, [w])
    ```

    ## Known limits
    Six elements of each argument are tried after the run, with the numbers of one call; gradients of variables that
    the function uses besides are not. A function that draws random numbers, has other state or control flow in a compiled step
    is not tried. A gradient that is changed on purpose is not reported where it shows: the function gives its argument
    back as it is, it is flat, or the gradient is zero. Where a factor of the formula, a clip or another slope of a
    straight line may be meant, it is a note.
    """
    yield from _findings(recording)


def has_wrong_formula(recording: Recording) -> bool:
    """Whether some custom gradient is wrong beyond doubt: what becomes of it is said there."""
    return any(found.severity is not Severity.NOTE for found in _findings(recording))


def _findings(recording: Recording) -> Iterator[Finding]:
    for event in recording.events_of(CustomGradient):
        if event.ignores_upstream:
            yield _unchained(event, _behind(recording, event))
            continue
        probes = [
            p for p in event.probes if min(abs(p.stated), abs(p.measured)) > _FLAT * max(abs(p.stated), abs(p.measured))
        ]
        found = []
        for argument in sorted({probe.argument for probe in probes}):
            mine = [probe for probe in probes if probe.argument == argument]
            wrong = [probe for probe in mine if _is_wrong(probe)]
            if 2 * len(wrong) > len(mine):
                worst = max(wrong, key=lambda probe: abs(probe.stated - probe.measured))
                found.append(_finding(event, mine, worst, _behind(recording, event)))
        if found:  # one formula is one cause, of however many arguments it is wrong
            yield max(found, key=lambda each: (each.severity is None, each.severity is not Severity.NOTE))


def _unchained(event: CustomGradient, names: tuple[str, ...]) -> Finding:
    return Finding(
        message=f"the custom gradient of `{event.function}` leaves out the gradient that comes in: whatever the loss is, "
        "it gives the same",
        primary=None if event.where is None else Label(event.where, "never reads what it is given"),
        variables=names,
        help="multiply what you return by the argument of the gradient function: `return upstream * ...`",
    )


def _is_wrong(probe: Probe) -> bool:
    return abs(probe.stated - probe.measured) > _WRONG * max(abs(probe.stated), abs(probe.measured))


def _behind(recording: Recording, event: CustomGradient) -> tuple[str, ...]:
    """The variables whose gradients come through the formula."""
    names: dict[str, None] = {}
    for request in recording.requests:
        index = index_of(request.graph)
        given = {each for op in request.graph.ops if op.custom == event.function for each in op.inputs}
        through = [source for source in request.sources if source.variable is not None] if given else []
        reached = [source for source in through if not given.isdisjoint(index.ahead(index.starts(source)))]
        names.update(dict.fromkeys(names_of(recording, request, reached)))
    return tuple(names)


def _finding(event: CustomGradient, probes: Sequence[Probe], worst: Probe, names: tuple[str, ...]) -> Finding:
    straight = all(probe.straight for probe in probes)
    uneven = straight and len(probes) > 1 and _off_by(probes) is None
    meant = event.bounded or (straight and not uneven) or _is_scaled(event.factors, probes)
    whose = f"argument {worst.argument + 1} of `{event.function}`"
    return Finding(
        message=f"the custom gradient of `{event.function}` is {'likely ' * uneven}not the derivative of the function: it gives "
        f"{worst.stated:.4g}, the function has {worst.measured:.4g}",
        primary=None
        if event.where is None
        else Label(event.where, f"gives {worst.stated:.4g} for an element of {whose}"),
        variables=names,
        notes=(
            f"where that element is {worst.value:.4g}; the slope of the function was measured by moving it a little",
            *(("it may be meant: a gradient that is scaled, clipped or replaced on purpose",) if meant else ()),
        ),
        help="correct the formula, and compare the two with `wg.check_gradient`; if the gradient is changed on purpose, "
        f"write the function as `x + {Word.STOP_GRADIENT}(f(x) - x)`, or say `# whygrad: ignore[wrong-custom-gradient]`",
        severity=Severity.NOTE if meant else Severity.WARNING if uneven else None,
        certain=not uneven,
    )


def _off_by(probes: Sequence[Probe]) -> float | None:
    """The one factor by which the gradient is off everywhere; None where it is off by several."""
    ratios = [probe.stated / probe.measured for probe in probes]
    return ratios[0] if max(ratios) - min(ratios) <= _WRONG * max(map(abs, ratios)) else None


def _is_scaled(factors: Sequence[float], probes: Sequence[Probe]) -> bool:
    """Whether the gradient is off by one factor everywhere, and the formula has constants that make that factor."""
    ratio = _off_by(probes)
    if ratio is None:
        return False
    some = factors[:_MOST_FACTORS]
    products = {math.prod(each) for count in range(1, len(some) + 1) for each in itertools.combinations(some, count)}
    return any(math.isclose(ratio, product, rel_tol=_WRONG) for product in products)
