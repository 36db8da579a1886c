"""Models that are compiled again and again at one place: each time with an optimizer that remembers nothing."""

from __future__ import annotations

import weakref
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from whygrad.backends.tensorflow.listen.optimizers import is_stateful
from whygrad.backends.tensorflow.log.positions import span
from whygrad.graph import VariableId
from whygrad.graph.event import Recompiled


@dataclass(slots=True)
class Compiling:
    """The present compilation of one model."""

    place: Any
    trainable: frozenset[int]
    optimizer: int  # its identity
    stateful: bool
    replaced: int  # optimizers in a row that were given up at this place after some training, one epoch at most
    trained: bool = False
    epochs: int = 0


class CompileHistory:
    def __init__(self) -> None:
        self._now: weakref.WeakKeyDictionary[Any, Compiling] = weakref.WeakKeyDictionary()
        self._found: dict[tuple[str, Any], tuple[int, frozenset[int]]] = {}

    def compiled(self, model: Any, place: Any, trainable: frozenset[int]) -> None:
        """Called after `compile`; a change of what is trained, or a long training before, makes it a new phase."""
        optimizer, before = getattr(model, "optimizer", None), self._now.get(model)
        now = Compiling(place, trainable, id(optimizer), is_stateful(optimizer), 0)
        if (
            before is not None
            and before.place == place
            and before.trainable == trainable
            and before.stateful
            and before.optimizer != now.optimizer
            and before.trained
            and before.epochs <= 1
        ):
            now.replaced = before.replaced + 1
            key = (str(model.name), place)
            self._found[key] = max((now.replaced, trainable), self._found.get(key, (0, trainable)), key=lambda x: x[0])
        self._now[model] = now

    def trained(self, model: Any, method: str, args: tuple[Any, ...], kwargs: dict[str, Any]) -> None:
        now = self._now.get(model)
        if now is None:
            return
        now.trained = True
        if method == "fit":
            epochs = kwargs.get("epochs", args[3] if len(args) > 3 else 1)
            now.epochs += int(epochs) - int(kwargs.get("initial_epoch", 0))

    def events(self) -> Iterator[Recompiled]:
        for (model, place), (replaced, trainable) in self._found.items():
            variables = tuple(VariableId(number) for number in sorted(trainable))
            yield Recompiled(model=model, where=span(place), replaced=replaced, variables=variables)
