"""Sees the ops of a gradient function that TensorFlow or the user wrote, while it runs in a replay."""

from __future__ import annotations

from types import FrameType
from typing import Any

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.log.function_graphs import called_graphs
from whygrad.backends.tensorflow.nonfinite.replay.eager import EagerReplay
from whygrad.backends.tensorflow.nonfinite.replay.trace import Node, Site, Value


class GradientSpy:
    """Logs the ops that run while it listens; a compiled function among them is opened."""

    def __init__(self, replay: EagerReplay, forward: Node) -> None:
        self.replay = replay
        self.forward = forward

    def __enter__(self) -> None:
        self.replay.watched.recorder.spy = self.on_op

    def __exit__(self, *_: object) -> None:
        self.replay.watched.recorder.spy = None

    def on_op(self, op_type: Any, inputs: Any, attrs: Any, outputs: Any, frame: FrameType) -> None:
        trace = self.replay.trace
        name = op_type.decode() if isinstance(op_type, bytes) else op_type
        values = tuple(
            trace.values.get(compat.tensor_id(tensor)) or Value(tensor, None, compat.tensor_id(tensor))
            for tensor in inputs
        )
        graphs = called_graphs(frame) if name.startswith("__") else ()
        if graphs:
            results = self.replay.interpreter.call(graphs[0], values)
            for tensor, value in zip(outputs, results, strict=False):
                trace.values[compat.tensor_id(tensor)] = value
            return
        node = Node(name, values, self._site(frame), attrs)
        trace.add(node, outputs)

    def _site(self, frame: FrameType) -> Site:
        """The user's own gradient function where that is what runs; else the forward op's place."""
        recorder = self.replay.watched.recorder
        place = recorder.place_below(frame, self.replay.asked_from)
        return self.forward.site if place is None else Site(place, self.forward.site.layers)
