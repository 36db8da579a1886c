"""WG604 optimizer-recreated."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Steps, Word
from whygrad.fixes.making import made_here, made_once
from whygrad.graph import Recording, Update, VariableId
from whygrad.graph.ledger import WriterKind
from whygrad.graph.objects import Compiled
from whygrad.rules.rule import Finding, rule


@rule("WG604", "optimizer-recreated", severity=Severity.ERROR, since="0.1.0")
def optimizer_recreated(recording: Recording) -> Iterator[Finding]:
    """Detects optimizers that are recreated in every step, so that their moments never live.

    ## Why it matters
    Adam, RMSprop and momentum work by remembering. An optimizer made inside the loop forgets everything after one
    step, and its schedule never advances.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    for step in range(3):
        optimizer = keras.optimizers.Adam(0.1)
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    w = tf.Variable(2.0, name="w")
    optimizer = keras.optimizers.Adam(0.1)
    for step in range(3):
        with tf.GradientTape() as tape:
            loss = tf.square(w)
        gradients = tape.gradient(loss, [w])
        optimizer.apply_gradients(zip(gradients, [w]))
    ```

    ## Known limits
    Plain SGD keeps nothing between steps and is not reported. An optimizer that is recreated for more than four steps,
    or a model that is compiled again for a longer phase of training, for other layers, or after its weights were set
    back, is taken as meant.
    """
    compiled_anew = _compiled_anew(recording)
    yield from (_given_up(event, replaced) for event, replaced in compiled_anew)
    told = {variable for event, _ in compiled_anew for variable in event.trainable or ()}
    by_place: dict[object, list[Update]] = {}
    for update in recording.updates:
        if update.optimizer_id and update.stateful and update.where is not None:
            variables = frozenset(pair.variable for pair in update.pairs)
            if told and variables <= told:
                continue
            by_place.setdefault((update.where, variables), []).append(update)
    for group in by_place.values():
        optimizers = {update.optimizer_id for update in group}
        most = max(map(_times, group))
        compiled = any(update.runs is not None for update in group)
        fewest = _FEWEST_OF_SHORT_PHASES if most > 1 else _FEWEST_COMPILED if compiled else _FEWEST
        if len(optimizers) < fewest or most > (_LONGEST_COMPILED_LIFE if compiled else _LONGEST_LIFE):
            continue
        if most > 1 and (_set_back(recording) & {pair.variable for pair in group[0].pairs} or not _made_alike(group)):
            continue
        last, often = group[-1], "every step" if most == 1 else f"every {most} steps"
        where = last.made or last.where
        yield Finding(
            message=f"{len(optimizers)} optimizers were made to train the same variables, one for {often}",
            primary=None if where is None else Label(where, f"a new optimizer {often}: its moments are lost"),
            related=() if last.where in (None, where) else (Label(last.where, "used here"),),
            help="make the optimizer once, before the loop; change its rate with "
            f"`optimizer.learning_rate.{Word.ASSIGN}(...)`",
            steps=Steps(len(optimizers), len(optimizers)),
            fixes=partial(made_here, last.made),
        )


# Steps that one of them may live for: who makes an optimizer for a longer phase may mean it.
_LONGEST_LIFE = 4
_LONGEST_COMPILED_LIFE = 1  # a model that is compiled for several steps is compiled for a phase

# Optimizers in a row at one place. Two that lived for one step have lost their moments once already.
_FEWEST = 2
_FEWEST_COMPILED = 3  # a model may well be compiled a second time, to be fine-tuned
_FEWEST_OF_SHORT_PHASES = 4  # so many short phases are a loop, not a plan


def _made_alike(group: list[Update]) -> bool:
    """All but the first at one place: in a loop, not for phases of a plan."""
    return len({update.made for update in group[1:]}) == 1 and group[-1].made is not None


def _times(update: Update) -> int:
    return update.times


def _compiled_anew(recording: Recording) -> list[tuple[Compiled, int]]:
    """Models that got a new optimizer for every round, and how many; not those that were set back for a fresh start."""
    set_back = _set_back(recording)
    before: dict[str, tuple[Compiled, int]] = {}
    most: dict[object, tuple[Compiled, int]] = {}
    for event in recording.events_of(Compiled):
        last, replaced = before.get(event.model, (None, 0))
        replaced = replaced + 1 if last is not None and _goes_on(last, event) else 0
        before[event.model] = event, replaced
        if replaced > most.get((event.model, event.where), (event, 1))[1] and not set_back & set(event.trainable or ()):
            most[event.model, event.where] = event, replaced
    return list(most.values())


def _goes_on(last: Compiled, event: Compiled) -> bool:
    """Whether a model was compiled again in a loop; other layers, or a long training before, make it a new phase."""
    alike = last.where == event.where and last.trainable == event.trainable
    lost = last.stateful and last.optimizer != event.optimizer
    return alike and lost and last.trained and last.epochs <= 1


def _set_back(recording: Recording) -> set[VariableId]:
    """Variables that were given a value after training had begun."""
    return {
        write.variable
        for write in recording.ledger
        if write.kind in _SETTING and any(stretch.last > 0 for stretch in write.steps)
    }


def _given_up(event: Compiled, replaced: int) -> Finding:
    where, lost = event.where, "a new optimizer each time: its moments are lost"
    return Finding(
        message=f"`{event.model}` is compiled again for every round of training: {replaced} optimizers were thrown "
        "away with their moments",
        primary=None if where is None else Label(where, lost),
        help="compile once, before the loop; change the rate with `optimizer.learning_rate`, a schedule or a callback",
        steps=Steps(replaced, replaced),
        fixes=partial(made_once, where),
    )


_SETTING = (WriterKind.RESTORE, WriterKind.USER, WriterKind.EDIT, WriterKind.CALLBACK)
