"""The Why view: every gradient that was asked for, and the way of each variable to its loss, ready to be drawn."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Final

from whygrad.graph import Recording, Request, Source
from whygrad.graph.node import Op, OpKind
from whygrad.graph.questions.escape import with_escapes
from whygrad.graph.questions.query import Reason
from whygrad.report.html import excerpt_at
from whygrad.report.page.layout import BOX, lay_out
from whygrad.report.page.way import Box, Way, way_of
from whygrad.report.remarks import place
from whygrad.source import source_text, texts_of

_REASONS: Final[Mapping[Reason, str]] = {
    Reason.OUTSIDE: "ran where the tape did not record it",
    Reason.BLOCKED: "has no derivative: no gradient comes back",
    Reason.UNREGISTERED: "has no registered gradient",
    Reason.STOPPED: "stops the gradient on purpose",
    Reason.SAMPLED: "a random draw: no gradient comes back to its parameters",
    Reason.FOREIGN: "left the framework, came back as a constant",
    Reason.STATE: "went through something that only stores values",
    Reason.WRITTEN: "was written into a variable",
    Reason.CUSTOM: "its custom gradient gives nothing here",
    Reason.ZERO: "has a derivative of zero everywhere",
}
_MOST_OPS: Final = 40  # of one box that are listed
_LONGEST: Final = 200  # characters of an expression


class Ways:
    """The ways of one recording; the values that left the framework and came back are tied together once."""

    def __init__(self, recording: Recording, losses: Sequence[str] = ()) -> None:
        """`losses`: what the report calls what each request differentiated."""
        self._recording = with_escapes(recording)
        self._losses = losses

    def requests(self) -> list[dict[str, Any]]:
        """What was asked for: a loss, a place, and for each variable what came back."""
        with texts_of(Confined(self._recording.sources)):
            return [self._request(number) for number in range(len(self._recording.requests))]

    def way(self, request: int, source: int, *, folded: bool = True) -> dict[str, Any]:
        """One way, laid out; LookupError where there is no such request or source."""
        asked = self._recording.requests[request]
        given = asked.sources[source]
        found = way_of(asked, given, folded=folded)
        with texts_of(Confined(self._recording.sources)):
            return self._drawing(asked, given, found, self._loss(request))

    def numbers(self) -> Iterator[tuple[int, int]]:
        """Every (request, source), those that got no gradient first."""
        every = [
            (each.outcome.value == "present", r, s)
            for r, request in enumerate(self._recording.requests)
            for s, each in enumerate(request.sources)
        ]
        return ((r, s) for _, r, s in sorted(every))

    def _loss(self, number: int) -> str:
        return self._losses[number] if number < len(self._losses) else "loss"

    def _request(self, number: int) -> dict[str, Any]:
        request = self._recording.requests[number]
        return {
            "request": number,
            "loss": self._loss(number),
            "place": None if request.where is None else place(request.where),
            "times": request.times,
            "sources": [
                {"source": i, "name": self._name(each), "outcome": each.outcome.value, "norm": _norm(each)}
                for i, each in enumerate(request.sources)
            ],
        }

    def _name(self, source: Source) -> str:
        variable = None if source.variable is None else self._recording.variables.get(source.variable)
        if variable is not None:
            return variable.name
        return source.type_name or f"tensor {source.tensor or ''}".strip()

    def _drawing(self, request: Request, source: Source, way: Way, loss: str) -> dict[str, Any]:
        layout = lay_out(len(way.boxes), [(arrow.start, arrow.end) for arrow in way.arrows])
        return {
            "variable": self._name(source),
            "outcome": source.outcome.value,
            "loss": loss,
            "connected": way.connected,
            "truncated": way.truncated or request.graph.truncated,
            "box": BOX,
            "size": layout.size,
            "verdict": self._verdict(source, way, loss),
            "boxes": [
                self._box(request, source, box, loss) | {"x": x, "y": y}
                for box, (x, y) in zip(way.boxes, layout.places, strict=True)
            ],
            "arrows": [
                {"start": arrow.start, "end": arrow.end, "open": arrow.open, "points": points}
                for arrow, points in zip(way.arrows, layout.routes, strict=True)
            ],
        }

    def _verdict(self, source: Source, way: Way, target: str) -> str:
        name, loss = f"`{self._name(source)}`", f"`{target}`"
        cut = next((box for box in way.boxes if box.state in ("cut", "zero")), None)
        if not way.connected:
            return f"{loss} does not depend on {name}: no path leads from one to the other"
        if source.outcome.value == "present":
            return f"the gradient of {loss} comes back to {name}"
        if cut is None or cut.reason is None:
            return f"the gradient of {loss} at {name} is {source.outcome.value}"
        where = "" if cut.ops[0].where is None else f" at {place(cut.ops[0].where)}"
        return f"the path from {name} to {loss} is cut{where}: `{_title(cut)}` {_REASONS[cut.reason]}"

    def _box(self, request: Request, source: Source, box: Box, loss: str) -> dict[str, Any]:
        first = box.ops[0]
        where = next((op.where for op in box.ops if op.where is not None), None)
        title = self._name(source) if box.state == "start" else _title(box)
        return {
            "state": box.state,
            "title": loss if box.state == "loss" else title,
            "subtitle": _subtitle(box),
            "reason": None if box.reason is None else _REASONS[box.reason],
            "layer": " › ".join(first.layers),
            "place": None if where is None else place(where),
            "excerpt": "" if where is None else excerpt_at(where, primary=box.state in ("cut", "zero")),
            "ops": [self._op(request, op) for op in box.ops[:_MOST_OPS]],
            "more": max(0, len(box.ops) - _MOST_OPS),
            "folded": box.folded,
        }

    def _op(self, request: Request, op: Op) -> dict[str, Any]:
        made = request.graph.tensors.get(op.outputs[0]) if op.outputs else None
        form = "" if made is None else f"{made.dtype} {_shape(made.shape)}"
        return {"name": op.name, "result": form, "place": None if op.where is None else place(op.where)}


class Confined(dict[str, str]):
    """Recorded texts, and nothing else: a run from elsewhere may name any file, and none is opened for it."""

    def get(self, file: str, default: object = None) -> Any:
        return super().get(file, "")


def _title(box: Box) -> str:
    if box.folded:
        return f"{len(box.ops)} ops"
    last = box.ops[-1]
    if last.layers and box.state in ("carries", "silent"):
        return last.layers[-1]
    if last.where is not None and (text := source_text(last.where)):
        return " ".join(text.split())[:_LONGEST]
    if last.kind is OpKind.FOREIGN:
        return "outside of the framework"
    return last.name


def _subtitle(box: Box) -> str:
    names = list(dict.fromkeys(op.name for op in box.ops))
    said = ", ".join(names[:3]) + (f" and {len(names) - 3} more" if len(names) > 3 else "")
    layers = list(dict.fromkeys(op.layers[-1] for op in box.ops if op.layers))
    return f"{layers[0]} … {layers[-1]}" if len(layers) > 1 else said


def _shape(shape: tuple[int | None, ...] | None) -> str:
    return "?" if shape is None else "×".join("?" if n is None else str(n) for n in shape) or "scalar"


def _norm(source: Source) -> float | None:
    norms = () if source.numbers is None else source.numbers.norms
    known = [norm for norm in norms if norm == norm and norm not in (float("inf"), float("-inf"))]
    return known[-1] if known else None
