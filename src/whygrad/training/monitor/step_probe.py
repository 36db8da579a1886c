"""What a training step does with gradients, seen while it runs or is traced, without changing it.

The hooks are in only while one step is traced; a compiled step runs without them.
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import tensorflow as tf

from whygrad.backends.tensorflow import compat
from whygrad.backends.tensorflow.listen import gradient_calls
from whygrad.backends.tensorflow.listen.hooks import Hooks
from whygrad.backends.tensorflow.measure.gradient_part import Part, Tensor
from whygrad.training.replicas import Replica, copies_of, current_replica


@dataclass(slots=True, eq=False)
class AskedGradient:
    """`tape.gradient(target, sources)`."""

    target: Any
    gradients: dict[int, Any]  # by the identity of the variable
    replica: int = 0  # among those of this process


@dataclass(slots=True, eq=False)
class OptimizerWrite:
    """What the optimizer did to a variable."""

    delta: Any  # what was added; None: the variable was given a new value
    negative: bool = False


@dataclass(slots=True, eq=False)
class Application:
    """One call that gave an optimizer its gradients."""

    optimizer: Any
    gradients: list[Any]
    variables: list[Any]  # TensorFlow's, one for each gradient; of several replicas, those of the first one here
    owners: list[Any]  # the same as they were given, a Keras variable perhaps
    graph: Any  # in which it was called; None: eagerly
    before: list[Tensor] = field(default_factory=list)  # values before the update
    weight_norms: Any = None  # of these
    rate: Any = None
    scale: Any = None  # what the loss was multiplied by
    given_scaled: bool = False  # the gradients are those of the scaled loss
    clipped: list[Any] | None = None  # as long as the gradients that are not None
    clipped_elsewhere: bool = False  # in a graph inside this one: a branch that may not be taken
    reduced: list[Any] | None = None  # of several replicas: their sum, as long as the gradients that are not None
    replica: Replica | None = None  # the one that was listened to
    writes: dict[int, list[OptimizerWrite]] = field(default_factory=dict)
    measured: tuple[list[Part], list[OptimizerWrite]] | None = None  # the gradients as read, and what the update added

    def wrote(self, variable: Any, method: str, value: Any) -> None:
        """Note what a method of a variable was called with."""
        delta = None if method in gradient_calls.REPLACING else value
        write = OptimizerWrite(delta, negative=method in gradient_calls.SUBTRACTING)
        self.writes.setdefault(id(variable), []).append(write)


class StepProbe:
    """Notes the gradient requests and applications of one step, made in the thread that made the probe.

    Of a step on several replicas, it notes the requests of all of this process, and the applications of the first: each
    has threads of its own. The listener, a `StepRecorder`, hears of an application while it is made: opened, clipped,
    reduced, closed.
    """

    def __init__(self, listener: Any, replica: Replica | None = None) -> None:
        self.asked: list[AskedGradient] = []
        self.applications: list[Application] = []
        self.listener = listener
        self._hooks = Hooks()
        self._updates = _Updates(self)
        self._thread = threading.get_ident()
        self.replica = replica
        self.makes_variables = False  # the step does, while it is traced

    def start(self) -> None:
        """Put the hooks in."""
        gradient_calls.hear_requests(self._hooks, _Requests(self), "gradient")
        gradient_calls.hear_all_updates(self._hooks, self._updates)
        gradient_calls.hear_clipping(self._hooks, self._updates.clipped)
        if self.replica is not None:
            gradient_calls.hear_reductions(self._hooks, self._updates.reduced)
        elif current_graph() is not None:
            making = tf.variable_creator_scope(self._making)
            making.__enter__()
            self._hooks.on_removal(lambda: making.__exit__(None, None, None))

    def stop(self) -> None:
        """Take the hooks out; harmless where they are out already."""
        self._hooks.remove()

    def _making(self, next_creator: Callable[..., Any], **how: Any) -> Any:
        self.makes_variables = True
        return next_creator(**how)

    @property
    def is_broken(self) -> bool:
        return self._hooks.broken

    def place(self) -> int | None:
        """Which of the replicas of this process is at work in this thread; None: none that is listened to."""
        if self.replica is None:
            return 0 if threading.get_ident() == self._thread else None
        now = current_replica()
        return None if now is None else now.place

    def is_first(self) -> bool:
        return self.place() == 0

    def own(self, variable: Any) -> Any:
        """TensorFlow's variable, of several copies the one of the first replica."""
        return compat.native(variable) if self.replica is None else copies_of(variable)[0]


class _Requests:
    """Hears what a tape is asked for."""

    def __init__(self, probe: StepProbe) -> None:
        self._probe = probe

    def begin(self, tape: Any, target: Any, sources: Any, *how: Any) -> tuple[Any, Any, int] | None:
        place = self._probe.place()
        return None if place is None else (target, sources, place)

    def done(self, ticket: tuple[Any, Any, int] | None, result: Any) -> None:
        if ticket is not None:
            target, sources, place = ticket
            pairs = zip(tf.nest.flatten(sources), tf.nest.flatten(result), strict=True)
            gradients = {id(self._probe.own(source)): gradient for source, gradient in pairs}
            self._probe.asked.append(AskedGradient(target, gradients, place))

    def failed(self, ticket: Any, error: BaseException) -> None:
        """Nothing was given: there is nothing to note."""


class _Updates:
    """Hears what optimizers do; a call inside another, as of the optimizer in a wrapper, is part of that one."""

    def __init__(self, probe: StepProbe) -> None:
        self._probe = probe
        self._depth = 0
        self._open: Application | None = None
        self._endings: list[Callable[[], None]] = []

    def begin(self, optimizer: Any, gradients: list[Any], owners: list[Any]) -> bool:
        if not self._probe.is_first():
            return False
        self._depth += 1
        if self._depth == 1:
            self._start(optimizer, gradients, owners)
        return True

    def end(self, began: bool | None) -> None:
        if not began:
            return
        self._depth -= 1
        if self._depth == 0 and self._open is not None:
            self._finish(self._open)

    def clipped(self, given: list[Any], clipped: list[Any]) -> None:
        if self._open is None or not self._probe.is_first():
            return
        if any(new is not old for new, old in zip(clipped, given, strict=True)):
            self._open.clipped = clipped
            self._open.clipped_elsewhere = current_graph() is not self._open.graph
            self._probe.listener.clipped(self._open)

    def reduced(self, total: list[Any]) -> None:
        """What was clipped before is in the sum, and what the loss was scaled by is out of it."""
        application = self._open
        if application is None or not self._probe.is_first():
            return
        if len(total) == sum(gradient is not None for gradient in application.gradients):
            application.reduced, application.clipped = total, None
            application.given_scaled = False
            self._probe.listener.reduced(application)

    def _start(self, optimizer: Any, gradients: list[Any], owners: list[Any]) -> None:
        variables = [self._probe.own(owner) for owner in owners]
        scale, given_scaled = _loss_scale(optimizer)
        application = Application(
            optimizer=optimizer,
            gradients=gradients,
            variables=variables,
            owners=owners,
            graph=current_graph(),
            before=[tf.convert_to_tensor(variable) for variable in variables],
            rate=None if compat.sets_rate_when_applied(optimizer) else _rate(optimizer),
            scale=scale,
            given_scaled=given_scaled,
            replica=self._probe.replica,
        )
        self._endings = [gradient_calls.hear_writes(variable, application.wrote) for variable in variables]
        self._open = application
        self._probe.listener.opened(application)

    def _finish(self, application: Application) -> None:
        self._open = None
        for stop_hearing in self._endings:
            stop_hearing()
        if application.scale is None:  # an optimizer that was built just now
            application.scale, application.given_scaled = _loss_scale(application.optimizer)
        if application.rate is None:
            application.rate = _rate(application.optimizer)
        self._probe.applications.append(application)
        self._probe.listener.closed(application)


def current_graph() -> Any:
    """The graph that is being built; None where ops run at once."""
    return None if tf.executing_eagerly() else tf.compat.v1.get_default_graph()


def _loss_scale(optimizer: Any) -> tuple[Any, bool]:
    """What the loss is multiplied by, and whether the gradients that the optimizer is given still are."""
    dynamic = getattr(optimizer, "dynamic_scale", None)
    if dynamic is not None:  # Keras 3, LossScaleOptimizer
        return tf.convert_to_tensor(compat.native(dynamic)), True
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
    return None if rate is None else tf.cast(tf.convert_to_tensor(compat.native(rate)), tf.float32)
