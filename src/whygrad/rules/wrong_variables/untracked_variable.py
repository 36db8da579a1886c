"""WG201 untracked-variable."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.owned import made_in_init
from whygrad.fixes.variables import rebased, tracked
from whygrad.graph import Op, OpKind, Recording, Request, Variable, VariableId
from whygrad.graph.objects import ListRead, ObjectCalled
from whygrad.graph.questions.fed_in import is_fed_in
from whygrad.graph.questions.query import index_of
from whygrad.graph.questions.untrained import left_out, training_requests
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, text_of, variable_name
from whygrad.rules.wrong_variables.variable_recreated import recreated_variables
from whygrad.source import SourceSpan
from whygrad.source.arguments import argument_span
from whygrad.source.module import in_one_function


@rule("WG201", "untracked-variable", severity=Severity.ERROR, since="0.1.0")
def untracked_variable(recording: Recording) -> Iterator[Finding]:
    """Detects variables that training uses but that the model does not know, so that no optimizer ever sees them.

    ## Why it matters
    Keras 3 tracks `add_weight` and `keras.Variable` attributes of layers. A raw `tf.Variable`, a variable inside a
    plain object, a layer called inside a `Lambda`, or a parameter of a loss is used in the forward pass, gets a
    gradient if asked, and is in no `trainable_variables`.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    class Scale(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = tf.Variable(2.0, name="factor")

        def call(self, x):
            return self.factor * x

    model = keras.Sequential([keras.layers.Input((2,)), Scale(), keras.layers.Dense(1)])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    class Scale(keras.layers.Layer):
        def __init__(self):
            super().__init__()
            self.factor = self.add_weight(shape=(), initializer="ones", name="factor")

        def call(self, x):
            return self.factor * x

    model = keras.Sequential([keras.layers.Input((2,)), Scale(), keras.layers.Dense(1)])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x)))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Known limits
    A network that is used but not trained on purpose is not reported where it is a tracked part of some model.
    """
    yield from _forgotten_by_modules(recording)
    seen: dict[object, list[Variable]] = {}
    fed: set[object] = set()
    inside: dict[object, SourceSpan] = {}
    recreated = recreated_variables(recording)  # whose rule has the cause
    for request in recording.requests:
        for variable, is_input, hidden in _forgotten(recording, request):
            if variable.id in recreated:
                continue
            place = hidden or variable.created or variable.id
            seen.setdefault(place, []).append(variable)
            if is_input:
                fed.add(place)
            if hidden is not None:
                inside[place] = hidden
    apart = fed | inside.keys()
    for spots, holder in _by_holder(recording, {spot: group for spot, group in seen.items() if spot not in apart}):
        distinct = list({variable.id: variable for spot in spots for variable in seen[spot]}.values())
        yield _finding(distinct, None, is_input=False, holder=holder)
    for spot in (each for each in seen if each in apart):
        distinct = list({variable.id: variable for variable in seen[spot]}.values())
        yield _finding(distinct, inside.get(spot), is_input=spot in fed)
    for request in recording.requests:
        yield from _computed_once(recording, request)


def _by_holder(
    recording: Recording, seen: dict[object, list[Variable]]
) -> Iterator[tuple[list[object], ObjectCalled | None]]:
    """The places that lost variables were made at, together where one expression made what holds several of them."""
    trained = {source.variable for request in recording.requests for source in request.sources}
    lost = [each for each in recording.events_of(ObjectCalled) if each.made and trained.isdisjoint(each.variables)]
    groups: dict[object, tuple[list[object], ObjectCalled | None]] = {}
    for spot, group in seen.items():
        around = [each for each in lost if any(variable.id in each.variables for variable in group)]
        holder = max(around, key=lambda each: len(each.variables), default=None)
        groups.setdefault(spot if holder is None else holder.made[0], ([], holder))[0].append(spot)
    for spots, holder in groups.values():
        yield spots, holder if len(spots) > 1 else None


def _forgotten(recording: Recording, request: Request) -> Iterator[tuple[Variable, bool, SourceSpan | None]]:
    """Trainable variables of this loss that are in no list of a model; of each, whether it may be an input just as well,
    and where a layer that does not hold it calls the one that does."""
    trained = {source.variable for source in request.sources if source.variable is not None}
    for variable, live in left_out(recording, request):
        if not (variable.trainable and variable.is_floating and _is_unknown(recording, request, variable, live)):
            continue
        is_input = is_fed_in(index_of(request.graph), live, trained) and not _is_said_trainable(variable)
        if not (variable.from_data and is_input):
            as_input = is_input and not variable.in_constructor and _has_a_row_for_each_target(request, variable)
            yield variable, as_input, _hidden_in(recording, variable, live)


def _hidden_in(recording: Recording, variable: Variable, reads: list[Op]) -> SourceSpan | None:
    """Where a function inside a layer, as that of a `Lambda`, uses a layer that nothing around it holds."""
    for op in reads if variable.tracked else ():
        around = op.layers[1:-1]
        if around and variable.id not in recording.holders.get(around[0], (variable.id,)):
            return op.where
    return None


def _is_said_trainable(variable: Variable) -> bool:
    """Whether the line that makes it says so: nobody says that of data."""
    return text_of(argument_span(variable.created, "trainable", 1)) == "`True`"


def _has_a_row_for_each_target(request: Request, variable: Variable) -> bool:
    """Whether as many rows were made before the pass, as the labels of a batch are."""
    rows = variable.shape[:1] if variable.shape else ()
    early = (op for op in request.graph.ops if not op.tapes and op.kind not in (OpKind.READ, OpKind.WRITE))
    shapes = {index_of(request.graph).tensors[tensor].shape or () for op in early for tensor in op.outputs}
    others = shapes - {variable.shape}  # its own first value has its shape
    return rows not in ((), (1,), (None,)) and any(shape[:1] == rows for shape in others)


def _forgotten_by_modules(recording: Recording) -> Iterator[Finding]:
    """A `tf.Module` that holds Keras layers or plain objects has none of their variables in its lists."""
    reads = recording.events_of(ListRead)
    events = [read for read in reads if read.unlisted and read.attribute == "trainable_variables"]
    if not events:
        return
    unasked = {variable.id: None for request in recording.requests for variable, _ in left_out(recording, request)}
    asked_at = {(where.file, where.line) for request in recording.requests if (where := request.where) is not None}
    told: set[VariableId] = set()
    for event in sorted(
        events, key=lambda each: each.where is None or (each.where.file, each.where.line) not in asked_at
    ):
        missing = [number for number in unasked if number in event.unlisted and number not in told]
        if not missing or event.where is None:
            continue
        told.update(missing)
        names = tuple(variable_name(recording.variables[number]) for number in missing)
        yield Finding(
            message=f"`{event.owner}` holds {listing(names)}, but its `trainable_variables` does not: a `{Word.MODULE}` "
            f"sees neither {Word.NETWORK_LIBRARY} layers nor plain objects",
            primary=Label(event.where, "lacks them" if event.held else "an empty list: nothing is trained"),
            variables=names,
            related=tuple(Label(place, "made here") for place in event.made[:3]),
            help=f"derive `{event.owner}` from `{Word.NETWORK}`, or add up the `trainable_variables` of its layers",
            certain=not event.held,
            fixes=partial(rebased, event.where.file, event.owner, Word.NETWORK),
        )


def _computed_once(recording: Recording, request: Request) -> Iterator[Finding]:
    """A variable of a constructor of which nobody keeps more than what was computed from it there."""
    asked = {source.variable for each in training_requests(recording) for source in each.sources}
    index = index_of(request.graph)
    behind = index.behind(request.targets)
    for number, reads in index.reads.items():
        variable = recording.variables.get(number)
        if variable is None or number in asked or variable.writes or variable.owner is not None:
            continue
        early = [op for op in reads if not op.tapes and any(tensor in behind for tensor in op.outputs)]
        if not (early and len(early) == len(reads) and variable.in_constructor and variable.trainable):
            continue
        if not any(op.where and variable.created and in_one_function(op.where, variable.created) for op in early):
            continue  # it was used after the object was made: to make data, say
        name, where = variable_name(variable), variable.created or early[0].where
        yield Finding(
            message=f"`{name}` is never trained: its value went into the model once, when the model was made",
            primary=None
            if where is None
            else Label(where, "only the result of this computation is kept, not the variable"),
            variables=(name,),
            help=f"keep the variable itself (`self.{Word.ADD_VARIABLE}(...)`) and do this computation in `call`",
        )


def _is_unknown(recording: Recording, request: Request, variable: Variable, reads: list[Op]) -> bool:
    if not variable.tracked:
        return True
    for op in reads:
        outermost = op.layers[0] if op.layers else None
        held = recording.holders.get(outermost) if outermost is not None else None
        trained = {source.variable for source in request.sources}
        if held is not None and variable.id not in held and (held & trained or not request.sources):
            return True
    return False


def _finding(
    variables: list[Variable], hidden: SourceSpan | None, *, is_input: bool, holder: ObjectCalled | None = None
) -> Finding:
    first = variables[0]
    names = tuple(dict.fromkeys(variable_name(variable) for variable in variables))
    owner = f"`{first.owner}`" if first.owner and not first.tracked else "the model"
    used, them = ("it is used", "it") if len(names) == 1 else ("they are used", "them")
    made = None
    if holder is not None:
        made = Label(holder.made[0], "made here, and no model holds it")
    elif first.created is not None:
        made = Label(first.created, "made here, and not in any list of trainable variables")
    why = f"a plain `{Word.VARIABLE}` attribute is not tracked by {Word.NETWORK_LIBRARY} 3, so no optimizer updates {them}"
    return Finding(
        message=f"{owner} does not track {listing(names)}: "
        + (why if first.foreign else f"{used} in training, but no optimizer updates {them}"),
        primary=made if hidden is None else Label(hidden, "used here, inside a layer that does not hold it"),
        variables=names,
        related=() if hidden is None or made is None else (made,),
        help=_help(first, them, holder),
        severity=Severity.NOTE if is_input else None,
        fixes=lambda: (*made_in_init(first.created), *tracked(first.created)),
    )


def _help(variable: Variable, them: str, holder: ObjectCalled | None) -> str:
    if holder is not None:
        return f"keep `{holder.name}`, which holds {them}, as an attribute of the model, so that the model knows its variables"
    if variable.owner is not None and variable.tracked:
        return f"keep the `{variable.owner}` that holds {them} as an attribute of the model, so that the model knows its variables"
    whose = "" if variable.foreign else " of a layer of the model"
    return f"make {them} with `self.{Word.ADD_VARIABLE}(...)`, or as a `{Word.NETWORK_VARIABLE}` attribute{whose}"
