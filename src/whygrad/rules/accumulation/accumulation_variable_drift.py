"""WG503 accumulation-variable-drift."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from typing import Final

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import FailureKind, Operand, Pairing, Recording, Update, VariableId
from whygrad.graph.questions.clash import are_recreated, gradients_in, mixed_gradients
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.source import SourceSpan


@rule("WG503", "accumulation-variable-drift", severity=Severity.ERROR, since="0.1.0")
def accumulation_variable_drift(recording: Recording) -> Iterator[Finding]:
    """Detects accumulators in which gradients of different variables are added up.

    ## Why it matters
    Accumulators that are paired with gradients by position mix two variables as soon as the list of trainable
    variables changes between micro-batches: a layer is unfrozen, a new one is built. Where the shapes agree nothing
    fails.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)
    total = tf.zeros(2)
    for variables in ([a], [b, a]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * b)) / 2.0
        gradients = tape.gradient(loss, variables)
        total = total + gradients[0]
    optimizer.apply_gradients([(total, a)])
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable([1.0, 2.0], name="a")
    b = tf.Variable([3.0, 4.0], name="b")
    optimizer = keras.optimizers.SGD(0.1)
    totals = {a.ref(): tf.zeros(2), b.ref(): tf.zeros(2)}
    for variables in ([a], [b, a]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.square(a * b)) / 2.0
        gradients = tape.gradient(loss, variables)
        for variable, gradient in zip(variables, gradients):
            totals[variable.ref()] += gradient
    optimizer.apply_gradients([(total, reference.deref()) for reference, total in totals.items()])
    ```

    ## Known limits
    Gradients of several networks that are averaged and applied to another one are taken as meant.
    """
    yield from _refused(recording)
    for where, found in _by_sum(recording).items():
        names = tuple(dict.fromkeys(name for _, pair in found for name in _names(recording, pair)))
        updates = {id(update): update for update, _ in found}.values()
        seen = sum(update.times for update in updates)
        which = "one accumulator" if len({pair.variable for _, pair in found}) == 1 else "the same accumulators"
        applied = dict.fromkeys(update.where for update in updates)
        yield Finding(
            message=f"gradients of different variables are added up in {which}: {listing(names)}",
            primary=Label(where, "another variable's gradient is added here"),
            variables=names,
            related=tuple(Label(span, "applied here") for span in applied if span is not None and span != where),
            help=_KEYED,
            steps=Steps(seen, seen),
        )


_KEYED: Final = "fix the list of variables before accumulating, and key the accumulators by variable, not by position"


def _refused(recording: Recording) -> Iterator[Finding]:
    """The program died where gradients are added up, since the list that is asked for has become another."""
    failure = recording.failure
    if failure is None or failure.where is None:
        return
    met = mixed_gradients(failure)
    if met is not None and not are_recreated(recording, *map(gradients_in, met)):
        yield _of_different_variables(recording, failure.where, *met)
    held = [gradients_in(each) for each in failure.operands if each.is_list]
    sums = {pair.summed for update in recording.updates for pair in update.pairs}
    at_sum = failure.kind is FailureKind.SHAPES_DIFFER and failure.where in sums
    too_short = failure.kind is FailureKind.LENGTHS_DIFFER and any(held)
    if met is not None or not (at_sum or too_short):
        return
    asked = sorted(recording.requests, key=lambda request: request.order)
    alike = [request for request in asked if request.where == asked[-1].where]
    if len(alike) < 2:
        return
    before, now = ([source.variable for source in request.sources] for request in alike[-2:])
    if at_sum and all(old == new for old, new in zip(before, now, strict=False)):
        return
    if too_short and (len(before) == len(now) or {*before} not in held):
        return
    moved = [n for place, n in enumerate(now) if n is not None and (place >= len(before) or before[place] != n)]
    names = tuple(variable_name(recording.variables[number]) for number in moved)
    where, label = alike[-1].where, f"asks for {len(now)} variables now, for {len(before)} before"
    yield Finding(
        message=f"gradients have no accumulator: the list that is asked for holds {listing(names)} now"
        if too_short
        else f"likely gradients of different variables are added up: the list holds {listing(names)} elsewhere now",
        primary=Label(failure.where, f"the {'lengths' if too_short else 'shapes of gradient and accumulator'} differ"),
        variables=names,
        related=() if where is None else (Label(where, label),),
        help=_KEYED,
        certain=too_short,
    )


def _of_different_variables(recording: Recording, where: SourceSpan, first: Operand, second: Operand) -> Finding:
    before, now = ([_name(recording, n) for n in sorted(gradients_in(each))] for each in (first, second))
    names = tuple(dict.fromkeys(name for name in (*now, *before) if (name in now) != (name in before)))
    asked = max(recording.requests, key=lambda request: request.order, default=None)
    related = None if asked is None or asked.where in (None, where) else asked.where
    sizes = f"`{first.expression}` holds {len(first.held)} gradients, `{second.expression}` {len(second.held)}"
    owners = f"`{first.expression}` is of {listing(tuple(before))}, `{second.expression}` of {listing(tuple(now))}"
    return Finding(
        message=f"gradients of different variables are added up: {listing(names)}",
        primary=Label(where, sizes if first.is_list else owners),
        variables=names,
        related=() if related is None else (Label(related, "asked for here"),),
        help=_KEYED,
    )


def _by_sum(recording: Recording) -> dict[SourceSpan, list[tuple[Update, Pairing]]]:
    """What is applied after gradients of different variables were added up, by the expression that did."""
    places = defaultdict(list)
    for update in recording.updates:
        for pair in update.pairs:
            if pair.mixed is not None and pair.variable in (pair.gradient_of or ()) and pair.requests > 1:
                places[pair.mixed].append((update, pair))
    return places


def _names(recording: Recording, pair: Pairing) -> list[str]:
    return sorted(_name(recording, number) for number in pair.gradient_of or ())


def _name(recording: Recording, number: VariableId) -> str:
    return variable_name(recording.variables[number])
