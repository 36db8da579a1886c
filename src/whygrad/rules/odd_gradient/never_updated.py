"""WG309 never-updated."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace

from whygrad.diagnostics import Label, Severity, Word
from whygrad.graph import Recording, Request, VariableId
from whygrad.graph.ledger import WriterKind
from whygrad.rules.odd_gradient.over_steps import Followed, always, asked, measured, rounding_only, track_of
from whygrad.rules.odd_gradient.series import find_vanishing
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing
from whygrad.source import SourceSpan


@rule("WG309", "never-updated", severity=Severity.WARNING, since="0.1.0")
def never_updated(recording: Recording) -> Iterator[Finding]:
    """Detects variables that have a gradient at every step and never move.

    ## Why it matters
    The gradient is there, so nothing looks wrong; but no optimizer is given it, its learning rate is zero, or
    something gives the variable its old value back. The loss falls by what the other variables can do.

    ## Example
    ```python
    import tensorflow as tf

    encoder = tf.Variable([0.5, -0.5], name="encoder")
    decoder = tf.Variable([1.0, 2.0], name="decoder")
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((encoder * decoder - 3.0) ** 2)
        gradients = tape.gradient(loss, [encoder, decoder])
        decoder.assign_sub(0.05 * gradients[1])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    encoder = tf.Variable([0.5, -0.5], name="encoder")
    decoder = tf.Variable([1.0, 2.0], name="decoder")
    for _ in range(20):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum((encoder * decoder - 3.0) ** 2)
        gradients = tape.gradient(loss, [encoder, decoder])
        encoder.assign_sub(0.05 * gradients[0])
        decoder.assign_sub(0.05 * gradients[1])
    ```

    ## Known limits
    Values are compared at a few moments of the run: a variable that had its old value back at each of them counts as
    one that never moved. Where none of the variables of a request moves and no optimizer is given their gradients,
    nothing is said: they may be asked for to be looked at.
    """
    given = {pair.variable for update in recording.updates for pair in update.pairs if not pair.missing}
    elsewhere = given | {  # whose gradients move other variables: that is said elsewhere
        number
        for update in recording.updates
        for pair in update.pairs
        for number in pair.gradient_of or ()
        if pair.variable not in (pair.gradient_of or ())
    }
    for request, group in measured(recording):
        still = [each for each in group if each.numbers.moved is False and each.is_mostly_there]
        nothing = rounding_only(request) if still else set[int]()
        still = [each for each in still if id(each.source) not in nothing]
        if not still or any(True for _ in find_vanishing(track_of(request, group))):
            continue
        lost = [each for each in still if each.variable.id not in elsewhere]
        stuck = [each for each in still if each.variable.id in given]
        if lost and any(each.numbers.moved for each in group):
            yield _finding(request, lost, "no update is given to {it}", "give {it} to an optimizer", certain=True)
        if stuck:
            found = _finding(
                request,
                stuck,
                "{its} updates likely change nothing",
                f"look for a learning rate of zero, a mask, or an `{Word.ASSIGN}` that gives {{it}} the old value back",
                certain=False,
            )
            place = _written_at(recording, {each.variable.id for each in stuck})
            label = Label(place, "writes at every step, and changes nothing") if place is not None else found.primary
            yield replace(found, primary=label, related=() if place is None else asked(request))


def _written_at(recording: Recording, variables: set[VariableId]) -> SourceSpan | None:
    """The line of the user's that writes to these again and again, where it is one."""
    writes = [each for each in recording.ledger if each.variable in variables and each.kind is WriterKind.USER]
    places = {each.where for each in writes if each.count > 1}
    return places.pop() if len(places) == 1 else None


def _finding(request: Request, found: Sequence[Followed], reason: str, help: str, *, certain: bool) -> Finding:
    names = tuple(each.name for each in found)
    alone = len(names) == 1
    words = {"it": "it" if alone else "them", "its": "its" if alone else "their"}
    moves = "never moves although it has a gradient" if alone else "never move although they have gradients"
    return Finding(
        message=f"{listing(names)} {moves}: {reason.format(**words)}",
        primary=next(iter(asked(request)), None),
        variables=names,
        help=help.format(**words),
        steps=always(request),
        certain=certain,
    )
