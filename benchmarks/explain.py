"""How long it takes to explain a graph, and how that grows: hand-built graphs, and one real unrolled model.

python benchmarks/explain.py [--real] [--large]
"""

from __future__ import annotations

import argparse
import gc
import statistics
import time

from record import Row, record
from whygrad.graph import (
    Flow,
    Graph,
    Op,
    OpId,
    OpKind,
    Outcome,
    Recording,
    Request,
    Source,
    Tape,
    TapeId,
    Tensor,
    TensorId,
    Variable,
    VariableId,
)
from whygrad.rules import all_rules, diagnose
from whygrad.source import SourceSpan

TAPE = TapeId(1)
WIDTH = 50  # ops of one layer; each layer has a variable


def chain(size: int) -> Recording:
    """Layers one after another, every variable cut off by a rounding at the end."""
    ops: list[Op] = []
    tensors: dict[TensorId, Tensor] = {}
    variables: dict[VariableId, Variable] = {}

    def tensor() -> TensorId:
        number = TensorId(len(tensors) + 1)
        tensors[number] = Tensor(id=number, dtype="float32", shape=(32, 64))
        return number

    def add(
        kind: OpKind, inputs: tuple[TensorId, ...], variable: VariableId | None = None, blocked: bool = False
    ) -> TensorId:
        output = tensor()
        ops.append(
            Op(
                id=OpId(len(ops) + 1),
                kind=kind,
                name=kind.value,
                inputs=inputs,
                outputs=(output,),
                flows=((Flow.BLOCKED if blocked else Flow.CARRIED),) * len(inputs),
                where=SourceSpan("model.py", len(ops) % 500 + 1, 4, len(ops) % 500 + 1, 20),
                tapes=frozenset({TAPE}),
                variable=variable,
            )
        )
        return output

    value = add(OpKind.CONSTANT, ())
    while len(ops) < size - 2:
        if len(ops) % WIDTH == 1:
            number = VariableId(len(variables) + 1)
            variables[number] = Variable(id=number, name=f"layer_{number}/kernel", dtype="float32", shape=(64, 64))
            value = add(OpKind.CONTRACT, (value, add(OpKind.READ, (), number)))
        else:
            value = add(OpKind.ELEMENTWISE, (value, value))
    loss = add(OpKind.REDUCE, (add(OpKind.ROUND, (value,), blocked=True),))
    sources = tuple(Source(variable=number, outcome=Outcome.MISSING) for number in variables)
    request = Request(tape=TAPE, targets=(loss,), sources=sources, graph=Graph(tuple(ops), tensors))
    return Recording(requests=(request,), variables=variables, tapes={TAPE: Tape(id=TAPE)})


def seconds(recording_of: int, repeats: int = 3) -> float:
    """Median time to explain a fresh graph of so many ops."""
    times = []
    for _ in range(repeats):
        recording = chain(recording_of)
        gc.collect()
        start = time.perf_counter()
        found = diagnose(recording, all_rules())
        times.append(time.perf_counter() - start)
        assert len(found) == 1, found
    return statistics.median(times)


def real(steps: int) -> tuple[int, float, float]:
    """An unrolled recurrent model in eager mode: ops captured, seconds to freeze, seconds to explain."""
    import tensorflow as tf

    from whygrad.watch import Run

    cell = tf.Variable(tf.random.normal((8, 8), stddev=0.1), name="cell")
    out = tf.Variable(tf.random.normal((8, 1)), name="out")
    run = Run(None, None)
    run._start()
    with tf.GradientTape() as tape:
        state = tf.ones((2, 8))
        for _ in range(steps):
            state = tf.tanh(tf.matmul(state, cell) + state * 0.5)
        loss = tf.reduce_sum(tf.round(tf.matmul(state, out)))
    assert tape.gradient(loss, [cell, out]) == [None, None]
    start = time.perf_counter()
    recording = run.recording()
    frozen = time.perf_counter() - start
    start = time.perf_counter()
    found = diagnose(recording, all_rules())
    explained = time.perf_counter() - start
    run._watcher.stop()
    assert [each.rule for each in found] == ["non-differentiable-op"], found
    return len(recording.requests[0].graph.ops), frozen, explained


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--real", action="store_true", help="also unroll a real model to about 100,000 ops")
    parser.add_argument("--large", action="store_true", help="also a graph of 1,000,000 ops")
    options = parser.parse_args()
    seconds(1_000)
    small, large = seconds(10_000), seconds(100_000)
    print(f"explain 10,000 ops: {small:.3f} s; 100,000 ops: {large:.3f} s; ratio {large / small:.1f} (budget 12)")
    section, growth = "explaining", large / small
    figure = f"{large:.2f} s, {growth:.1f} times as long as 10,000 ops"
    held = large < 1 and growth < 12
    budget = "1 s, 12 times"
    record([Row(section=section, what="a graph of 100,000 ops", figure=figure, budget=budget, held=held)])
    if options.large:
        huge = seconds(1_000_000, repeats=1)
        figure = f"{huge:.2f} s, {huge / large:.1f} times as long as 100,000 ops"
        what, budget = "a graph of 1,000,000 ops", "12 times"
        record([Row(section=section, what=what, figure=figure, budget=budget, held=huge / large < 12)])
    unrolled = (16_700, 167_000) if options.large else (16_700,)
    for steps in unrolled if options.real else ():
        ops, frozen, explained = real(steps)
        print(f"explain a real eager graph of {ops:,} ops: {frozen:.2f} s to freeze, {explained:.2f} s to explain")
        figure = f"{frozen:.2f} s to freeze, {explained:.2f} s to explain"
        what = f"an unrolled eager model of {ops:,} ops"
        limit = 1.0 if steps < 100_000 else 12.0
        budget = f"{limit:.0f} s to explain"
        record([Row(section=section, what=what, figure=figure, budget=budget, held=explained < limit)])


if __name__ == "__main__":
    main()
