"""The frozen recording of a capture: TensorFlow's objects go in, neutral data comes out."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.failures import classify, failure_of
from whygrad.backends.tensorflow.freeze.names import Owner, python_names
from whygrad.backends.tensorflow.freeze.operands import completed
from whygrad.backends.tensorflow.keras.facts import KerasFacts
from whygrad.backends.tensorflow.keras.inspection import listed
from whygrad.backends.tensorflow.log.ledger.ledger import LedgerBook
from whygrad.backends.tensorflow.log.op_table import DEFAULT_NAMES, NOT_TENSORS
from whygrad.backends.tensorflow.log.recorder import Recorder
from whygrad.backends.tensorflow.log.requests import RequestEntry, Requests, SourceEntry
from whygrad.backends.tensorflow.log.tapes import TapeFacts
from whygrad.backends.tensorflow.log.updates import UpdateEntry, Updates
from whygrad.backends.tensorflow.log.variables import VariableBook, VariableEntry
from whygrad.backends.tensorflow.numbers.step_numbers import Sizes, StepNumbers
from whygrad.graph import (
    Event,
    Failure,
    GradientNumbers,
    Graph,
    Ledger,
    Outcome,
    Pairing,
    Recording,
    Request,
    Source,
    Tape,
    TapeId,
    TensorId,
    TermNumbers,
    Update,
    Variable,
    VariableId,
)
from whygrad.graph.sources import with_sources
from whygrad.observe.pairs import Pair
from whygrad.observe.place import span
from whygrad.observe.windows import Windows


@dataclass(frozen=True, slots=True)
class Freezer:
    """Makes recordings of everything seen so far; watching may go on afterwards."""

    recorder: Recorder
    keras: KerasFacts
    requests: Requests
    updates: Updates
    numbers: StepNumbers
    of_terms: Callable[[RequestEntry], TermNumbers | None]
    looked_into: Callable[[RequestEntry], Graph]  # the graph of a compiled request whose gradients are all zero
    events: Callable[[], Iterable[Event]]  # what happened beside requests and updates, in order

    def recording(self, failure: Failure | None = None) -> Recording:
        recorder, keras, book = self.recorder, self.keras, self.recorder.variables
        with recorder.pausing():
            self.numbers.look_again()
            owners = dict(_owners(keras, book))
            entries = list(book.entries.values())
            names = python_names(entries, owners)
            variables = {
                VariableId(entry.id): _variable(keras, entry, owners.get(entry.id), names.get(entry.id))
                for entry in entries
            }
            recording = Recording(
                requests=tuple(
                    self._request(entry, self.numbers.sizes(entry)) for entry in list(self.requests.entries.values())
                ),
                updates=tuple(_updates(recorder, self.updates)),
                variables=variables,
                tapes={TapeId(number): _tape(facts) for number, facts in self.requests.tape_facts.items()},
                events=tuple(self.events()),
                objectives=keras.objectives_seen(),
                holders=_holders(keras, book),
                failure=None if failure is None else completed(classify(failure)),
                ledger=_ledger(recorder.ledger, variables),
                framework="tensorflow",
            )
            return with_sources(recording)

    def _request(self, entry: RequestEntry, sizes: Sizes) -> Request:
        asked = range(len(entry.sources))
        nothing = entry.compiled and bool(asked) and all(_is_always_zero(sizes.of.get(i)) for i in asked)
        graph = self.looked_into(entry) if nothing else entry.graph
        return _request(entry, sizes, self.of_terms(entry), graph)

    def ledger(self) -> Ledger:
        """Who wrote to which variable so far."""
        with self.recorder.pausing():
            entries = list(self.recorder.variables.entries.values())
            names = python_names(entries, {})
            variables = {
                VariableId(entry.id): _variable(self.keras, entry, None, names.get(entry.id)) for entry in entries
            }
            return with_sources(Recording(ledger=_ledger(self.recorder.ledger, variables))).ledger


def _ledger(book: LedgerBook, variables: dict[VariableId, Variable]) -> Ledger:
    copies = {number for number, variable in variables.items() if _REPLICA.search(variable.name)}
    writes = tuple(write for write in book.writes() if write.variable not in copies)
    written = {write.variable for write in writes}
    names = {number: variable.name for number, variable in variables.items() if number in written}
    return Ledger(variables=names, writes=writes, steps=book.step, dropped=book.dropped)


_REPLICA = re.compile(r"/replica_\d+$")  # the copies of a mirrored variable are written together


def _tape(facts: TapeFacts) -> Tape:
    return Tape(
        id=TapeId(facts.number),
        persistent=facts.persistent,
        watches_variables=facts.watches_variables,
        entered=span(facts.entered),
        spent=span(facts.used_up),
        watched=tuple(dict.fromkeys(where for place in facts.watched_at if (where := span(place)) is not None)),
    )


def _request(entry: RequestEntry, sizes: Sizes, of_terms: TermNumbers | None, graph: Graph) -> Request:
    return Request(
        tape=TapeId(entry.tape),
        targets=tuple(map(TensorId, entry.targets)),
        sources=tuple(_source(source, entry.looks, sizes.of.get(i)) for i, source in enumerate(entry.sources)),
        graph=graph,
        where=span(entry.place),
        seen=entry.count,
        order=entry.order,
        compiled=entry.compiled,
        zeros_accepted=entry.zeros_accepted,
        zeros_given=entry.method == "batch_jacobian",
        target_type=entry.target_type,
        target_not_a_tensor=NOT_TENSORS.get(entry.target_type),
        method=entry.method,
        model=entry.model,
        unasked=entry.unasked,
        error=None if entry.error is None else failure_of(entry.error),
        steps=sizes.steps,
        ran=sizes.ran,
        losses=sizes.losses,
        of_terms=of_terms,
        lapses=entry.lapses,
        watched=entry.watched,
    )


def _source(source: SourceEntry, looks: int, numbers: GradientNumbers | None) -> Source:
    outcome = source.outcome
    if outcome is Outcome.PRESENT and (
        (looks and source.zero_looks == looks) or (not looks and _is_always_zero(numbers))
    ):
        outcome = Outcome.ZERO
    return Source(
        variable=None if source.variable is None else VariableId(source.variable),
        tensor=None if source.tensor is None else TensorId(source.tensor),
        type_name=source.type_name,
        not_a_tensor=NOT_TENSORS.get(source.type_name),
        outcome=outcome,
        sparse=source.sparse,
        watched=source.watched,
        numbers=numbers,
    )


def _is_always_zero(numbers: GradientNumbers | None) -> bool:
    """Whether a compiled step has seen nothing but zeros; one step says nothing."""
    return numbers is not None and len(numbers.norms) > 1 and not any(numbers.norms)


def _updates(recorder: Recorder, updates: Updates) -> Iterator[Update]:
    windows = Windows(recorder.ledger.writes(), recorder.folds.assignments)
    for entry in list(updates.entries.values()):
        yield Update(
            optimizer=entry.optimizer,
            optimizer_id=entry.optimizer_id,
            pairs=tuple(_pairing(recorder.variables, windows, entry, pair) for pair in entry.pairs),
            stateful=entry.stateful,
            made=span(entry.made),
            where=span(entry.place),
            seen=entry.count,
            order=entry.order,
            unknown=tuple(map(VariableId, entry.unknown)),
            runs=_runs(recorder.ledger, entry) if entry.traced else None,
            rate=entry.rate,
            rates=_rates(recorder, entry),
            adaptive=entry.adaptive,
            averages=entry.averages,
        )


def _rates(recorder: Recorder, entry: UpdateEntry) -> tuple[float, ...]:
    """Of a schedule, over all steps; where somebody has set another rate, the first and the last."""
    optimizer = None if entry.reference is None else entry.reference()
    with recorder.pausing():
        if entry.schedule is not None:
            return compat.rates_of(entry.schedule, entry.iterations or 0, compat.value_now(entry.counter) or 0)
        last = None if optimizer is None or entry.rate is None else compat.rate_now(optimizer)
    return () if last is None or entry.rate is None or last == entry.rate else (entry.rate, last)


def _runs(book: LedgerBook, entry: UpdateEntry) -> int | None:
    """How often a compiled update ran, told by what it wrote; None where others of its name cannot be told apart."""
    moved = {pair.variable for pair in entry.pairs}
    return book.runs_of(entry.optimizer, moved) if entry.distinct else None


def _pairing(book: VariableBook, windows: Windows, entry: UpdateEntry, pair: Pair) -> Pairing:
    updates = compat.value_now(entry.counter) if pair.accumulator and entry.counter is not None else None
    if updates is None:
        return pair.recorded()
    counter = book.of(entry.counter)
    stale = windows.never_set_back(pair, updates, entry.iterations, None if counter is None else counter.id)
    return pair.recorded(windows.size(pair, updates), never_set_back=stale)


def _variable(keras_facts: KerasFacts, entry: VariableEntry, owner: Owner | None, python_name: str | None) -> Variable:
    keras = entry.keras() if entry.keras is not None else None
    reference, made = keras_facts.made_variables.get(id(keras), (None, None))
    if keras is None or reference is None or reference() is not keras:
        made = entry.created
    name = str(getattr(keras, "path", None) or entry.name)
    trainable = bool(keras.trainable) if keras is not None else entry.trainable
    return Variable(
        id=VariableId(entry.id),
        name=python_name or name,
        named=name not in DEFAULT_NAMES,
        dtype=entry.dtype,
        shape=entry.shape,
        trainable=trainable,
        watchable=entry.trainable,
        created=span(made),
        owner=None if owner is None else owner.name,
        attribute=None if owner is None else owner.attribute,
        writes=entry.writes,
        made_in_step=entry.made_in_step,
        in_constructor=entry.in_constructor,
        from_data=entry.from_data,
        tracked=owner is None or owner.tracks,
        foreign=owner is not None and owner.is_foreign,
    )


def _owners(facts: KerasFacts, book: VariableBook) -> Iterator[tuple[int, Owner]]:
    """Variables that a layer or loss holds in an attribute, and whether its own lists have them."""
    for holder in [*facts.layers_seen, *facts.losses_seen]:
        own = listed(holder, "variables")
        tracked = {id(variable) for variable in own} | {id(compat.held_by(variable)) for variable in own} - {id(None)}
        for attribute, value in list(vars(holder).items()):
            if attribute.startswith("_") and attribute not in ("_kernel",):
                continue
            for variable in _variables_in(value, 3):
                entry = book.of(variable)
                if entry is not None:
                    known = id(variable) in tracked or id(compat.held_by(variable)) in tracked
                    plain = variable is value and compat.held_by(variable) is None
                    foreign = plain and not known and hasattr(holder, "trainable_variables")
                    yield entry.id, Owner(type(holder).__name__, attribute, known, foreign)


def _variables_in(value: Any, depth: int) -> Iterator[Any]:
    """Variables in an attribute's value: itself, in containers, in plain objects."""
    if hasattr(value, "assign") and (hasattr(type(value), "handle") or compat.held_by(value) is not None):
        yield value
    elif depth == 0:
        return
    elif isinstance(value, (list, tuple, set)):
        for item in value:
            yield from _variables_in(item, depth - 1)
    elif isinstance(value, dict):
        for item in value.values():
            yield from _variables_in(item, depth - 1)
    elif _is_plain_object(value):
        for item in list(vars(value).values()):
            yield from _variables_in(item, depth - 1)


def _is_plain_object(value: Any) -> bool:
    """An object of the user's own that is no layer."""
    package = type(value).__module__.split(".")[0]
    foreign = package in ("builtins", "numpy", "keras", "tensorflow", "tf_keras")
    return not foreign and not hasattr(value, "built") and hasattr(value, "__dict__")


def _holders(facts: KerasFacts, book: VariableBook) -> dict[str, frozenset[VariableId]]:
    found: dict[str, frozenset[VariableId]] = {}
    for layer in facts.layers_seen:
        ids = book.ids(listed(layer, "variables"))
        name = str(getattr(layer, "path", None) or layer.name)
        found[name] = found.get(name, frozenset()) | frozenset(ids)
    return found
