"""WG208 frozen-by-flag."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whygrad.diagnostics import Fix, Label, Severity, Steps, Word
from whygrad.fixes.updates import flag_set, frozen_by_layers, lists_read_when_used, repeated_before, trainable_only
from whygrad.graph import OpKind, Pairing, Recording, Update, VariableId
from whygrad.graph.ledger import WriterKind
from whygrad.graph.objects import AttributeSet, Compiled, Given, Trained
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import also_at, listing, variable_name
from whygrad.source import SourceSpan


@rule("WG208", "frozen-by-flag", severity=Severity.ERROR, since="0.1.0")
def frozen_by_flag(recording: Recording) -> Iterator[Finding]:
    """Detects a `trainable` flag that does not do what the code assumes.

    ## Why it matters
    `trainable = False` only takes variables out of the lists that Keras makes. A compiled model may be left with
    nothing to train; a custom loop that uses another list trains the frozen weights all the same; and a flag that
    is changed after the first `fit` needs a new `compile`.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    frozen = keras.layers.Dense(1, use_bias=False, trainable=False, name="frozen")
    head = keras.layers.Dense(1, use_bias=False, name="head")
    model = keras.Sequential([keras.layers.Input((2,)), frozen, head])
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.ones((4, 2))) - 1.0))
    gradients = tape.gradient(loss, model.variables)
    optimizer.apply_gradients(zip(gradients, model.variables))
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    frozen = keras.layers.Dense(1, use_bias=False, trainable=False, name="frozen")
    head = keras.layers.Dense(1, use_bias=False, name="head")
    model = keras.Sequential([keras.layers.Input((2,)), frozen, head])
    optimizer = keras.optimizers.SGD(0.1)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(tf.ones((4, 2))) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    optimizer.apply_gradients(zip(gradients, model.trainable_variables))
    ```

    ## Known limits
    A flag changed between compiling and the first training step takes effect in Keras 3 and is not reported.
    """
    yield from _nothing_to_train(recording)
    yield from _updated_though_frozen(recording)
    yield from _changed_while_training(recording)
    yield from _changed_after_training(recording)
    yield from _thawed_in_vain(recording)
    yield from _thawed_around(recording)
    yield from _changed_after_compiling(recording)


def _flags(recording: Recording) -> list[AttributeSet]:
    return [event for event in recording.events_of(AttributeSet) if event.attribute == "trainable"]


def _thaws(flag: AttributeSet) -> bool:
    return flag.given is Given.TRUE


def _trainings(recording: Recording) -> Iterator[Trained]:
    """Each training with what it really trained: where flags count when a model is compiled, what they said then."""
    for event in recording.events_of(Trained):
        changed = _changed_since_compiling(event)
        thawed, frozen = ([n for n in numbers if n in changed] for numbers in (event.trainable, event.frozen))
        yield replace(
            event,
            trainable=(*(n for n in event.trainable if n not in changed), *frozen),
            frozen=(*(n for n in event.frozen if n not in changed), *thawed),
        )


def _changed_since_compiling(event: Trained) -> set[VariableId]:
    """Variables whose flag was set after compiling, without effect."""
    if event.trainable_when_compiled is None or not event.trains_as_compiled:
        return set()
    then = set(event.trainable_when_compiled)
    return (set(event.trainable) - then) | (set(event.frozen) & then)


def _stale(event: Trained) -> list[VariableId]:
    """The variables that the training step was made for and whose flag has changed since."""
    if event.trainable_when_made is None or event.trains_as_compiled:
        return []
    changed = (set(event.trainable_when_made) ^ set(event.trainable)) & set(event.known_when_made)
    return [number for number in (*event.trainable, *event.frozen) if number in changed]


def _trainable_only(update: Update) -> Iterator[Fix]:
    yield from trainable_only(update.where)
    yield from lists_read_when_used(update.where)


def compiled_at(recording: Recording, model: str) -> SourceSpan | None:
    """Where a model was compiled last."""
    places = [event.where for event in recording.events_of(Compiled) if event.model == model]
    return places[-1] if places else None


def _nothing_to_train(recording: Recording) -> Iterator[Finding]:
    for event in _trainings(recording):
        if event.trainable or not event.frozen:
            continue
        flag = _last_flag(recording, event)
        where = event.where if flag is None or flag.where is None else flag.where
        yield Finding(
            message=f"`{event.model}` is trained but has nothing to train: `trainable` is False for all its weights",
            primary=None if where is None else Label(where, "this freezes the model wherever it is used"),
            variables=tuple(variable_name(recording.variables[n]) for n in event.frozen if n in recording.variables),
            related=() if event.where in (None, where) else (Label(event.where, "trained here, without effect"),),
            help=f"set `{event.model}.trainable = True` before it is trained, and False only around the other model",
            fixes=partial(flag_set, event.where, event.model),
            steps=Steps(event.seen, event.seen),
        )


def _last_flag(recording: Recording, event: Trained) -> AttributeSet | None:
    return next(reversed(_freezing(recording, set(event.frozen))), None)


def _freezing(recording: Recording, variables: set[VariableId]) -> list[AttributeSet]:
    """The flags that froze one of these, in order."""
    return [f for f in _flags(recording) if not _thaws(f) and variables & set(f.variables)]


def _updated_though_frozen(recording: Recording) -> Iterator[Finding]:
    late = _frozen_too_late(recording)
    for update in recording.updates:
        frozen = [p for p in update.pairs if _is_frozen(recording, p, late)]
        if not frozen:
            continue
        names = tuple(variable_name(recording.variables[pair.variable]) for pair in frozen)
        flag = _flag_that_came_late(recording, {pair.variable for pair in frozen} & late)
        where = update.where if flag is None else flag.where
        reason = (
            "the flag does not reach this list" if flag is None else "the step was compiled before the flag was set"
        )
        yield Finding(
            message=f"{listing(names)} updated although `trainable` is False: {reason}",
            primary=None
            if where is None
            else Label(where, _APPLIED if flag is None else "the compiled step still updates them"),
            variables=names,
            related=() if flag is None or update.where is None else (Label(update.where, _APPLIED),),
            fixes=partial(_trainable_only, update) if flag is None else tuple,
            help="ask for, and apply to, `trainable_variables` only"
            if flag is None
            else f"set the flag before the step is traced, or make a new `{Word.COMPILED_FUNCTION}` for the next phase",
            steps=Steps(update.times, update.times),
        )


_APPLIED = "applied to frozen variables"


def _flag_that_came_late(recording: Recording, variables: set[VariableId]) -> AttributeSet | None:
    return next((flag for flag in _freezing(recording, variables) if flag.where is not None), None)


def _is_frozen(recording: Recording, pair: Pairing, late: set[VariableId]) -> bool:
    variable = recording.variables.get(pair.variable)
    if variable is None or variable.trainable or not variable.is_floating or pair.missing:
        return False
    if pair.gradient_of is not None and pair.variable not in pair.gradient_of:  # it is given what is meant for another
        return False
    return pair.frozen or pair.variable in late


def _frozen_too_late(recording: Recording) -> set[VariableId]:
    """Variables that a step, compiled before they were frozen, goes on updating; what `fit` does is told elsewhere."""
    flags = list(_flags(recording))
    told = {number for flag in flags if flag.ran_on is not None for number in flag.variables}
    told |= {number for event in _trainings(recording) if _stale(event) for number in event.frozen}
    set_at = {number: flag.step for flag in flags for number in flag.variables}
    return {
        write.variable
        for write in recording.ledger
        if write.compiled
        and write.variable in set_at
        and write.began_by(set_at[write.variable])
        and write.updates_after(set_at[write.variable])
    } - told


def _moved_after(recording: Recording, step: int) -> set[VariableId]:
    """Variables that an optimizer updated after a step; those that the ledger knows nothing of may have been."""
    written = {write.variable for write in recording.ledger if write.kind is WriterKind.OPTIMIZER}
    paired = {pair.variable for update in recording.updates for pair in update.pairs if not pair.missing}
    return {write.variable for write in recording.ledger if write.updates_after(step)} | (paired - written)


def _changed_while_training(recording: Recording) -> Iterator[Finding]:
    """A callback sets flags while `fit` runs: the step it calls was compiled with the old list."""
    kept: dict[tuple[SourceSpan, str, bool], list[tuple[str, list[VariableId]]]] = defaultdict(list)
    for flag in _flags(recording):
        changed = _kept_as_before(recording, flag)
        if changed and flag.ran_on is not None and flag.where is not None:
            kept[flag.where, flag.ran_on, _thaws(flag)].append((flag.owner, changed))
    for (where, model, thaws), flags in kept.items():
        numbers = dict.fromkeys(number for _, changed in flags for number in changed)
        names = tuple(variable_name(recording.variables[number]) for number in numbers)
        owners = tuple(dict.fromkeys(owner for owner, _ in flags))
        whose = listing(owners) if len(owners) < 3 else f"{len(owners)} layers"
        what = f"`{owners[0]}.trainable = {thaws}`" if len(owners) == 1 else f"`trainable = {thaws}` of {whose}"
        outcome = f"{'is' if len(names) == 1 else 'are'} still {'not trained' if thaws else 'trained'}"
        yield Finding(
            message=f"{what} while `{model}` is being trained has no effect: {listing(names)} {outcome}",
            primary=Label(where, "the training step was compiled before this"),
            variables=names,
            help=f"end `fit` here, set the flag, call `{model}.compile(...)` again and go on with a new `fit`",
        )


def _kept_as_before(recording: Recording, flag: AttributeSet) -> list[VariableId]:
    """The variables that a training step, running when a flag was set, goes on training, or goes on leaving out."""
    if flag.ran_on is None:
        return []
    moved, known, thaws = _moved_after(recording, flag.step), recording.variables, _thaws(flag)
    return [n for n in flag.variables if n in known and known[n].trainable is thaws and (n in moved) is not thaws]


def _changed_after_training(recording: Recording) -> Iterator[Finding]:
    """`fit`, a flag, `fit` again without `compile`: the compiled step still has the old list."""
    for event in _trainings(recording):
        stale = [n for n in _stale(event) if n in recording.variables]
        if not stale or any(f.ran_on == event.model for f in _flags(recording)):
            continue
        names = tuple(variable_name(recording.variables[number]) for number in stale)
        flag = _last_flag(recording, event)
        where = event.where if flag is None or flag.where is None else flag.where
        yield Finding(
            message=f"`trainable` of {listing(names)} changed after `{event.model}` was compiled and trained",
            primary=None if where is None else Label(where, "no effect on the compiled training step"),
            variables=names,
            related=() if event.where in (None, where) else (Label(event.where, "still trains the old list"),),
            help=f"call `{event.model}.compile(...)` again after changing `trainable`",
            fixes=partial(repeated_before, compiled_at(recording, event.model), event.where),
            steps=Steps(event.seen, event.seen),
        )


def _changed_after_compiling(recording: Recording) -> Iterator[Finding]:
    """tf_keras trains what was trainable when it compiled. Freezing the whole model then is how GANs are written there."""
    for event in recording.events_of(Trained):
        changed = _changed_since_compiling(event)
        flags = [f for f in _flags(recording) if f.owner != event.model and changed & set(f.variables)]
        if not flags:
            continue
        flag = flags[-1]
        held = {n for each in flags if _thaws(each) == _thaws(flag) for n in each.variables}
        names = tuple(variable_name(recording.variables[n]) for n in sorted(held & changed))
        yield Finding(
            message=f"`{flag.owner}.trainable = {_thaws(flag)}` came after `{event.model}` was compiled and has no effect on it",
            primary=None if flag.where is None else Label(flag.where, "set after compiling"),
            variables=names,
            related=(
                *also_at((each.where for each in flags if _thaws(each) == _thaws(flag)), but=flag.where),
                *also_at((event.where,), but=None, text="trains what was trainable when compiled"),
            ),
            help=f"set the flag before `{event.model}.compile(...)`, or compile again",
            fixes=partial(repeated_before, compiled_at(recording, event.model), event.where),
            steps=Steps(event.seen, event.seen),
        )


def _thawed_in_vain(recording: Recording) -> Iterator[Finding]:
    """A layer inside a frozen one was set trainable: the outer flag still hides it."""
    last: dict[VariableId, AttributeSet] = {}
    for flag in _flags(recording):
        for number in flag.variables:
            last[number] = flag
    for flag in dict.fromkeys(flag for flag in last.values() if _thaws(flag)):
        later = [request for request in recording.requests if request.order > flag.order]
        asked = {source.variable for request in later for source in request.sources}
        moved = _moved_after(recording, flag.step)
        mine = [n for n in flag.variables if last[n] is flag and n not in asked and n not in moved]
        idle = [n for n in mine if recording.variables[n].trainable and _is_used(recording, n, flag.order)]
        if not idle or flag.where is None:
            continue
        names = tuple(variable_name(recording.variables[number]) for number in idle)
        around = [each.where for each in _flags(recording) if not _thaws(each) and set(idle) <= set(each.variables)]
        yield Finding(
            message=f"`{flag.owner}` was set trainable, but {listing(names)} is not in any list that is trained",
            primary=Label(flag.where, "a frozen layer or model around it still hides it"),
            variables=names,
            help="set `trainable = True` on the outer model too, and freeze its other layers one by one",
            fixes=partial(frozen_by_layers, around[-1] if around else None),
        )


def _thawed_around(recording: Recording) -> Iterator[Finding]:
    """A model was set trainable after a part of it was frozen, and the part is frozen still: Keras passes on changes."""
    flags = list(_flags(recording))
    for event in _trainings(recording):
        before = [flag for flag in flags if flag.order <= event.order]
        for number, flag in enumerate(before):
            if (
                not _thaws(flag)
                or flag.where is None
                or any(set(f.variables) & set(flag.variables) for f in before[number + 1 :])
            ):
                continue
            inner = [f for f in before[:number] if not _thaws(f) and set(f.variables) < set(flag.variables)]
            frozen = [n for f in inner for n in f.variables if n in event.frozen and n in flag.variables]
            if not frozen or not set(flag.variables) <= {*event.frozen, *event.trainable}:
                continue
            names = tuple(
                variable_name(recording.variables[n]) for n in dict.fromkeys(frozen) if n in recording.variables
            )
            yield Finding(
                message=f"`{flag.owner}` was set trainable, but {listing(names)} is still frozen: the flag of "
                f"`{flag.owner}` was True already, so Keras passes nothing on",
                primary=Label(flag.where, "changes nothing"),
                variables=names,
                related=(Label(inner[-1].where, "frozen here"),) if inner[-1].where is not None else (),
                help=f"set `trainable = True` on `{inner[-1].owner}` itself, then compile again",
                steps=Steps(event.seen, event.seen),
            )


def _is_used(recording: Recording, variable: VariableId, after: int) -> bool:
    return any(
        op.kind is OpKind.READ and op.variable == variable and request.tape in op.tapes
        for request in recording.requests
        if request.order > after and request.sources
        for op in request.graph.ops
    )
