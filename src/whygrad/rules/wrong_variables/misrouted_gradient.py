"""WG206 misrouted-gradient."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity, Steps, Word
from whygrad.fixes.updates import paired_with
from whygrad.graph import FailureKind, Pairing, Recording, Update, VariableId
from whygrad.graph.questions.clash import crossed, gradients_in, variables_in
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, variable_name
from whygrad.source import SourceSpan


@rule("WG206", "misrouted-gradient", severity=Severity.ERROR, since="0.1.0")
def misrouted_gradient(recording: Recording) -> Iterator[Finding]:
    """Detects gradients that are applied to another variable than the one they were taken of.

    ## Why it matters
    `zip(gradients, variables)` pairs by position. If the two lists differ in order or length, each variable is
    moved by its neighbour's gradient; where the shapes agree nothing fails, and the loss may even go down.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.square(a) + 3.0 * tf.square(b)
    gradients = tape.gradient(loss, [a, b])
    optimizer.apply_gradients(zip(gradients, [b, a]))
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    a = tf.Variable(1.0, name="a")
    b = tf.Variable(2.0, name="b")
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.square(a) + 3.0 * tf.square(b)
    gradients = tape.gradient(loss, [a, b])
    optimizer.apply_gradients(zip(gradients, [a, b]))
    ```

    ## Known limits
    A gradient of one network applied to another network as a whole (workers and a shared copy) is taken as meant,
    unless the other one took part in the same pass, or has gradients of its own that nothing uses.
    """
    for update in _together(recording.updates):
        wrong = [pair for pair in update.pairs if _is_misrouted(update, pair)]
        if wrong:
            yield _finding(recording, update, wrong)
        elif _is_of_another_network(recording, update):
            yield _of_another_network(recording, update, ", which nothing updates")
        elif _has_own_gradients_unused(recording, update):
            yield _of_another_network(recording, update, ", while its own gradients are not used")
        elif _is_beside(update):
            yield _of_another_network(recording, update, ", though it took part in the same pass")
    yield from _refused(recording)


def _refused(recording: Recording) -> Iterator[Finding]:
    """The program died where variables were to be moved by the gradients of others."""
    failure = recording.failure
    met = None if failure is None or failure.where is None else crossed(failure)
    if failure is None or failure.where is None or met is None:
        return
    variables, gradients = met
    asked = {source.variable for request in recording.requests for source in request.sources}
    if not variables_in(variables) & asked:  # collectors of gradients that hold none yet
        return
    moved, origin = sorted(variables_in(variables)), sorted(gradients_in(gradients))
    names, owners = (tuple(variable_name(recording.variables[n]) for n in each) for each in (moved, origin))
    sizes = f"{len(variables.held)} variables, {len(gradients.held)} gradients"
    yield Finding(
        message=f"`{variables.expression}` is paired with gradients of another list of variables"
        if variables.is_list
        else f"{listing(names)} would be updated by the gradient of {listing(owners)}",
        primary=Label(failure.where, sizes if variables.is_list else "the shapes differ"),
        variables=tuple(sorted({*names} ^ {*owners})) if variables.is_list else names,
        help=f"zip the gradients with exactly the list that was passed to `{Word.GRADIENT}`",
        fixes=partial(paired_with, failure.where, _asked(recording, set(origin))),
    )


def _fixes(recording: Recording, update: Update) -> Iterator[Fix]:
    origins = {number for pair in update.pairs for number in pair.gradient_of or ()}
    return paired_with(update.where, _asked(recording, origins))


def _asked(recording: Recording, variables: set[VariableId]) -> SourceSpan | None:
    """Where the gradients of these were asked for."""
    asking = [r for r in recording.requests if variables & {source.variable for source in r.sources}]
    return max(asking, key=lambda r: r.order).where if asking else None


def _together(updates: tuple[Update, ...]) -> Iterator[Update]:
    """Updates by hand change one variable at a time: those of one place are one update."""
    by_hand: dict[SourceSpan | None, list[Update]] = {}
    for update in updates:
        if update.optimizer_id:
            yield update
        else:
            by_hand.setdefault(update.where, []).append(update)
    for group in by_hand.values():
        yield replace(group[0], pairs=tuple(pair for update in group for pair in update.pairs))


def _is_misrouted(update: Update, pair: Pairing) -> bool:
    if pair.gradient_of is None or pair.variable in pair.gradient_of:
        return False
    return any(other.variable in (each.gradient_of or ()) for other in update.pairs for each in update.pairs)


def _finding(recording: Recording, update: Update, wrong: list[Pairing]) -> Finding:
    names = tuple(variable_name(recording.variables[pair.variable]) for pair in wrong)
    origin = sorted(variable_name(recording.variables[n]) for n in wrong[0].gradient_of or ())
    return Finding(
        message=f"{listing(names)} updated by the gradient of another variable: `{names[0]}` by that of `{origin[0]}`",
        primary=None
        if update.where is None
        else Label(update.where, f"{len(wrong)} of {len(update.pairs)} pairs are crossed"),
        variables=names,
        help=f"zip the gradients with exactly the list that was passed to `{Word.GRADIENT}`",
        steps=Steps(update.times, update.times),
        fixes=partial(_fixes, recording, update),
    )


def _is_beside(update: Update) -> bool:
    """Each variable was used under the very tape that was asked for the gradients of others, and is moved by these."""
    strange = [pair.gradient_of is not None and pair.variable not in pair.gradient_of for pair in update.pairs]
    return bool(strange) and all(strange) and any(pair.beside for pair in update.pairs)


def _of_another_network(recording: Recording, update: Update, remark: str) -> Finding:
    names = tuple(variable_name(recording.variables[pair.variable]) for pair in update.pairs)
    origins = {number: None for pair in update.pairs for number in sorted(pair.gradient_of or ())}
    owners = tuple(variable_name(recording.variables[number]) for number in origins)
    failure = recording.failure
    refused = failure is not None and failure.kind is FailureKind.SHAPES_DIFFER and failure.where == update.where
    return replace(
        _finding(recording, update, list(update.pairs)),
        message=f"{listing(names)} {'' if refused else 'likely '}updated by mistake: by the gradients of {listing(owners)}{remark}",
        variables=tuple(dict.fromkeys((*names, *owners))),
        certain=refused,
    )


def _has_own_gradients_unused(recording: Recording, update: Update) -> bool:
    """A whole list of gradients moves a network whose own gradients were computed and move nothing."""
    moved = {pair.variable for pair in update.pairs}
    applied = {number for each in recording.updates for pair in each.pairs for number in pair.gradient_of or ()}
    known = all(pair.gradient_of is not None for each in recording.updates for pair in each.pairs if not pair.missing)
    own = {source.variable for request in recording.requests for source in request.sources}
    origins = [pair.gradient_of for pair in update.pairs]
    synced = any(recording.variables[number].writes for numbers in origins for number in numbers or ())
    return bool(moved) and all(origins) and known and not synced and moved <= own and moved.isdisjoint(applied)


def _is_of_another_network(recording: Recording, update: Update) -> bool:
    """A whole list of gradients moves a network that has gradients of its own, and the one they belong to never moves."""
    strangers = {number for pair in update.pairs for number in pair.gradient_of or ()}
    moved_here = {pair.variable for pair in update.pairs}
    if not strangers or strangers & moved_here or any(pair.gradient_of is None for pair in update.pairs):
        return False
    own = {source.variable for request in recording.requests for source in request.sources}
    moved = {pair.variable for each in recording.updates for pair in each.pairs}
    written = {number for number in strangers if recording.variables[number].writes}
    return moved_here <= own and not strangers & moved and not written
