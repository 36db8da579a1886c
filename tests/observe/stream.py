"""Streams of facts written by hand: what a framework would have run, op by op."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Any

from whygrad.graph import Action, OpKind, Pairing
from whygrad.observe.fact import Call, OpFact, TensorFacts
from whygrad.observe.folds import Folds
from whygrad.observe.label import Asked, Label
from whygrad.observe.loss import loss_form
from whygrad.observe.pairs import By
from whygrad.source import SourceSpan

KINDS = {
    Action.ADD: OpKind.ELEMENTWISE,
    Action.SUBTRACT: OpKind.ELEMENTWISE,
    Action.MULTIPLY: OpKind.ELEMENTWISE,
    Action.NEGATE: OpKind.ELEMENTWISE,
    Action.DIVIDE: OpKind.DIVIDE,
    Action.SUM: OpKind.REDUCE,
    Action.MEAN: OpKind.REDUCE,
    Action.ASSIGN: OpKind.WRITE,
    Action.INCREMENT: OpKind.WRITE,
}


def at(line: int) -> SourceSpan:
    return SourceSpan("train.py", line)


def fact(kind: OpKind, action: Action | None = None, inputs: Sequence[int] = (), outputs: Sequence[int] = ()) -> OpFact:
    return OpFact(0, kind, action, tuple(inputs), tuple(TensorFacts(number, "float32", None) for number in outputs))


@dataclass
class Function:
    """A traced function; its ops are those of a stream."""

    key: int
    stream: Stream
    inputs: Sequence[int] = ()
    outputs: Sequence[int] = ()
    captured: dict[int, int] = field(default_factory=dict)
    calls: dict[int, Call] = field(default_factory=dict)

    def outside(self, tensor: int) -> int | None:
        return self.captured.get(tensor)

    def call(self, tensor: int) -> Call | None:
        return self.calls.get(tensor)

    def maker(self, tensor: int) -> OpFact | None:
        return self.stream.makers.get(tensor)


class Stream:
    """What ran; each method stands for something that happened, and gives the tensor that came of it."""

    def __init__(self) -> None:
        self.folds = Folds(lambda value: value if isinstance(value, int) else None)
        self.makers: dict[int, OpFact] = {}
        self.ops: list[OpFact] = []
        self.clock = 0
        self.requests = 0
        self.function: Function | None = None  # the one that is being traced

    def op(self, what: Action | OpKind, *inputs: int, **facts: Any) -> int:
        """One op with one output; by its action where its kind follows from that."""
        kind, action = (KINDS.get(what, OpKind.MOVE), what) if isinstance(what, Action) else (what, None)
        kind = facts.pop("kind", kind)
        outputs = [self.tensor() for _ in range(facts.pop("outputs", 1))]
        made = fact(kind, action, inputs, outputs)
        made.sequence = self.clock
        made.function = None if self.function is None else self.function.key
        for name, value in facts.items():
            setattr(made, name, value)
        self.ops.append(made)
        self.makers.update((number, made) for number in outputs)
        if made.action is Action.ASSIGN:
            self.folds.assignments.note(made, self.makers.get)
        self.folds.follow(made, self.makers.get, self.function)
        return outputs[0] if outputs else 0

    def tensor(self) -> int:
        """One that comes in from outside."""
        self.clock += 1
        return self.clock

    def constant(self, value: float) -> int:
        number = self.tensor()
        self.folds.labels.constants[number] = value
        return number

    def read(self, variable: int, **facts: Any) -> int:
        return self.op(OpKind.READ, variable, variable=variable, **facts)

    def assign(self, variable: int, value: int, **facts: Any) -> None:
        self.op(Action.ASSIGN, variable, value, variable=variable, outputs=0, **facts)

    def add_to(self, variable: int, value: int, **facts: Any) -> None:
        self.op(Action.INCREMENT, variable, value, variable=variable, outputs=0, **facts)

    def gradient(self, *variables: int, loss: int = 0, line: int = 1, tape: int = 0, persistent: bool = False) -> int:
        """One gradient is asked for, of all these variables at once if there are several; a tape of its own each."""
        self.requests += 1
        number, labels = self.tensor(), self.folds.labels
        form = loss_form([loss], self.makers.get, labels.constants)
        asked = Asked(
            number=self.requests,
            place=at(line),
            tape=tape or self.requests,
            function=None if self.function is None else self.function.key,
            at=self.clock,
            mean=form.mean,
            divided=form.divided,
            targets=(loss,),
        )
        label = Label(frozenset(variables), frozenset({asked}), form.scale)
        if persistent:
            carries = self.folds.carried.inside(asked.tape, [loss], self.requests, self.makers.get)
            label = replace(label, carries=carries)
        labels.tensors[number] = label
        return number

    def label(self, tensor: int) -> Label:
        label = self.folds.labels.of(tensor, self.function)
        assert label is not None
        return label

    def apply(self, variable: int, gradient: int, *, line: int = 9, optimizer: int = 1) -> Pairing:
        """An optimizer is given the gradient for the variable."""
        function = None if self.function is None else self.function.key
        by = By(at(line), optimizer, self.clock, function)
        return self.folds.applied.pair(variable, self.label(gradient), by).recorded()
