"""The first NaN or Inf of a recording: which rule explains it, and the words they share."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import partial
from typing import Final

from whygrad.diagnostics import Fix, Label, Severity, Steps
from whygrad.graph import Action, OpKind, Recording, VariableId
from whygrad.graph.nonfinite import FailingOp, Feeder, Nonfinite, Occurrence, Stage, ValueFacts
from whygrad.graph.questions.feeding import is_deviation, is_norm
from whygrad.graph.questions.query import index_of
from whygrad.rules.rule import Finding
from whygrad.rules.thresholds import HUGE_INPUT, HUGE_RESULT, LARGEST_HALF
from whygrad.rules.wording import listing, names, text_of
from whygrad.source.origin import numbers_in

Fixes = Callable[[Nonfinite, FailingOp], Iterable[Fix]]
Words = Callable[[Nonfinite, FailingOp], tuple[str, str, str]]

OVERFLOWING: Final = frozenset({OpKind.ELEMENTWISE, OpKind.CONTRACT, OpKind.REDUCE, OpKind.MOVE, OpKind.CAST})
GROWING: Final = frozenset(
    {OpKind.EXP, OpKind.DIVIDE, OpKind.POWER, OpKind.SQRT}
)  # make a huge number of an ordinary one
_AT_ZERO: Final = frozenset({OpKind.SQRT, OpKind.LOG, OpKind.DIVIDE, OpKind.POWER})
_DIGITS: Final = {"float16": 4.8, "float32": 38.5, "float64": 308.2}  # of the largest number
_AGAIN: Final = "found by running the step again, from a state that may not be quite the same"
_NEAREST: Final = "what went in is gone: this is the nearest op on the way back that can make such a value"
_BY_KIND: Final = {
    OpKind.LOG: "nan-log",
    OpKind.SQRT: "nan-sqrt",
    OpKind.DIVIDE: "nan-division",
    OpKind.POWER: "nan-pow",
    OpKind.EXP: "nan-exp",
    OpKind.INVERSE_TRIG: "nan-acos",
    OpKind.SOFTMAX: "nan-exp",
}
_BY_ACTION: Final = {
    Action.GROW_EXPONENTIALLY: "nan-exp",
    Action.MODULO: "nan-division",
    Action.ANGLE: "nan-division",
    Action.NORM: "nan-norm",
}


def seen(recording: Recording, *stages: Stage) -> Iterator[Nonfinite]:
    """The values that are not finite and were seen at these stages."""
    return (event for event in recording.events_of(Nonfinite) if event.stage in stages)


def births(recording: Recording, rule: str) -> Iterator[tuple[Nonfinite, FailingOp]]:
    """The births that one rule explains, each with the op that failed."""
    known: dict[object, tuple[Nonfinite, FailingOp]] = {}
    for born in seen(recording, Stage.BORN):
        if born.op is None or cause_of(born, born.op) != rule:
            continue
        key = born if born.where is None else (born.where, born.op.kind, born.op.backward)
        known[key] = (born, born.op) if key not in known else _together(known[key], (born, born.op))
    yield from known.values()


def _together(one: tuple[Nonfinite, FailingOp], other: tuple[Nonfinite, FailingOp]) -> tuple[Nonfinite, FailingOp]:
    """What one expression did to several requests: first what did harm, and what is certain."""
    first, second = sorted((one, other), key=lambda each: (each[0].when.went_on, not each[0].exact))
    variables = dict.fromkeys((*first[0].when.variables, *second[0].when.variables))
    return replace(first[0], when=replace(first[0].when, variables=tuple(variables))), first[1]


def cause_of(born: Nonfinite, op: FailingOp) -> str:
    """The rule that a birth belongs to; exactly one."""
    if op.is_masked:
        return "nan-where"
    if op.finite_when_wider or number_beyond_half(born) is not None:
        return "nan-float16"
    if op.kind is OpKind.REDUCE and any(facts.size == 0 for facts in op.inputs):
        return "nan-empty-reduce"
    if is_deviation(op, born.where):
        return "nan-std"
    if is_norm(op, born.where):
        return "nan-norm"
    grown = "exploding-gradient" if born.when.step > 1 else "nan-overflow"
    if op.kind is OpKind.POWER and _is_too_high(op):
        return grown
    if op.kind in _BY_KIND:
        return _BY_KIND[op.kind]
    if op.action in _BY_ACTION:
        return _BY_ACTION[op.action]
    if op.kind in OVERFLOWING and born.value is not None and (not born.value.nans or _is_huge(op)):
        fed = grown_from(op)
        return "nan-exp" if fed is not None and fed.kind is OpKind.EXP else grown
    return "nan-op"


def number_beyond_half(born: Nonfinite) -> str | None:
    """A number in the expression of a birth that is finite as it is written, and Inf in its float16."""
    if born.value is None or born.value.dtype != "float16":
        return None
    return next(
        (text for text, number in numbers_in(born.where).items() if LARGEST_HALF < abs(number) < math.inf), None
    )


def _is_too_high(power: FailingOp) -> bool:
    """Whether a power overflows because its base is large, not because it is zero or negative."""
    if len(power.inputs) < 2 or any(facts.low is None or facts.high is None for facts in power.inputs):
        return False
    base, exponent = power.inputs[:2]
    size = max(abs(base.low or 0.0), abs(base.high or 0.0))
    return size > 1 and math.log10(size) * (exponent.high or 0.0) > _DIGITS.get(base.dtype, _DIGITS["float32"])


def _is_huge(op: FailingOp) -> bool:
    """Whether a product of the inputs is too large for its dtype: infinities of both signs then add up to NaN."""
    sizes = [max(abs(facts.low or 0.0), abs(facts.high or 0.0)) for facts in op.inputs]
    return max(sizes, default=0.0) > HUGE_INPUT


def grown_from(op: FailingOp) -> Feeder | None:
    """The op that made the huge number which overflows in this one, through results that are all huge."""
    huge: set[int | None] = set() if op.backward else {None}
    for position, feeder in enumerate(op.fed_by):
        if feeder.into in huge and feeder.magnitude > HUGE_RESULT:
            if feeder.kind in GROWING:
                return feeder
            huge.add(position)
    return None


def spread_of(recording: Recording, born: Nonfinite) -> Nonfinite | None:
    """The spread that carried a birth on to other variables."""
    ours = set(born.when.variables)
    return next((each for each in seen(recording, Stage.SPREAD) if ours & set(each.culprits)), None)


def finding(
    recording: Recording,
    born: Nonfinite,
    *,
    because: str,
    label: str,
    help: str,
    notes: tuple[str, ...] = (),
    related: tuple[Label, ...] = (),
    fixes: Callable[[], Iterable[Fix]] = tuple,
) -> Finding:
    """The finding of one birth, with the evidence that every birth has."""
    asked = born.when.request
    return Finding(
        message=f"{symptom(recording, born.when)}: {'' if born.exact else 'likely '}{because}",
        primary=None if born.where is None else Label(born.where, label),
        variables=names(recording, born.when.variables or variables_behind(recording, born)),
        related=related if asked is None else (*related, Label(asked, _seen(born.when))),
        notes=(*notes, *evidence(born)),
        help=help,
        steps=steps_of(born.when),
        severity=Severity.NOTE if born.when.went_on else None,
        certain=born.exact,
        fixes=fixes,
    )


def _seen(when: Occurrence) -> str:
    return "in this update" if when.in_update else "seen here"


def variables_behind(recording: Recording, born: Nonfinite) -> tuple[VariableId, ...]:
    """What went into the op that failed, of the variables that a gradient was asked for.

    They are named where no gradient is bad, though the loss is: that of a sum is one, however large the sum.
    """
    found: dict[VariableId, None] = {}
    for request in recording.requests:
        if born.op is None or request.where is None or request.where != born.when.request:
            continue
        does = (born.where, born.op.kind, born.op.action)
        made = [t for op in request.graph.ops if (op.where, op.kind, op.action) == does for t in op.outputs]
        index = index_of(request.graph)
        behind = index.behind(made)
        taken = (s.variable for s in request.sources if not behind.isdisjoint(index.starts(s)))
        found |= {variable: None for variable in taken if variable is not None}
    return tuple(found)


def explain(recording: Recording, rule: str, words: Words, fixes: Fixes = lambda born, op: ()) -> Iterator[Finding]:
    """One finding for each birth of a rule; `words` gives why, what happens here, and what to write instead."""
    for born, op in births(recording, rule):
        because, label, help = words(born, op)
        fix = partial(fixes, born, op)
        yield finding(recording, born, because=because, label=label, help=help, fixes=fix)


def steps_of(when: Occurrence) -> Steps:
    """How often it was seen, of all requests at the same place."""
    return Steps(when.seen, max(when.of, when.seen))


def symptom(recording: Recording, when: Occurrence) -> str:
    """What the user sees."""
    if when.loss_is_bad:
        return f"the loss is {when.symptom}"
    variables = names(recording, when.variables)
    if when.in_update:
        return f"the update of {listing(variables)} is {when.symptom}, though the gradients are finite"
    return f"the gradient of {listing(variables)} is {when.symptom}" if variables else f"a gradient is {when.symptom}"


def evidence(born: Nonfinite) -> tuple[str, ...]:
    """The numbers that went in, the examples, when."""
    found = [] if born.op is None else _of_op(born.op)
    if born.rows and born.batch is not None:
        found.append(f"caused by {_rows(born)}")
    found += on_replica(born)
    if born.op is not None and born.op.layers:
        found.append(f"inside layer `{born.op.layers[-1]}`")
    if born.when.step > 1:
        found.append(f"first seen at step {born.when.step} through this line")
    if not born.exact:
        found.append(_reproduced(born) if born.tries else _AGAIN if born.op is None or born.op.inputs else _NEAREST)
    return (*found, *what_became(born.when))


def _reproduced(born: Nonfinite) -> str:
    runs = "the first run" if born.tries == 1 else f"one of {born.tries} runs"
    if born.rounded_otherwise:
        return f"op by op the step stays finite, as compiled it rounds otherwise: with other last digits, this came in {runs}"
    return f"the random numbers of that step are gone: with others, this came in {runs} from about the same weights"


def on_replica(born: Nonfinite) -> list[str]:
    """Where one of several replicas is bad alone."""
    return [] if born.replica is None else [f"on replica {born.replica} alone, in its part of the batch"]


def _of_op(op: FailingOp) -> list[str]:
    found = []
    if op.inputs:
        what = "the gradient of" if op.backward else "here"
        found.append(f"{what} `{op.name}`: input {described(op.inputs[0])}" + _second(op))
    if op.kind in _AT_ZERO and any(facts.dtype == "float16" and facts.zeros for facts in op.inputs):
        found.append("float16 has no number between 0 and 6e-8: a smaller epsilon is zero there")
    if op.backward and not op.is_masked:
        found.append("the values of the forward pass are finite, the derivative is not")
    return found


def what_became(when: Occurrence) -> tuple[str, ...]:
    """Of bad gradients that were not applied."""
    if not when.skipped:
        return ()
    if when.went_on:
        return ("these gradients were not applied, and training went on",)
    return ("every step so far was bad and was skipped: the weights never change",)


def _second(op: FailingOp) -> str:
    if len(op.inputs) < 2 or op.kind not in (OpKind.DIVIDE, OpKind.POWER):
        return ""
    return f", {'divisor' if op.kind is OpKind.DIVIDE else 'exponent'} {described(op.inputs[1])}"


def _rows(born: Nonfinite) -> str:
    if len(born.rows) == born.batch and born.batch > 1:
        return "every example of the batch"
    rows = ", ".join(str(row + 1) for row in born.rows)
    more = ", ..." if len(born.rows) >= 8 else ""
    return f"example{'s' * (len(born.rows) > 1)} {rows}{more} of the batch, counted from 1"


def described(facts: ValueFacts) -> str:
    """`float32 (8, 1) from 0 to 28.5, 1 of 8 zero`."""
    if facts.size == 0:
        return f"{facts.dtype} {_shape(facts)}, which has no elements"
    if facts.low is None or facts.high is None:
        return f"{facts.dtype} {_shape(facts)} without a finite element"
    values = f"{facts.low:.4g}" if facts.low == facts.high else f"from {facts.low:.4g} to {facts.high:.4g}"
    known = ((facts.zeros, "zero"), (facts.negatives, "negative"), (facts.infs, "infinite"), (facts.nans, "NaN"))
    counts = [f"{count} {word}" for count, word in known if count]
    tail = f", {', '.join(counts)} of {facts.size}" if counts and facts.size > 1 else ""
    return f"{facts.dtype} {_shape(facts)} {values}{tail}"


def _shape(facts: ValueFacts) -> str:
    return "scalar" if not facts.shape else str(facts.shape)


def has_zero(op: FailingOp, position: int = 0) -> bool:
    return len(op.inputs) > position and op.inputs[position].zeros > 0


def has_negative(op: FailingOp, position: int = 0) -> bool:
    return len(op.inputs) > position and op.inputs[position].negatives > 0


def small(op: FailingOp, usual: str) -> str:
    """A number that keeps a value away from zero; what is usual is zero in float16."""
    return "1e-3" if any(facts.dtype == "float16" for facts in op.inputs) else usual


def expression(born: Nonfinite) -> str:
    return text_of(born.where)
