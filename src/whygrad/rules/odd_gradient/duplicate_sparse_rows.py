"""WG304 duplicate-sparse-rows."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from whygrad.diagnostics import Label, Severity, Steps
from whygrad.graph import Recording
from whygrad.graph.event import VariableStep
from whygrad.rules.rule import Finding, rule
from whygrad.rules.wording import listing, names, text_of, variable_name
from whygrad.source import SourceSpan


@rule("WG304", "duplicate-sparse-rows", severity=Severity.ERROR, since="0.1.0")
def duplicate_sparse_rows(recording: Recording) -> Iterator[Finding]:
    """Detects sparse gradients whose repeated rows are applied in another way than the dense gradient would be.

    ## Why it matters
    The gradient of a lookup has one row for every use of an entry, so a word that occurs three times is in it three
    times. A write that puts rows in place of others keeps one of the three steps and drops two, without a word. The
    adaptive optimizers of Keras 3 divide by the root of the sum of the three squares, where the square of the sum is
    due: the step of every word that occurs more than once in a batch is off, often by a third.

    ## Example
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((6, 2)), name="table")
    words = tf.constant([3, 3, 3, 1])
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, words) ** 2)
        gradients = tape.gradient(loss, [table])
        rows = tf.gather(table, gradients[0].indices)
        table.scatter_nd_update(gradients[0].indices[:, None], rows - 0.1 * gradients[0].values)
    ```

    ## Use instead
    ```python
    import tensorflow as tf

    table = tf.Variable(tf.ones((6, 2)), name="table")
    words = tf.constant([3, 3, 3, 1])
    for _ in range(2):
        with tf.GradientTape() as tape:
            loss = tf.reduce_sum(tf.nn.embedding_lookup(table, words) ** 2)
        gradients = tape.gradient(loss, [table])
        table.scatter_nd_sub(gradients[0].indices[:, None], 0.1 * gradients[0].values)
    ```

    ## Known limits
    Of a compiled function that asks for the gradients itself one step is looked at: one that was kept and can be
    computed again without its effects. Not looked into are loops over a data set inside it, and other compiled
    functions that it hands the gradients to. Rows that are written with the same values several times are not reported
    there, for these may be their sum. What an optimizer makes of repeated rows is judged from up to 256 rows of one
    gradient, by taking both steps with a new optimizer of the same settings; a difference of less than a hundredth is
    not reported.
    """
    overwritten: dict[SourceSpan | None, list[VariableStep]] = {}
    for event in recording.events_of(VariableStep):
        if event.repeated and event.optimizer is None:
            overwritten.setdefault(event.where, []).append(event)
        elif is_misread(event):
            yield _misread(event, variable_name(recording.variables[event.variable]))
    for events in overwritten.values():
        yield _overwritten(recording, events, names(recording, (event.variable for event in events)))


def is_misread(event: VariableStep) -> bool:
    """Whether an optimizer takes another step for repeated rows than for the dense gradient."""
    return event.optimizer is not None and event.difference > _FELT


_FELT = 0.01  # of a step: what is less than this is not worth a word


def _overwritten(recording: Recording, events: Sequence[VariableStep], tables: tuple[str, ...]) -> Finding:
    most = max(events, key=lambda event: event.repeated)
    one, alone = most.repeated == 1, len(tables) == 1
    several = "a row that occurs" if one else f"{most.repeated} rows that occur"
    moved = "is moved by one of its" if one and alone else "are moved by one of their"
    whose = f"the gradient of {listing(tables)}" if alone else f"the gradients of {listing(tables)}"
    again = ", in a step that was computed again" if any(event.compiled for event in events) else ""
    table = "" if alone else f" of `{names(recording, [most.variable])[0]}`"
    return Finding(
        message=f"{several if alone else 'rows that occur'} more than once in {whose} {moved} gradients only",
        primary=None if most.where is None else Label(most.where, "the last write of a row replaces the others"),
        variables=tables,
        notes=(f"{most.repeated} of {most.rows} rows{table} are repeated in {text_of(most.where)}{again}",),
        help="add in place of overwriting (`scatter_nd_sub`, `scatter_sub`), or sum the repeated rows first",
        steps=Steps(max(event.with_repeats for event in events), max(event.seen for event in events)),
    )


def _misread(event: VariableStep, name: str) -> Finding:
    made = () if event.made is None else (Label(event.made, "this optimizer squares each repetition by itself"),)
    return Finding(
        message=f"`{event.optimizer}` updates rows of `{name}` that occur more than once in a batch by a wrong step: "
        f"{event.difference:.0%} off",
        primary=None if event.where is None else Label(event.where, "a sparse gradient with repeated rows is applied"),
        variables=(name,),
        related=made,
        notes=(
            f"in a sample of the gradient {event.repeated} of {event.rows} rows are repeated; the step that "
            f"`{event.optimizer}` takes for it was compared with the one for the same gradient with each row once",
        ),
        help="wrap the optimizer: `whygrad.deduplicate(optimizer)` sums the repetitions of a row before they are squared",
        severity=Severity.NOTE,
    )
