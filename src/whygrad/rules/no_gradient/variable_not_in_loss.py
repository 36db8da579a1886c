"""WG107 variable-not-in-loss."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.owned import result_used
from whygrad.graph import OpKind, Recording, Request, Source
from whygrad.graph.objects import Compiled
from whygrad.graph.questions.query import index_of
from whygrad.graph.questions.terms import terms_of
from whygrad.rules.no_gradient.claim import is_deliberate
from whygrad.rules.no_gradient.missing import Unconnected, is_explained, missing_of
from whygrad.rules.no_gradient.reads import reads_of, unused_result, unused_results
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names_of, steps_of, target_expression
from whygrad.source import SourceSpan
from whygrad.source.call_use import is_unread


@rule("WG107", "variable-not-in-loss", severity=Severity.ERROR, since="0.1.0")
def variable_not_in_loss(recording: Recording) -> Iterator[Finding]:
    """Detects variables that a gradient is asked for although the loss does not depend on them.

    ## Why it matters
    The gradient is `None`. Keras warns `Gradients do not exist for variables [...]` and trains the rest; an unused
    head, a forgotten loss term or the wrong list of variables stays unnoticed.

    ## Example
    ```python
    import tensorflow as tf

    used = tf.Variable(2.0, name="used")
    unused = tf.Variable(3.0, name="unused")
    with tf.GradientTape() as tape:
        loss = tf.square(used)
    gradients = tape.gradient(loss, [used, unused])
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    used = tf.Variable(2.0, name="used")
    unused = tf.Variable(3.0, name="unused")
    with tf.GradientTape() as tape:
        loss = tf.square(used) + tf.square(unused)
    gradients = tape.gradient(loss, [used, unused])
    ```

    ## Known limits
    A variable that another loss trains, or that gets a gradient in other steps, is reported as a note.
    """
    for loose in missing_of(recording).unconnected:
        sources = tuple(s for s in loose.sources if s.variable is not None and not is_explained(recording, loose, s))
        for part in _by_fate(recording, loose, sources):
            yield _finding(recording, loose, part)
    for request in recording.requests:
        terms = terms_of(request)
        sources = request.sources if terms.has_data and terms.all else ()
        left = tuple(source for source in sources if terms.is_left_to_penalties(source))
        if left:
            found = _finding(recording, Unconnected(request, left), left)
            names, them = listing(found.variables), "it" if len(left) == 1 else "them"
            message = f"only a penalty on weights trains {names}: nothing else in the loss depends on {them}"
            dropped = any(map(is_unread, unused_results(recording, request, left)))
            sure = request.compiled or dropped  # else another step may use it: heads that take turns
            severity = found.severity or (Severity.WARNING if sure else Severity.NOTE)
            yield replace(found, message=message, severity=severity)


def _by_fate(recording: Recording, loose: Unconnected, sources: tuple[Source, ...]) -> Iterator[tuple[Source, ...]]:
    """Those that something else trains apart from those that nothing does."""
    trained = tuple(s for s in sources if is_deliberate(recording, loose.request, (s,)))
    others = tuple(s for s in sources if s not in trained)
    yield from (part for part in (trained, others) if part)


def _finding(recording: Recording, loose: Unconnected, sources: tuple[Source, ...]) -> Finding:
    request = loose.request
    names = names_of(recording, request, sources)
    target = target_expression(request)
    loss = f"`{target}`" if target else "the loss"
    made = _made(recording, sources)
    where, label = request.where, "asked for here"
    instead = f"leave them out of the list passed to `{Word.GRADIENT}`"
    used = unused_result(recording, request, sources)
    if request.model is not None:  # nobody asks in so many words
        if used is not None:
            where, label = used.span, used.text
        elif made and not reads_of(loose.request, sources, under_tape=True):
            where, label = made[0].span, "made here, and not used in the loss"
        elif (compiled := _compiled(recording, request)) is not None:  # an output of the model, most likely
            where, label = compiled, "none of the losses given here depends on it"
            instead = "give the output that they make a loss of its own"
    return Finding(
        message=f"no gradient reaches {listing(names)}: {loss} does not depend on {'it' if len(names) == 1 else 'them'}",
        primary=None if where is None else Label(where, label),
        variables=names,
        related=tuple(each for each in (*made, used, *_asked(request)) if each is not None and each.span != where),
        notes=_reads(loose, sources),
        help=f"use what these variables compute in the loss, or {instead}",
        steps=steps_of(recording, [request]),
        severity=Severity.NOTE if is_deliberate(recording, request, sources) else None,
        fixes=partial(result_used, None if used is None else used.span),
    )


def _compiled(recording: Recording, request: Request) -> SourceSpan | None:
    """Where the model was given its losses last, before this."""
    given = [event.where for event in recording.events_of(Compiled) if event.model == request.model and event.has_loss]
    return given[-1] if given else None


def _asked(request: Request) -> tuple[Label, ...]:
    return () if request.where is None or request.model is None else (Label(request.where, "trained here"),)


def _made(recording: Recording, sources: tuple[Source, ...]) -> tuple[Label, ...]:
    spans = [recording.variables[s.variable].created for s in sources if s.variable is not None]
    return tuple(Label(span, "created here") for span in dict.fromkeys(spans[:1]) if span is not None)


def _reads(loose: Unconnected, sources: tuple[Source, ...]) -> tuple[str, ...]:
    """Whether the variable was used at all."""
    reads, users = reads_of(loose.request, sources), index_of(loose.request.graph).users
    if not reads:
        known = " in the last steps" if loose.request.graph.truncated else ""
        return (f"never read{known} before this gradient was computed",)
    kinds = {user.kind for op in reads for tensor in op.outputs for user, _ in users.get(tensor, ())}
    if kinds == {OpKind.SHAPE}:
        return ("only its shape was used, never its value",)
    if not reads_of(loose.request, sources, under_tape=True):
        return ("read only while the tape was not recording",)
    return ("read under the tape, but nothing computed from it enters the loss",)
