"""WG702 missing-loss-term."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.losses import with_own_terms
from whygrad.graph import Recording, Request
from whygrad.graph.objects import ObjectCalled, Trained
from whygrad.graph.questions.query import index_of
from whygrad.graph.questions.terms import terms_of
from whygrad.graph.questions.untrained import training_requests
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing
from whygrad.source import SourceSpan
from whygrad.source.module import located
from whygrad.source.origin import called_from


@rule("WG702", "missing-loss-term", severity=Severity.ERROR, since="0.1.0")
def missing_loss_term(recording: Recording) -> Iterator[Finding]:
    """Detects regularisers and added losses that a custom loop's loss leaves out.

    ## Why it matters
    `kernel_regularizer`, `activity_regularizer` and `add_loss` only collect terms in `model.losses`. `fit` adds
    them; a loop of your own must do it, or they have no effect at all.

    ## Example
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, kernel_regularizer="l2")])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0))
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Use instead
    ```python
    import keras
    import tensorflow as tf

    model = keras.Sequential([keras.layers.Input((2,)), keras.layers.Dense(1, kernel_regularizer="l2")])
    x = tf.ones((4, 2))
    with tf.GradientTape() as tape:
        loss = tf.reduce_mean(tf.square(model(x) - 1.0)) + tf.add_n(model.losses)
    gradients = tape.gradient(loss, model.trainable_variables)
    ```

    ## Known limits
    Once the `losses` of a model are read under any tape they count as used, whether or not they enter the loss.
    """
    asked = {source.variable for request in recording.requests for source in request.sources}
    looks = {request.tape for request in recording.requests}
    looks -= {request.tape for request in training_requests(recording)}
    readers = [event for event in recording.events_of(ObjectCalled) if event.penalties_read - looks]
    if not all(event.variables for event in readers):
        return  # of a layer without weights, which may be any of them
    read = {variable for event in readers for variable in event.variables}
    own_losses = {event.model: event.own_loss for event in recording.events_of(Trained) if event.own_loss is not None}
    for event in recording.events_of(ObjectCalled):
        called = _called(event)
        if not (called or event.name in own_losses) or not event.penalties or not (asked - read) & set(event.variables):
            continue
        if any(_is_penalised(request, event) for request in recording.requests):
            continue
        where = called[0] if called else own_losses[event.name]
        made = loss = _where_loss_is_made(recording, event)
        collected = "its `losses` are collected here and never used" if called else "leaves its `losses` out"
        if not called and loss is not None and not _is_inside(loss, where):
            loss = None  # whatever function of the user's its own loss calls for the rest
        elif called and loss is not None and where is not None:
            loss = called_from(where, loss)
        yield Finding(
            message=f"the penalties of `{event.name}` are not in the loss: {listing(event.penalties)}",
            primary=_label(where, collected) if loss is None else Label(loss, "the loss is made without them"),
            related=() if loss is None or where in (None, loss) else (Label(where, collected),),
            variables=event.penalties,
            help=f"add them to the loss under the tape: `loss + {Word.ADD_ALL}(model.losses)`",
            fixes=partial(with_own_terms, _asked(recording, event), where, made),
        )


def _is_inside(span: SourceSpan, function: SourceSpan | None) -> bool:
    """Whether an expression stands in the function that begins at a line."""
    found = located(span)
    if found is None or function is None:
        return False
    return getattr(found[0].scope(found[1]), "lineno", None) == found[0].line(function.file, function.line)


def _asked(recording: Recording, event: ObjectCalled) -> SourceSpan | None:
    """Where the gradients of its variables are asked for."""
    mine = set(event.variables)
    asking = (request for request in recording.requests if mine & {source.variable for source in request.sources})
    return next((request.where for request in asking if request.where is not None), None)


def _is_penalised(request: Request, event: ObjectCalled) -> bool:
    """Whether a term of the loss is a function of this layer's weights alone, whoever collected it."""
    terms = terms_of(request)
    own = [source for source in request.sources if source.variable in event.variables]
    return any(terms.trains(term, source) for term in terms.all if term.is_penalty for source in own)


def _called(event: ObjectCalled) -> list[SourceSpan | None]:
    """Where user code calls it under a tape; first the last call that says nothing of the mode."""
    taped = [call for call in event.calls if call.taped]
    return [call.where for call in [*reversed([call for call in taped if call.training is None]), *taped]]


def _where_loss_is_made(recording: Recording, event: ObjectCalled) -> SourceSpan | None:
    """The expression whose result is differentiated for this layer's variables."""
    for request in recording.requests:
        if not {source.variable for source in request.sources} & set(event.variables):
            continue
        makers = index_of(request.graph).makers
        places = [op.where for target in request.targets for op in makers.get(target, ()) if op.where is not None]
        if places:
            return places[0]
    return None


def _label(where: SourceSpan | None, text: str) -> Label | None:
    return None if where is None else Label(where, text)
