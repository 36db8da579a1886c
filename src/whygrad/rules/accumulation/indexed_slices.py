"""WG508 indexed-slices."""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from whygrad.diagnostics import Label, Severity, Word
from whygrad.fixes.updates import dense
from whygrad.graph import FailureKind, Recording
from whygrad.graph.event import GradientChange
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, name_of, variable_name


@rule("WG508", "indexed-slices", severity=Severity.ERROR, since="0.1.0")
def indexed_slices(recording: Recording) -> Iterator[Finding]:
    """Detects sparse gradients that are added up as if they were dense tensors.

    ## Why it matters
    The gradient of an embedding is a `tf.IndexedSlices`: rows and their indices. `+` does not work on two of them,
    and the exception names the type but not the way out.

    ## Example
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((4, 2)), name="table")
    total = None
    for rows in ([0, 1], [1, 2]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        gradient = tape.gradient(loss, table)
        total = gradient if total is None else total + gradient
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((4, 2)), name="table")
    total = None
    for rows in ([0, 1], [1, 2]):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.gather(table, rows))
        gradient = tf.convert_to_tensor(tape.gradient(loss, table))
        total = gradient if total is None else total + gradient
    gradients = [total]
    ```

    ## Known limits
    Values that are added by their position are seen where they are added outside of compiled functions; otherwise only
    what ended the run is seen. Of several gradients that are sparse, it is not known which one it was.
    """
    yield from _added_by_position(recording)
    failure = recording.failure
    if failure is None or failure.kind is not FailureKind.SPARSE_AS_DENSE:
        return
    names = tuple(dict.fromkeys(_sparse(recording)))
    yield Finding(
        message=f"{_which(names)} is used like a dense tensor",
        primary=None if failure.where is None else Label(failure.where, "this works on dense tensors only"),
        variables=names,
        help=f"make it dense first (`{Word.TO_DENSE}(gradient)`), or add it to a variable: "
        f"`total.{Word.ASSIGN_ADD}(gradient)`",
        fixes=partial(dense, next((r.where for r in recording.requests if any(s.sparse for s in r.sources)), None)),
    )


def _added_by_position(recording: Recording) -> Iterator[Finding]:
    """The first row of one gradient was added to the first row of another, whichever rows these are."""
    for event in recording.events_of(GradientChange):
        if event.added_by_position:
            names = tuple(variable_name(recording.variables[number]) for number in event.added_by_position)
            yield Finding(
                message=f"values of sparse gradients of {listing(names)} are added up by their position, "
                "though they belong to different rows",
                primary=None
                if event.summed is None
                else Label(event.summed, "the indices differ, and are not looked at"),
                variables=names,
                related=() if event.asked is None else (Label(event.asked, "the gradients are asked for here"),),
                help=f"make each gradient dense first (`{Word.TO_DENSE}(gradient)`), or add it to a variable: "
                f"`total.{Word.ASSIGN_ADD}(gradient)`",
                fixes=partial(dense, event.asked),
            )


def _sparse(recording: Recording) -> Iterator[str]:
    """What has a sparse gradient."""
    for request in recording.requests:
        yield from (name_of(recording, request, source) for source in request.sources if source.sparse)


def _which(names: tuple[str, ...]) -> str:
    if not names:
        return f"a sparse gradient (`{Word.SPARSE_GRADIENT}`)"
    which = "the sparse gradient" if len(names) == 1 else "one of the sparse gradients"
    return f"{which} (`{Word.SPARSE_GRADIENT}`) of {listing(names)}"
