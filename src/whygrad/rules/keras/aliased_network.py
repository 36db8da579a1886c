"""WG209 aliased-network."""

from __future__ import annotations

from collections.abc import Iterator

from whygrad.diagnostics import Label, Severity
from whygrad.graph import Recording, Request, TensorId
from whygrad.graph.event import CopiedOntoItself, Multiplied, SharedCalls
from whygrad.graph.query import Index, index_of
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import variable_name
from whygrad.source import SourceSpan


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
    `dict.fromkeys` in its place.
    """
    yield from _multiplied(recording)
    yield from _copied_onto_itself(recording)
    for event in recording.events_of(SharedCalls):
        if not _bootstraps(recording, event):
            continue
        first, second = event.names[0], event.names[1]
        yield Finding(
            message=f"`{first}` and `{second}` are likely meant to be two networks, but are one",
            primary=None if event.assigned is None else Label(event.assigned, "a second name, not a copy"),
            related=tuple(Label(span, "called here") for span in event.places[:2]),
            help=f"copy it: `{first} = keras.models.clone_model({second})`, then `{first}.set_weights({second}.get_weights())`",
            certain=False,
        )


def _multiplied(recording: Recording) -> Iterator[Finding]:
    """One finding for each list, also where it repeats several objects."""
    by_place: dict[SourceSpan, list[Multiplied]] = {}
    for event in recording.events_of(Multiplied):
        by_place.setdefault(event.where, []).append(event)
    for where, events in by_place.items():
        variables = dict.fromkeys(n for event in events for n in event.variables if n in recording.variables)
        yield Finding(
            message=f"a list likely meant to hold several of `{events[0].name}` holds one several times: they share every weight",
            primary=Label(where, "repeats the object, does not make new ones"),
            variables=tuple(variable_name(recording.variables[number]) for number in variables),
            help="make each on its own: `[Layer() for _ in range(n)]`; to share on purpose, name the layer first",
            certain=False,
        )


def _copied_onto_itself(recording: Recording) -> Iterator[Finding]:
    for copy in recording.events_of(CopiedOntoItself):
        labels = [Label(copy.made, "the same layers once more, not a copy of them")] if copy.made is not None else []
        labels += [Label(copy.where, "this copies the weights onto themselves")] if copy.where is not None else []
        yield Finding(
            message=f"`{copy.target}` and `{copy.source}` have the very same variables: they are one network",
            primary=next(iter(labels), None),
            related=tuple(labels[1:]),
            variables=tuple(variable_name(recording.variables[n]) for n in copy.variables if n in recording.variables),
            help=f"make a second network: `keras.models.clone_model({copy.source})`, then copy the weights to it",
        )


def _bootstraps(recording: Recording, event: SharedCalls) -> bool:
    """One loss uses the network twice: once with a gradient, once as a fixed value."""
    for request in recording.requests:
        asked = set(event.variables) & {source.variable for source in request.sources}
        if not asked:
            continue
        index = index_of(request.graph)
        open_ = index.open_behind(request.targets, request.tape)
        behind = index.behind(request.targets)
        for variable in asked:
            used = [tensor for op in index.reads.get(variable, ()) for tensor in op.outputs if tensor in behind]
            live = [tensor for tensor in used if tensor in open_ and _is_recorded(index, request, tensor)]
            if live and len(used) > len(live):
                return True
    return False


def _is_recorded(index: Index, request: Request, tensor: TensorId) -> bool:
    return any(request.tape in op.tapes for op in index.makers.get(tensor, ()))
