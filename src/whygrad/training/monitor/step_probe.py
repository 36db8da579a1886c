"""What a training step does with gradients, seen while it runs or is traced, without changing it.

The hooks are in only while one step is traced; a compiled step runs without them.
"""

from __future__ import annotations

import threading
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final, Protocol

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.measure.gradient_part import Tensor

_ADDING: Final = ("assign_add", "scatter_add")
_TAKING: Final = ("assign_sub", "scatter_sub")
_REPLACING: Final = ("assign", "scatter_update", "batch_scatter_update")


@dataclass(slots=True, eq=False)
class Request:
    """`tape.gradient(target, sources)`."""

    target: Any
    gradients: dict[int, Any]  # by the identity of the variable


@dataclass(slots=True, eq=False)
class Write:
    """What the optimizer did to a variable."""

    delta: Any  # what was added; None: the variable was given a new value
    negative: bool = False


@dataclass(slots=True, eq=False)
class Application:
    """One call that gave an optimizer its gradients."""

    optimizer: Any
    gradients: list[Any]
    variables: list[Any]  # TensorFlow's, one for each gradient
    owners: list[Any]  # the same as they were given, a Keras variable perhaps
    graph: Any  # in which it was called; None: eagerly
    before: list[Tensor] = field(default_factory=list)  # values before the update
    weight_norms: Any = None  # of these
    rate: Any = None
    scale: Any = None  # what the loss was multiplied by
    given_scaled: bool = False  # the gradients are those of the scaled loss
    clipped: list[Any] | None = None  # as long as the gradients that are not None
    clipped_elsewhere: bool = False  # in a graph inside this one: a branch that may not be taken
    writes: dict[int, list[Write]] = field(default_factory=dict)


class Listener(Protocol):
    """Who is told of an application while it is made, in the graph it is made in."""

    def opened(self, application: Application) -> None: ...

    def clipped(self, application: Application) -> None: ...

    def closed(self, application: Application) -> None: ...


class StepProbe:
    """Notes the gradient requests and applications of one step, made in the thread that `begin` was called in."""

    def __init__(self, listener: Listener) -> None:
        self.requests: list[Request] = []
        self.applications: list[Application] = []
        self._listener = listener
        self._hooks = Hooks()
        self._thread = threading.get_ident()
        self._open: Application | None = None
        self._depth = 0

    def begin(self) -> None:
        """Put the hooks in."""
        self._hooks.replace(compat.GradientTape, "gradient", self._wrap_request)
        for base, method in compat.optimizer_bases():
            for holder in _holders(base, method):
                self._hooks.replace(holder, method, self._wrap_apply if method == "apply" else self._wrap_pairs)
            for name in compat.CLIPPING_METHODS:
                for holder in _holders(base, name):
                    self._hooks.replace(holder, name, self._wrap_clip)

    def end(self) -> None:
        """Take the hooks out; harmless where they are out already."""
        self._hooks.remove()

    @property
    def is_broken(self) -> bool:
        return self._hooks.broken

    def _is_mine(self) -> bool:
        return threading.get_ident() == self._thread

    def _wrap_request(self, original: Any) -> Any:
        def gradient(tape: Any, target: Any, sources: Any, *args: Any, **kwargs: Any) -> Any:
            result = original(tape, target, sources, *args, **kwargs)
            if self._is_mine():
                self._hooks.safely(self._note_request, target, sources, result)
            return result

        return gradient

    def _note_request(self, target: Any, sources: Any, result: Any) -> None:
        pairs = zip(tf.nest.flatten(sources), tf.nest.flatten(result), strict=True)
        gradients = {id(compat.variable_inside(source)): gradient for source, gradient in pairs}
        self.requests.append(Request(target, gradients))

    def _wrap_apply(self, original: Any) -> Any:
        def apply(optimizer: Any, grads: Any, trainable_variables: Any = None, **kwargs: Any) -> Any:
            grads = list(grads)
            known = (
                getattr(optimizer, "_trainable_variables", ()) if trainable_variables is None else trainable_variables
            )
            known = list(known)
            given = None if trainable_variables is None else known
            with self._applying(optimizer, grads, known):
                return original(optimizer, grads, given, **kwargs)

        return apply

    def _wrap_pairs(self, original: Any) -> Any:
        def apply_gradients(optimizer: Any, grads_and_vars: Any, *args: Any, **kwargs: Any) -> Any:
            pairs = list(grads_and_vars)
            with self._applying(optimizer, [g for g, _ in pairs], [v for _, v in pairs]):
                return original(optimizer, pairs, *args, **kwargs)

        return apply_gradients

    def _applying(self, optimizer: Any, gradients: list[Any], variables: list[Any]) -> _Applying:
        return _Applying(self, optimizer, gradients, variables)

    def open(self, optimizer: Any, gradients: list[Any], owners: list[Any]) -> None:
        """An optimizer was given gradients; what it does until `close` belongs to this application."""
        variables = [compat.variable_inside(owner) for owner in owners]
        scale, given_scaled = _loss_scale(optimizer)
        application = Application(
            optimizer=optimizer,
            gradients=gradients,
            variables=variables,
            owners=owners,
            graph=current_graph(),
            scale=scale,
            given_scaled=given_scaled,
        )
        application.before = [tf.convert_to_tensor(variable) for variable in variables]
        application.rate = None if compat.sets_rate_when_applied(optimizer) else _rate(optimizer)
        for variable in variables:
            self._follow(variable, application)
        self._open = application
        self._listener.opened(application)

    def close(self) -> None:
        application, self._open = self._open, None
        if application is None:
            return
        for variable in application.variables:
            for name in (*_ADDING, *_TAKING, *_REPLACING):
                vars(variable).pop(name, None)
        if application.scale is None:  # an optimizer that was built just now
            application.scale, application.given_scaled = _loss_scale(application.optimizer)
        if application.rate is None:
            application.rate = _rate(application.optimizer)
        self.applications.append(application)
        self._listener.closed(application)

    def _follow(self, variable: Any, application: Application) -> None:
        """Note what is written to one variable, by methods of its own that shadow those of its class."""
        for name in (*_ADDING, *_TAKING, *_REPLACING):
            original = getattr(variable, name, None)
            if original is not None and hasattr(variable, "__dict__"):
                vars(variable)[name] = self._noting(name, original, variable, application)

    def _noting(self, name: str, original: Any, variable: Any, application: Application) -> Any:
        def write(value: Any, *args: Any, **kwargs: Any) -> Any:
            delta = None if name in _REPLACING else value
            application.writes.setdefault(id(variable), []).append(Write(delta, negative=name in _TAKING))
            return original(value, *args, **kwargs)

        return write

    def _wrap_clip(self, original: Any) -> Any:
        def clip(optimizer: Any, grads: Any) -> Any:
            grads = list(grads)
            result = original(optimizer, grads)
            if self._is_mine() and self._open is not None:
                result = list(result)
                self._hooks.safely(self._note_clip, grads, result)
            return result

        return clip

    def _note_clip(self, given: list[Any], clipped: list[Any]) -> None:
        assert self._open is not None
        if any(new is not old for new, old in zip(clipped, given, strict=True)):
            self._open.clipped = clipped
            self._open.clipped_elsewhere = current_graph() is not self._open.graph
            self._listener.clipped(self._open)


class _Applying:
    """The stretch of one call to an optimizer; a call inside it, as of the optimizer in a wrapper, is part of it."""

    def __init__(self, probe: StepProbe, *arguments: Any) -> None:
        self.probe = probe
        self.arguments = arguments
        self.mine = probe._is_mine()

    def __enter__(self) -> None:
        if self.mine:
            self.probe._depth += 1
            if self.probe._depth == 1:
                self.probe._hooks.safely(self.probe.open, *self.arguments)

    def __exit__(self, *error: object) -> None:
        if self.mine:
            self.probe._depth -= 1
            if self.probe._depth == 0:
                self.probe._hooks.safely(self.probe.close)


def current_graph() -> Any:
    """The graph that is being built; None where ops run at once."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def _holders(base: Any, name: str) -> Iterator[Any]:
    """The classes of a family that define a method themselves."""
    seen: set[type] = set()
    todo = [*base.__mro__, base]
    while todo:
        kind = todo.pop()
        if kind in seen or kind is object:
            continue
        seen.add(kind)
        todo.extend(kind.__subclasses__() if issubclass(kind, base) else ())
        if name in vars(kind):
            yield kind


def _loss_scale(optimizer: Any) -> tuple[Any, bool]:
    """What the loss is multiplied by, and whether the gradients that the optimizer is given still are."""
    dynamic = getattr(optimizer, "dynamic_scale", None)
    if dynamic is not None:  # Keras 3, LossScaleOptimizer
        return tf.convert_to_tensor(compat.variable_inside(dynamic)), True
    factor = getattr(optimizer, "loss_scale_factor", None)
    if factor is not None:  # Keras 3, any optimizer
        return tf.constant(factor, tf.float32), True
    scale = getattr(optimizer, "loss_scale", None)  # tf_keras divides before it applies
    return (None, False) if scale is None else (tf.convert_to_tensor(scale), False)


def _rate(optimizer: Any) -> Any:
    inner = compat.optimizer_inside(optimizer)
    rate = getattr(inner, "learning_rate", None)
    if callable(rate) and not hasattr(rate, "assign"):
        rate = rate(inner.iterations)
    return None if rate is None else tf.cast(tf.convert_to_tensor(compat.variable_inside(rate)), tf.float32)
