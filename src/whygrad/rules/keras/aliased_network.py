"""WG209 aliased-network."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator
from functools import partial
from operator import or_

from whygrad.diagnostics import Label, Severity
from whygrad.fixes.networks import copied, each_made_anew
from whygrad.graph import Action, OpKind, Recording, Request, TensorId, VariableId
from whygrad.graph.ledger import WriterKind
from whygrad.graph.objects import AttributeSet, Call, Given, ListRead, ObjectCalled
from whygrad.graph.questions.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names, text_of, variable_name
from whygrad.source import SourceSpan
from whygrad.source.naming import alias_assignment, callee, copied_between, is_of_itself, multiplication
from whygrad.source.origin import zipped_around


@rule("WG209", "aliased-network", severity=Severity.WARNING, since="0.1.0")
def aliased_network(recording: Recording) -> Iterator[Finding]:
    """Detects two names for one network where two networks were meant.

    ## Why it matters
    `target = network` makes a second name, not a copy. A target network that is the network itself moves with every
    update, and the bootstrapped loss chases its own tail.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    network = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    target = network
    x = tf.ones((4, 2))
    backup = 0.9 * target(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(x) - backup))
    gradients = tape.gradient(loss, network.trainable_variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    network = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1)])
    target = keras.models.clone_model(network)
    target.set_weights(network.get_weights())
    x = tf.ones((4, 2))
    backup = 0.9 * target(x)
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(network(x) - backup))
    gradients = tape.gradient(loss, network.trainable_variables)
    ```

    ## Known limits
    Only a plain assignment of one name to the other is recognised, and only where both are called in one loss; and a list
    multiplied around the very expression that makes a layer or variable (`[Dense(4)] * 3`, `[make_block()] * n`), or
    `dict.fromkeys` in its place. Of two networks made of the same layers, where both get the same input.
    """
    yield from _multiplied(recording)
    told = {number for _, _, variables in _repeated(recording) for number in variables}
    yield from _copied_onto_itself(recording, told)
    yield from _twice_on_one_input(recording, told)
    yield from _taken_from_itself(recording)
    for event in recording.events_of(ObjectCalled):
        fresh = event.calls and told.isdisjoint(event.variables)
        for first, second, assigned, called in _two_names(event) if fresh else ():
            if _bootstraps(recording, event, called):
                told.update(event.variables)
                yield Finding(
                    message=f"`{first}` and `{second}` are likely meant to be two networks, but are one",
                    primary=Label(assigned, "a second name, not a copy"),
                    related=tuple(
                        Label(calls[0].where, "called here") for calls in called if calls[0].where is not None
                    ),
                    help=f"copy it: `{first} = keras.models.clone_model({second})`, "
                    f"then `{first}.set_weights({second}.get_weights())`",
                    fixes=partial(copied, assigned),
                    certain=False,
                )
    yield from _paired_with_itself(recording, told)


def _two_names(event: ObjectCalled) -> Iterator[tuple[str, str, SourceSpan, tuple[list[Call], list[Call]]]]:
    """Names by which one object is called, the first of which was assigned from the second; where that is, and the calls."""
    names: dict[str, list[Call]] = {}
    for call in event.calls:
        name = None if call.where is None else callee(call.where)
        if name is not None:
            names.setdefault(name, []).append(call)
    for first, second in itertools.permutations(names, 2):
        where = names[first][0].where
        kept = first.rpartition(".")[2] == second.rpartition(".")[2]  # `self.model = model`: one name, kept
        assigned = None if where is None or kept else alias_assignment(where.file, first, second)
        if assigned is not None:
            yield first, second, assigned, (names[first], names[second])


def shared_unawares(recording: Recording) -> set[VariableId]:
    """The variables of what stands for several networks, as far as that is likely not meant."""
    told = {number for _, _, variables in _repeated(recording) for number in variables}
    for _ in (*_copied_onto_itself(recording, told), *_twice_on_one_input(recording, told)):
        pass
    return told


def _multiplied(recording: Recording) -> Iterator[Finding]:
    """One finding for each list, also where it repeats several objects."""
    by_place: dict[SourceSpan, list[tuple[str, Iterable[VariableId]]]] = {}
    for where, name, variables in _repeated(recording):
        by_place.setdefault(where, []).append((name, variables))
    for where, objects in by_place.items():
        numbers = dict.fromkeys(n for _, variables in objects for n in variables if n in recording.variables)
        yield Finding(
            message=f"a list likely meant to hold several of `{objects[0][0]}` holds one several times: "
            "they share every weight",
            primary=Label(where, "repeats the object, does not make new ones"),
            variables=tuple(variable_name(recording.variables[number]) for number in numbers),
            help="make each one separately: `[Layer() for _ in range(n)]`; to share on purpose, name the layer first",
            fixes=partial(each_made_anew, where),
            certain=False,
        )


def _repeated(recording: Recording) -> Iterator[tuple[SourceSpan, str, Iterable[VariableId]]]:
    """Objects and variables made inside a list that is multiplied: where, which, and what they hold."""
    made, shared = set[SourceSpan](), _trained_by_several(recording)
    for event in recording.events_of(ObjectCalled):
        made.update(event.made[:1])
        again = event.most_in_a_pass > 1 or not shared.isdisjoint(event.variables)
        place = _multiplication(event.made, again=again)
        if place is not None:
            yield place, event.name, sorted(recording.holders.get(event.name, event.variables))
    for variable in recording.variables.values():
        if variable.trainable and variable.created is not None and variable.created not in made:
            place = _multiplication((variable.created,), again=_is_read_again(recording, variable.id))
            if place is not None:
                yield place, variable.name, (variable.id,)


def _trained_by_several(recording: Recording) -> set[VariableId]:
    """Variables that one place moves by several optimizers: each was made for one of several networks."""
    optimizers: dict[tuple[SourceSpan | None, VariableId], set[int]] = {}
    for update in recording.updates:
        for pair in update.pairs if update.optimizer_id else ():
            optimizers.setdefault((update.where, pair.variable), set()).add(update.optimizer_id)
    return {variable for (_, variable), several in optimizers.items() if len(several) > 1}


def _multiplication(made: tuple[SourceSpan, ...], *, again: bool) -> SourceSpan | None:
    """The multiplied list around the place where something was made, if it is known to repeat it.

    Where a function made it, of all that the function made, what it returned is repeated.
    """
    for number, where in enumerate(made if again else made[:1]):
        found = multiplication(where)
        if found is not None and (again or (number == 0 and (found[1] or 0) > 1)):
            return found[0]
    return None


def _is_read_again(recording: Recording, variable: VariableId) -> bool:
    """Whether one expression reads it more than once on the way to one loss."""
    for request in recording.requests:
        places = [op.where for op in index_of(request.graph).reads.get(variable, ())]
        if len(places) > len(set(places)):
            return True
    return False


def _copied_onto_itself(recording: Recording, told: set[VariableId]) -> Iterator[Finding]:
    for copy in recording.events_of(AttributeSet):
        if copy.given is not Given.WEIGHTS or not copy.variables or set(copy.variables) != set(copy.source_variables):
            continue
        if told.issuperset(copy.variables):
            continue
        if copy.owner == copy.source:
            for found in _under_two_names(recording, copy):
                told.update(copy.variables)
                yield found
            continue
        labels = [Label(copy.made, "the same layers once more, not a copy of them")] if copy.made is not None else []
        labels += [Label(copy.where, "this copies the weights onto themselves")] if copy.where is not None else []
        yield Finding(
            message=f"`{copy.owner}` and `{copy.source}` have the very same variables: they are one network",
            primary=next(iter(labels), None),
            related=tuple(labels[1:]),
            variables=tuple(variable_name(recording.variables[n]) for n in copy.variables if n in recording.variables),
            help=f"make a second network: `keras.models.clone_model({copy.source})`, then copy the weights to it",
        )


def _under_two_names(recording: Recording, copy: AttributeSet) -> Iterator[Finding]:
    """The weights of a network are copied to it by a second name, which an assignment gave to it, or what made it."""
    held = copied_between(copy.where)
    if held is None or copy.where is None:
        return
    assigned = alias_assignment(copy.where.file, *held)
    copied = Label(copy.where, f"{'from here on ' if assigned else ''}this copies the weights onto themselves")
    advice = "leave the assignment out: copying the weights is enough, if" if assigned else "see to it that"
    yield Finding(
        message=f"`{held[0]}` and `{held[1]}` are one network: its weights are copied onto themselves",
        primary=copied if assigned is None else Label(assigned, "a second name, not a copy"),
        related=() if assigned is None else (copied,),
        variables=names(recording, copy.variables),
        help=f"{advice} `{held[0]}` is a network of its own (`keras.models.clone_model`)",
    )


def _taken_from_itself(recording: Recording) -> Iterator[Finding]:
    """A loss holds the difference of two variables, and they are one: a distance to a copy that is none."""
    found: dict[SourceSpan, dict[VariableId, None]] = {}
    for request in recording.requests:
        index = index_of(request.graph)
        behind = index.behind(request.targets)
        for op in request.graph.ops:
            if (
                op.action not in (Action.SUBTRACT, Action.SQUARED_DIFFERENCE)
                or op.where is None
                or not any(tensor in behind for tensor in op.outputs)
            ):
                continue
            sides = [_variable_read(index, tensor) for tensor in op.inputs[:2]]
            known = recording.variables.get(sides[0]) if len(sides) == 2 and sides[0] is not None else None
            if known is not None and sides[0] == sides[1] and not known.writes and not is_of_itself(op.where):
                found.setdefault(op.where, {})[known.id] = None
    for place, variables in found.items():
        names = tuple(variable_name(recording.variables[number]) for number in variables)
        yield Finding(
            message=f"{text_of(place)} takes {listing(names)} from itself, which is always zero: likely one network under "
            "two names",
            primary=Label(place, "both sides are the same variable"),
            variables=names,
            help="compare with a copy: `keras.models.clone_model(...)`, then `copy.set_weights(network.get_weights())`",
            certain=False,
        )


def _variable_read(index: Index, tensor: TensorId) -> VariableId | None:
    makers = index.makers.get(tensor, ())
    return makers[0].variable if len(makers) == 1 and makers[0].kind is OpKind.READ else None


def _twice_on_one_input(recording: Recording, told: set[VariableId]) -> Iterator[Finding]:
    """Two networks made apart have the very same variables, and compute the same of one tensor."""
    by_variables: dict[frozenset[VariableId], list[ObjectCalled]] = {}
    for event in recording.events_of(ObjectCalled):
        if event.variables and event.made:
            by_variables.setdefault(frozenset(event.variables), []).append(event)
    for variables, events in by_variables.items():
        for one, other in itertools.combinations(events, 2):
            place = _made_later(recording, one.name, other.name)
            if place is not None and any(
                _compute_alike(r, variables, one.name, other.name) for r in recording.requests
            ):
                told.update(variables)
                yield Finding(
                    message=f"`{one.name}` and `{other.name}` have the very same variables and get the same input: "
                    "they are likely meant to be two networks, but are one",
                    primary=Label(place, "the same layers once more, not a copy of them"),
                    variables=tuple(variable_name(recording.variables[n]) for n in sorted(variables)),
                    help=f"make a second network: `keras.models.clone_model({one.name})`, or call what makes it twice",
                    certain=False,
                )


def _compute_alike(request: Request, variables: frozenset[VariableId], one: str, other: str) -> bool:
    """Whether each of two networks, neither of them inside the other, takes one tensor times one of these variables."""
    index = index_of(request.graph)
    for variable in variables:
        given: dict[str, set[TensorId]] = {one: set(), other: set()}
        for tensor in (tensor for op in index.reads.get(variable, ()) for tensor in op.outputs):
            for op, _ in index.users.get(tensor, ()):
                inside = [name for name in given if name in op.layers]
                if op.kind is OpKind.CONTRACT and len(inside) == 1:
                    given[inside[0]].update(each for each in op.inputs if each != tensor)
        if not given[one].isdisjoint(given[other]):
            return True
    return False


def _paired_with_itself(recording: Recording, told: set[VariableId]) -> Iterator[Finding]:
    """A loop over the lists of two objects writes from one to the other, and the lists hold the very same variables."""
    lists = [each for each in recording.events_of(ListRead) if each.where is not None and each.held]
    places = {each.where for each in recording.ledger if each.kind is WriterKind.USER and each.where is not None}
    for place in sorted(places):
        read = [_list_at(lists, spans) for spans in zipped_around(place)]
        for first, second in itertools.combinations([each for each in read if each is not None], 2):
            same = [one for one, other in zip(first.held, second.held, strict=False) if one == other]
            if first.where != second.where and same and told.isdisjoint(same):
                made = _made_later(recording, first.owner, second.owner)
                writes = Label(place, "this writes every variable onto itself")
                yield Finding(
                    message=f"{text_of(first.where)} and {text_of(second.where)} hold the very same variables: "
                    "they are one network",
                    primary=writes if made is None else Label(made, "the same layers once more, not a copy of them"),
                    related=() if made is None else (writes,),
                    variables=tuple(variable_name(recording.variables[n]) for n in same),
                    help=f"make a second network: `keras.models.clone_model({second.owner})`, then copy the weights to it",
                )


def _made_later(recording: Recording, *owners: str) -> SourceSpan | None:
    """Where the second of two networks was made, if they have different names."""
    called = {event.name: event.made[0] for event in recording.events_of(ObjectCalled) if event.made}
    made = sorted({called[name] for name in owners if name in called})
    return made[1] if len(made) == 2 else None


def _list_at(lists: list[ListRead], spans: list[SourceSpan]) -> ListRead | None:
    """The list of variables that was read in one of these places, where that was always the same one."""
    for span in spans:
        read = [each for each in lists if each.where is not None and _is_all_of(span, each.where)]
        if read:
            return read[0] if len({each.held for each in read}) == 1 else None
    return None


def _is_all_of(span: SourceSpan, read: SourceSpan) -> bool:
    """Whether an expression, or what an assignment gives its name, is this read and nothing else."""
    ends = (span.last_line, span.end_column) == (read.last_line, read.end_column)
    return ends and span.holds(read)


def _bootstraps(recording: Recording, event: ObjectCalled, called: tuple[list[Call], list[Call]]) -> bool:
    """One loss uses the network twice: once with a gradient, once as a fixed value; and by both of its names."""
    taped = [any(call.taped for call in calls) for calls in called]
    for request in recording.requests:
        asked = set(event.variables) & {source.variable for source in request.sources}
        if not asked:
            continue
        index = index_of(request.graph)
        open_ = index.open_behind(request.targets, request.tape)
        behind = index.behind(request.targets)
        for variable in asked:
            used = [tensor for op in index.reads.get(variable, ()) for tensor in op.outputs if tensor in behind]
            recorded = [tensor for tensor in used if _is_recorded(index, request, tensor)]
            live = [tensor for tensor in recorded if tensor in open_]
            # What a layer computes under a tape is placed where the layer was made, else where it was called.
            places = {op.where for tensor in used if tensor not in recorded for op, _ in index.users.get(tensor, ())}
            earlier = [any(call.where in places for call in calls) for calls in called]
            both = all(taped) if len(used) == len(recorded) else not any(earlier) or all(map(or_, taped, earlier))
            if live and len(used) > len(live) and both:
                return True
    return False


def _is_recorded(index: Index, request: Request, tensor: TensorId) -> bool:
    return any(request.tape in op.tapes for op in index.makers.get(tensor, ()))
